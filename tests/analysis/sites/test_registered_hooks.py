from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import suspect
from tenure.analysis.sites.registered_hooks import by_the_registration
from tenure.model.source import SourceFile
from tenure.model.suspect import OWN_HOOK, Hop

ACCOUNT = """
class Account:
    def open(self, head):
        def credit(grads_in, grads_out):
            self.total += head.size

        for node in self.nodes:
            node.register_hook(credit)
"""
OF_NODE = "hooks that only C++ keeps (of an autograd node, probably)"
CLOSED_OVER = Hop("CELL", "head", "OBJECT", "function", "Account.open.<locals>.credit", "OBJECT", "cell")


def told(
    text: str, *, root: str = OF_NODE, function: str = CLOSED_OVER.source_name, origin: str = "yours", **changes: object
) -> tuple[str, str, list[int], list[str]]:
    """Kind and expression of the holder, its lines, and what is to be dropped; nothing where it stays as it was."""
    before = replace(suspect(path_text=(root,), path=(replace(CLOSED_OVER, source_name=function),)), **changes)  # type: ignore[arg-type]
    found = by_the_registration(before, {"account.py": SourceFile("account.py", text, origin=origin)})
    if found == before:
        return "", "", [], []
    holder = found.holder
    return holder.kind, holder.expression, [site.line for site in holder.sites], [each.name for each in found.cut]


def test_growth_behind_the_hooks_of_a_node_is_told_and_dropped_by_the_call_that_registers_them() -> None:
    assert told(ACCOUNT) == ("hook", "register_hook(credit)", [8], ["credit"])


def test_a_ring_through_the_hook_of_a_tensor_is_told_by_its_registration_and_dropped_as_before() -> None:
    ring = {"symptom": "cycle", "cyclic": True, "facts": {OWN_HOOK: True}}
    before = suspect(path_text=(OF_NODE,))

    assert told(ACCOUNT, root="a ring that nothing else holds: function", **ring) == (
        before.holder.kind,
        before.holder.expression,
        [8],
        [each.name for each in before.cut],
    )


@pytest.mark.parametrize("given", ["self.done", "partial(self.done, 3)"])
def test_a_method_and_what_is_made_of_one_are_found_by_their_name(given: str) -> None:
    reading = ACCOUNT.replace("(credit)", f"({given})")
    method = replace(CLOSED_OVER, kind="SELF", source_type="method", source_name="Account.done")
    before = suspect(path_text=(OF_NODE,), path=(method,))

    holder = by_the_registration(before, {"account.py": SourceFile("account.py", reading)}).holder

    assert (holder.kind, holder.name, [site.line for site in holder.sites]) == ("hook", "done", [8])


@pytest.mark.parametrize(
    "other",
    [
        {"root": "global `account` in __main__ (train.py)"},
        {"function": "Account.open.<locals>.debit"},
        {"function": "Account.close.<locals>.credit"},
        {"function": "Account.open.<locals>.<lambda>"},
        {"origin": "library"},
        {"symptom": "survivor"},
        {"root": "a ring that nothing else holds: function", "symptom": "cycle", "cyclic": True},
    ],
    ids=["root", "function", "function around it", "lambda", "library", "survivor", "ring without a hook"],
)
def test_all_else_is_told_as_before(other: dict[str, object]) -> None:
    assert told(ACCOUNT, **other) == ("", "", [], [])  # type: ignore[arg-type]


def test_two_calls_that_may_have_registered_it_are_ambiguous() -> None:
    twice = ACCOUNT + "            node.register_prehook(credit)\n"
    before = suspect(path_text=(OF_NODE,), path=(CLOSED_OVER,))

    assert by_the_registration(before, {"account.py": SourceFile("account.py", twice)}).ambiguous
