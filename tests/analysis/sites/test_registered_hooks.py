from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import suspect
from tenure.analysis.sites.registered_hooks import by_the_calls_name, by_the_registration
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import NODE_HOOK, OWN_HOOK, HoldingReference, Hop, Suspect

ACCOUNT = """
class Account:
    def open(self, head):
        def credit(grads_in, grads_out):
            self.total += head.size

        for node in self.nodes:
            node.register_hook(credit)
"""
CREDIT = "Account.open.<locals>.credit"
CLOSED_OVER = Hop("CELL", "head", "OBJECT", "function", CREDIT, "OBJECT", "cell")
OF_NODE = suspect(facts={NODE_HOOK: CREDIT})
RING = suspect(symptom="cycle", cyclic=True, path=(CLOSED_OVER,), facts={OWN_HOOK: True})


def told(before: Suspect, text: str = ACCOUNT, origin: str = "yours") -> tuple[str, str, list[int], list[str]]:
    """Kind and expression of the holder, its lines, and what is to be dropped; nothing where it stays as it was."""
    found = by_the_registration(before, {"account.py": SourceFile("account.py", text, origin=origin)})
    if found == before:
        return "", "", [], []
    holder = found.holder
    return holder.kind, holder.expression, [site.line for site in holder.sites], [each.name for each in found.cut]


def test_growth_behind_the_hooks_of_a_node_is_told_and_dropped_by_the_call_that_registers_them() -> None:
    expected = ("hook", "register_hook(credit)", [8], ["credit"])

    assert [told(OF_NODE), told(OF_NODE, origin="library")] == [expected] * 2


def test_a_ring_through_the_hook_of_a_tensor_is_told_by_its_registration_and_dropped_as_before() -> None:
    assert told(RING) == (RING.holder.kind, RING.holder.expression, [8], [each.name for each in RING.cut])


DEFAULT = replace(CLOSED_OVER, kind="DEFAULT", source_name="Account.open.<locals>.<lambda>")
ENTRY = Hop("ITEM", "169", "OBJECT", "collections.OrderedDict", "", "OBJECT", "function")


@pytest.mark.parametrize(
    ("path", "expression"),
    [
        ((DEFAULT,), RING.holder.expression),
        ((ENTRY, DEFAULT), "register_hook(<lambda>)"),
        ((replace(ENTRY, label="'total'"), DEFAULT), ""),
        ((replace(ENTRY, source_type="dict"), DEFAULT), ""),
    ],
    ids=["its default", "the hook itself", "an entry by name", "an entry of another table"],
)
def test_a_lambda_is_told_by_the_call_that_is_given_one_where_it_was_made(
    path: tuple[Hop, ...], expression: str
) -> None:
    text = ACCOUNT.replace("node.register_hook(credit)", "node.register_hook(lambda g, head=head: self.add(head))")

    kind, told_by, lines, _ = told(replace(RING, path=path), text)

    assert (kind, told_by, lines) == ((RING.holder.kind, expression, [8]) if expression else ("", "", []))


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("node.register_hook(self.done)", 8),
        ("node.register_hook(partial(self.done, 3))", 8),
        ("done = partial(Account.done, self)\n            node.register_hook(done)", 9),
        ("wrapped = partial(Account.done, self)\n            node.register_prehook(wrapped)", 9),
    ],
)
def test_a_method_and_what_is_made_of_one_are_found_by_their_name(statement: str, line: int) -> None:
    reading = ACCOUNT.replace("node.register_hook(credit)", statement)

    kind, _, lines, cut = told(suspect(facts={NODE_HOOK: "Account.done"}), reading)

    assert (kind, lines, cut) == ("hook", [line], ["done"])


@pytest.mark.parametrize(
    "other",
    [
        suspect(),
        suspect(facts={NODE_HOOK: "Account.open.<locals>.debit"}),
        suspect(facts={NODE_HOOK: "Account.close.<locals>.credit"}),
        suspect(facts={NODE_HOOK: "Account.open.<locals>.<lambda>"}),
        suspect(facts={NODE_HOOK: ""}),
        suspect(symptom="survivor", facts={NODE_HOOK: CREDIT}),
        replace(RING, facts={}),
    ],
    ids=["root", "function", "function around it", "lambda", "unknown", "survivor", "ring without a hook"],
)
def test_all_else_is_told_as_before(other: Suspect) -> None:
    assert told(other) == ("", "", [], [])


def test_two_calls_that_may_have_registered_it_are_ambiguous() -> None:
    twice = ACCOUNT + "            node.register_prehook(credit)\n"

    assert by_the_registration(OF_NODE, {"account.py": SourceFile("account.py", twice)}).ambiguous


@pytest.mark.parametrize(
    ("registration", "name"),
    [
        ("weight.register_post_accumulate_grad_hook(credit)", "register_post_accumulate_grad_hook"),
        ("node.register_hook(credit)", "register_hook"),
        ("a.register_hook(credit), b.register_post_accumulate_grad_hook(credit)", "_tensor_hooks"),
        ("self._handle = node.register_hook(credit)", "_handle"),
        ("self.handles[node.name] = node.register_hook(credit)", "handles"),
        ("self.handles = [each.register_hook(credit) for each in node.parts]", "handles"),
        ("self.handles = node.register_hook(credit), node.register_hook(debit)", "handles"),
        ("self.handles = {each: node.register_hook(credit) for each in names}", "handles"),
        ("handles = [each.register_hook(credit) for each in node.parts]", "register_hook"),
        ("self.handles = [register_hook(each, credit) for each in node.parts]", "register_hook"),
        ("handle = node.register_hook(credit)", "register_hook"),
        ("self._handle = register_hook(node, credit)", "register_hook"),
    ],
)
def test_hooks_go_by_what_gets_their_handle_or_by_the_one_call_on_their_line(registration: str, name: str) -> None:
    sources = {"account.py": SourceFile("account.py", ACCOUNT.replace("node.register_hook(credit)", registration))}
    hooks = HoldingReference(
        "hook", "_tensor_hooks", "weight._tensor_hooks[*]", sites=(SourceLocation("account.py", 8, "Account.open"),)
    )

    before = suspect(holder=hooks)

    assert by_the_calls_name(before, sources) == replace(before, holder=replace(hooks, name=name))


def test_a_hook_that_another_function_makes_is_told_where_its_maker_is_called() -> None:
    text = ACCOUNT.replace("node.register_hook(credit)", "node.register_hook(make_credit(self))")
    made_before = text.replace(
        "node.register_hook(make_credit(self))", "fn = make_credit(1)\n            node.register_hook(fn)"
    )
    of_node = suspect(facts={NODE_HOOK: "make_credit.<locals>.wrapper"})

    assert [told(of_node, text), told(of_node, made_before), told(of_node)] == [
        ("hook", "register_hook(make_credit)", [8], ["make_credit"]),
        ("hook", "register_hook(make_credit)", [9], ["make_credit"]),
        ("", "", [], []),
    ]
