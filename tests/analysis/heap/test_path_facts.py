from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import NODE_HOOK

STEPS = (1, 2, 3, 4, 6, 8, 13, 16)
MODEL = "main.net -> __main__.Net -> ._parameters dict -> ['w'] parameter 1MiB\n"


@pytest.mark.parametrize(
    ("key", "counts_up", "rises"),
    [
        (lambda n: n, True, None),
        (lambda n: f"'step-{n:03}'", True, None),
        (lambda n: f"'step-{n:03} of 7'", False, True),
        (lambda n: 5 * n, False, True),
        (lambda n: f"'step {10 * n}/loss'", False, True),
        (lambda n: f"('{'ab'[n % 2]}', {n // 2})", False, True),
        (lambda n: 37 * n % 191, False, None),
        (lambda n: f"({64 + 37 * n % 191}, 64)", False, None),
        (lambda n: f"'{'abcdefghijklmnop'[n]}'", False, None),
        (lambda n: f"'user{37 * n % 191 or ''}'", False, None),
    ],
    ids=[
        "each step",
        "each step in a text",
        "two numbers in a text",
        "every five steps",
        "in a text",
        "by turns",
        "lengths",
        "shapes",
        "words",
        "one without a number",
    ],
)
def test_keys_that_rise_as_numbers_of_steps_do_are_told_apart(key: object, counts_up: bool, rises: bool | None) -> None:
    assert callable(key)
    table = "main.log -> __main__.Log -> .outputs dict#d length={step} -> "

    def after(step: int) -> str:
        return MODEL + "".join(table.format(step=step) + f"[{key(n)}] tensor#t{n} 64KiB\n" for n in range(step))

    (found,) = find_suspects([census(after(step), step=step) for step in STEPS])

    assert (found.facts["keys_count_up"], found.facts.get("keys_rise")) == (counts_up, rises)


@pytest.mark.parametrize(
    ("parts", "beside"),
    [
        (("[0] tensor#x{n} 4B -> .grad_fn N#a{n}", "[1] tensor#y{n} 4B"), None),
        (
            ("[0] tensor#x{n} 4B -> .grad_fn N#a{n}", "[1] tensor#y{n} 4B", "[2] tensor#z{n} 4B -> .grad_fn M#b{n}"),
            ["2"],
        ),
    ],
    ids=["one", "two"],
)
def test_what_else_of_a_kept_tuple_carries_a_graph_is_told(parts: tuple[str, ...], beside: object) -> None:
    def after(step: int) -> str:
        entry, saves = "main.kept -> list#l -> [{n}] tuple#t{n} -> ", " -> .saved tensor#s{n} 1MiB activation"
        lines = [entry + part + saves * ("#a" in part) for part in parts]
        return MODEL + "".join(f"{line.format(n=n)}\n" for n in range(step) for line in lines)

    found = max(find_suspects([census(after(step), step=step) for step in STEPS]), key=lambda each: each.retained_bytes)

    assert found.facts.get("graphs_beside") == beside


@pytest.mark.parametrize(
    ("table", "function"),
    [("unseen -> collections.OrderedDict#t{n} -> [{n}]", "Account.credit"), ("main.kept -> list#l -> [{n}]", None)],
)
def test_of_hooks_that_only_cpp_keeps_it_is_told_what_they_call(table: str, function: str | None) -> None:
    line = table + " function#f{n} name=Account.credit file=a.py:3 -> <cell head> tensor#h{n} 64KiB"

    def after(step: int) -> str:
        return MODEL + "\n".join(line.format(n=n) for n in range(step))

    found = find_suspects([census(after(step), step=step) for step in STEPS])

    assert [each.facts.get(NODE_HOOK) for each in found if each.symptom == "growth"] == [function]
