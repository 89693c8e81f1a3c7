from __future__ import annotations

import textwrap

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.last_use import drop_after_last_use, join_deletions
from tenure.syntax.edits.line_edits import apply_edits


def after(text: str, name: str = "out") -> str:
    """The changed text; the line marked `# bound` binds the name, the one marked `# now` runs."""
    text = textwrap.dedent(text).lstrip("\n")
    lines = text.splitlines()
    bound, now = (
        next(number for number, line in enumerate(lines, 1) if mark in line.partition("#")[2])
        for mark in ("bound", "now")
    )
    source = SourceFile("t.py", text)
    return apply_edits(text, drop_after_last_use(source, name, bound, now))


def added(text: str, name: str = "out") -> str:
    """`line: text` of what was added; "" where nothing was."""
    old = textwrap.dedent(text).lstrip("\n").splitlines()
    new = after(text, name).splitlines()
    if new == old:
        return ""
    at = next(number for number, line in enumerate([*old, ""]) if line != new[number])
    assert new[:at] + new[at + 1 :] == old
    return f"{at + 1}: {new[at]}"


def test_a_variable_goes_right_behind_its_last_use() -> None:
    text = """
    def step(model, batch):
        out = model(batch)  # bound
        loss = f(
            out,
            batch,
        )
        loss.backward()  # now
        return loss.item()
    """
    assert after(text) == textwrap.dedent("""
    def step(model, batch):
        out = model(batch)  # bound
        loss = f(
            out,
            batch,
        )
        del out
        loss.backward()  # now
        return loss.item()
    """).lstrip("\n")


def test_inside_a_with_statement() -> None:
    text = """
    def step(model, batch):
        with context(), torch.no_grad():
            out = model(batch)  # bound
            loss = f(out)
            loss.backward()  # now
        return loss
    """
    assert added(text) == "5:         del out"


def test_a_last_use_in_a_with_statement_is_the_place() -> None:
    text = """
    def step(model, batch):
        out = model(batch)  # bound
        with autocast(out.device):
            loss = f(out)
            loss.backward()  # now
    """
    assert added(text) == "5:         del out"


def test_what_a_with_statement_binds_may_be_used_behind_it() -> None:
    text = """
    def step(model, batch):
        with torch.no_grad():
            out = model(batch)  # bound
        picked = pick(out)
        loss = learn(picked)  # now
    """
    assert added(text) == "5:     del out"


def test_behind_a_loop_or_branch_that_uses_it() -> None:
    text = """
    def step(model, batch):
        out = model(batch)  # bound
        for metric in metrics:
            if metric:
                metric.update(out)
        backward()  # now
    """
    assert added(text) == "6:     del out"


def test_what_is_held_while_the_next_turn_computes_it_anew() -> None:
    text = """
    def run(model, batches):
        for batch in batches:
            out = model(batch)  # bound now
            scores.update(out.argmax(1))
        return scores
    """
    assert added(text) == "5:         del out"


def test_the_branch_that_binds_it_lets_go_of_it() -> None:
    text = """
    def step(model, batch):
        if batch:
            out = model(batch)  # bound
            scores = f(out)
            scores.backward()  # now
    """
    assert added(text) == "5:         del out"


def test_a_variable_that_is_bound_twice_goes_at_the_end() -> None:
    text = """
    def step(model, batch):
        out = model(batch)  # bound
        out = out.float()
        loss = f(out)
        loss.backward()  # now
    """
    assert added(text) == "5:     del out"


def test_one_of_several_that_are_unpacked() -> None:
    text = """
    def step(model, batch):
        out, hidden = model(batch)  # bound
        loss = sum(f(row) for row in out)
        loss.backward()  # now
        return hidden
    """
    assert added(text) == "4:     del out"


@pytest.mark.parametrize(
    "lines",
    [
        "out = model(x)  # bound\nloss = f(out)\nloss.backward()  # now\nprint(out.shape)",
        "out = model(x)  # bound\nloss = f(out)  # now",
        "out = model(x)  # bound\nreturn f(out)  # now",
        "out = f(out)  # bound\ng(out)\nrun()  # now",
        "out += f(x)  # bound\ng(out)\nrun()  # now",
        "if x:\n    out = model(x)  # bound\nelse:\n    out = None\ng(out)\nrun()  # now",
        "out = None\nif x:\n    out = model(x)  # bound\n    g(out)\n    run()  # now",
        "out = model(x)  # bound\nhooks.append(lambda: out)\nrun()  # now",
        "out = model(x)  # bound\nrows = (f(row, out) for row in x)\nrun(rows)  # now",
        "out = model(x)  # bound\ng(out)\nrun(**locals())  # now",
        "global out\nout = model(x)  # bound\ng(out)\nrun()  # now",
        "out = model(x)  # bound\ng(out)\ndel out\nrun()  # now",
        "out = model(x)  # bound\ng(out); run()  # now",
        "if x: out = model(x); g(out)  # bound\nrun()  # now",
        "while x:\n    g(out)\n    out = model(x)  # bound\n    run()  # now",
        "try:\n    out = model(x)  # bound\n    g(out)\n    run()  # now\nexcept E:\n    print(out)",
        "for out in x:  # bound\n    g(out)\n    run()  # now",
        "with open(x) as out:  # bound\n    g(out)\n    run()  # now",
        "x = 1  # bound\nout = model(x)\ng(out)\nrun()  # now",
        "class Kept:\n    out = model(x)  # bound\n    g(out)\nrun()  # now",
    ],
)
def test_where_it_is_not_sure_to_be_right_nothing_is_offered(lines: str) -> None:
    assert added("def step(model, x):\n" + textwrap.indent(lines, "    ")) == ""


def test_an_argument_belongs_to_the_caller_too() -> None:
    assert added("def step(out):\n    out = g(1)  # bound\n    f(out)\n    run()  # now\n") == ""


def test_a_function_that_has_ended_shows_no_line() -> None:
    assert added("def step():\n    out = g(1)  # bound\n    f(out)\n\n\nrun()  # now\n") == ""


def test_what_another_function_declares_as_its_own_is_left() -> None:
    text = "out = g(1)  # bound\nf(out)\nrun()  # now\n\n\ndef more():\n    global out\n    out = 2\n"
    assert added(text) == ""


def test_what_cannot_be_parsed_is_left() -> None:
    assert drop_after_last_use(SourceFile("t.py", "out = (\n"), "out", 1, 2) == ()


def test_variables_that_go_at_the_same_place_go_in_one_statement() -> None:
    text = "out = model(x)\nrows = out[1]\nloss = f(out, rows)\nmean = loss.mean()\nrun()\n"
    source = SourceFile("t.py", text)
    found = [
        edit
        for name, line in (("out", 1), ("rows", 2), ("loss", 3))
        for edit in drop_after_last_use(source, name, line, 5)
    ]
    assert apply_edits(text, join_deletions(source, found)) == (
        "out = model(x)\nrows = out[1]\nloss = f(out, rows)\ndel out, rows\nmean = loss.mean()\ndel loss\nrun()\n"
    )
