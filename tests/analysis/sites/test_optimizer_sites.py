from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HOP, hop, suspect
from tenure.analysis.sites.optimizer_sites import by_the_statement_that_moves_state
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect

OPS = """\
def replace(optimizer, old, new):
    for group in optimizer.param_groups:
        group["params"] = [new]
    optimizer.state[new] = optimizer.state[old]
    self.state["step"] = 1
"""
PATH = (
    HOP,
    hop("ITEM", "'shN'", "dict", "torch.optim.adam.Adam"),
    hop("DICT", "__dict__", "torch.optim.adam.Adam", "dict"),
    hop("ITEM", "'state'", "dict", "collections.defaultdict"),
)
KEPT = suspect(path=PATH, holder=HoldingReference("attribute", "optimizers", "self.optimizers"))


def told(before: Suspect = KEPT, text: str = OPS, origin: str = "yours") -> tuple[str, tuple[SourceLocation, ...]]:
    found = by_the_statement_that_moves_state(before, {"/p/ops.py": SourceFile("/p/ops.py", text, origin=origin)})
    return found.holder.expression, found.holder.sites


def test_state_that_the_program_moves_to_a_new_parameter_is_told_where_it_does() -> None:
    assert told() == ("optimizer.state[*]", (SourceLocation("/p/ops.py", 4, "replace"),))


@pytest.mark.parametrize(
    ("before", "text", "origin"),
    [
        (KEPT, OPS, "library"),
        (KEPT, OPS.replace("optimizer.param_groups", "groups"), "yours"),
        (KEPT, "class Own:\n    def step(self):\n        self.param_groups\n        self.state[p] = {}", "yours"),
        (replace(KEPT, symptom="peak"), OPS, "yours"),
        (replace(KEPT, path=PATH[:3]), OPS, "yours"),
        (replace(KEPT, path=(HOP,)), OPS, "yours"),
    ],
    ids=["in a library", "of no optimizer", "its own", "at a peak", "in its groups", "elsewhere"],
)
def test_what_else_an_optimizer_leads_to_keeps_its_name(before: Suspect, text: str, origin: str) -> None:
    assert told(before, text, origin) == ("self.optimizers", ())
