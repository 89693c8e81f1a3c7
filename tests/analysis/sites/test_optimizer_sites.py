from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HOP, hop, suspect
from tenure.analysis.sites.optimizer_sites import by_the_statement_that_gives_parameters
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
    found = by_the_statement_that_gives_parameters(before, {"/p/ops.py": SourceFile("/p/ops.py", text, origin=origin)})
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


GROUPS = """\
class Restarts:
    def __init__(self, model):
        self.opt.add_param_group({"params": model.heads})

    def attach(self, layers):
        self.opt.add_param_group({"params": layers})
"""


def test_ever_more_groups_are_told_where_they_are_added() -> None:
    added = (SourceLocation("/p/ops.py", 6, "Restarts.attach"),)
    in_groups = replace(KEPT, path=(*PATH[:3], hop("ITEM", "'param_groups'", "dict", "list")))

    assert told(text=GROUPS) == ("self.opt.param_groups[*]", added)
    assert told(in_groups, GROUPS) == ("self.opt.param_groups[*]", added)


@pytest.mark.parametrize(
    ("before", "text", "told_at"),
    [
        (KEPT, GROUPS.partition("\n\n")[0], (SourceLocation("/p/ops.py", 3, "Restarts.__init__"),)),
        (KEPT, GROUPS.replace("self.opt", "self"), ()),
        (replace(KEPT, symptom="survivor"), GROUPS, ()),
        (KEPT, GROUPS + "def (", ()),
        (KEPT, OPS + GROUPS, (SourceLocation("/p/ops.py", 4, "replace"),)),
    ],
    ids=[
        "in a constructor alone",
        "of an optimizer's own",
        "of what does not grow",
        "in what is no Python",
        "beside state that is moved",
    ],
)
def test_groups_are_told_where_they_grow_and_nothing_says_more(
    before: Suspect, text: str, told_at: tuple[SourceLocation, ...]
) -> None:
    assert told(before, text)[1] == told_at


def test_the_references_to_drop_are_told_at_the_same_call() -> None:
    made = HoldingReference(
        "attribute", "opt", "self.opt", sites=(SourceLocation("/p/ops.py", 3, "Restarts.__init__"),)
    )
    groups = HoldingReference("item", "add_param_group", "self.opt.param_groups[*]", sites=made.sites)
    added = (SourceLocation("/p/ops.py", 6, "Restarts.attach"),)

    found = by_the_statement_that_gives_parameters(
        replace(KEPT, cut=(made, groups)), {"/p/ops.py": SourceFile("/p/ops.py", GROUPS)}
    )

    assert found.cut == (made, replace(groups, name="param_groups", sites=added))
