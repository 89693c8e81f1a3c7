from __future__ import annotations

import textwrap

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.dropped_names import drop_names


def change(text: str, *names: str) -> str:
    """`line: text` of the inserted line; the lines marked `# bound` bind the names. "" where nothing is offered."""
    text = textwrap.dedent(text).lstrip("\n")
    lines = [number for number, line in enumerate(text.splitlines(), start=1) if line.endswith("# bound")]
    edits = drop_names(SourceFile("t.py", text), names, lines)
    return "".join(f"{edit.line}: {edit.after}" for edit in edits)


def test_names_are_deleted_behind_their_last_use() -> None:
    text = """
    def fit():
        for batch in loader:
            out = model(batch)  # bound
            loss = f(out)  # bound
            loss.backward()
            optimizer.step()
    """
    assert change(text, "out", "loss") == "6:         del out, loss"


def test_at_top_level_and_behind_the_last_line_of_the_loop() -> None:
    text = """
    for batch in loader:
        out = model(batch)  # bound
        if verbose:
            print(out)
    """
    assert change(text, "out") == "5:     del out"


def test_what_a_turn_may_not_bind_is_set_to_none() -> None:
    text = """
    for batch in loader:
        if batch:
            out = model(batch)  # bound
        step()
    """
    assert change(text, "out") == "4:     out = None"


def test_what_is_read_behind_the_loop_goes_before_the_next_turn() -> None:
    text = """
    def fit():
        for batch in loader:
            out = model(batch)  # bound
            step(out)
        return out
    """
    assert change(text, "out") == "3:         out = None"


def test_the_loop_is_the_innermost_one_around_all_places() -> None:
    text = """
    for epoch in range(3):
        total = model(epoch)  # bound
        for batch in loader:
            out = model(batch)  # bound
        print(out)
    """
    assert change(text, "total", "out") == "6:     total = out = None"


def test_a_loop_variable_can_be_deleted_too() -> None:
    text = """
    for batch in loader:  # bound
        step(batch)
    """
    assert change(text, "batch") == "3:     del batch"


@pytest.mark.parametrize(
    "text",
    [
        "out = model(batch)  # bound",
        "for batch in loader: out = model(batch)  # bound",
        "out = None\nfor batch in loader:\n    use(out)\n    out = model(batch)  # bound",
        "for batch in loader:\n    out = model(batch)  # bound\n    hooks.append(lambda: out)",
        "def f():\n    global out\n    for batch in loader:\n        out = model(batch)  # bound",
        "while out is not None:\n    out = model(1)  # bound",
        "for batch in loader:\n    out += model(batch)  # bound",
        "def f():\n    for batch in loader:\n        out = model(batch)  # bound\n        return out",
        "for out in loader:  # bound\n    step(out)\nprint(out)",
        "for batch in loader:\n    out = model(batch)  # bound\n    rows = (f(row, out) for row in batch)",
        "for batch in loader:\n    out = model(batch)  # bound\n    show(locals())",
    ],
    ids=[
        "no-loop",
        "one-line",
        "read-before",
        "closure",
        "global",
        "while-test",
        "augmented",
        "return",
        "target-read",
        "generator",
        "locals",
    ],
)
def test_where_it_is_not_sure_to_be_right_nothing_is_offered(text: str) -> None:
    assert change(text, "out") == ""


NESTED = """\
for epoch in range(3):
    total = zero
    for batch in loader:
        out = model(batch)
        total = total + out
    print(total)
"""


def test_an_outer_loop_lets_go_too_late_for_what_its_inner_loop_runs() -> None:
    source = SourceFile("t.py", NESTED)
    assert [edit.after for edit in drop_names(source, ("total", "out"), (2, 4))] == ["    total = out = None"]
    assert drop_names(source, ("total", "out"), (2, 4), running=4) == ()
