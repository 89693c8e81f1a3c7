from __future__ import annotations

import pytest

from suspects import suspect
from tenure.analysis.sites.entered_hooks import by_the_hooks_entered
from tenure.model.source import SourceFile

METER = """
class Meter:
    def begin(self):
        self.snap = Snapshot()
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self.snap.pack, lambda t: t)
        self.hooks.__enter__()
"""
PACK = "a callback that only C code keeps (an exit handler or a pack hook, probably): Snapshot.pack"


def told(text: str, *, root: str = PACK, symptom: str = "growth", origin: str = "yours") -> tuple[str, str, list[int]]:
    before = suspect(path_text=(root, ".__self__", ".storages"), symptom=symptom)
    found = by_the_hooks_entered(before, {"meter.py": SourceFile("meter.py", text, origin=origin)})
    assert found == before or found.cut == (found.holder,)
    return found.holder.kind, found.holder.expression, [site.line for site in found.holder.sites]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (METER, ("hook", "self.hooks", [5])),
        (METER.replace("self.hooks = torch", "stack.enter_context(torch").replace(": t)", ": t))"),
         ("hook", "saved_tensors_hooks", [5])),
        (METER.replace("self.snap.pack, lambda t: t", "unpack_hook=unpack, pack_hook=self.snap.pack"),
         ("hook", "self.hooks", [5])),
    ],
    ids=["kept in an attribute", "given to a stack", "by keyword"],
)  # fmt: skip
def test_growth_behind_a_pack_hook_is_told_by_the_call_that_made_the_hooks(
    text: str, expected: tuple[str, str, list[int]]
) -> None:
    assert told(text) == expected


def test_other_functions_other_growth_and_other_calls_are_told_as_before() -> None:
    plain = told("")
    assert plain[0] != "hook"
    assert told(METER, root="global `meter` in __main__ (train.py)") == plain
    assert told(METER, root=PACK.replace(".pack", ".save")) == plain
    assert told(METER, symptom="survivor") == plain
    assert told(METER, origin="library") == plain
    assert told("def (") == plain


def test_two_calls_that_may_have_made_them_are_ambiguous() -> None:
    before = suspect(path_text=(PACK,), symptom="growth")
    found = by_the_hooks_entered(before, {"meter.py": SourceFile("meter.py", METER + METER.replace("Meter", "Other"))})

    assert found.ambiguous
