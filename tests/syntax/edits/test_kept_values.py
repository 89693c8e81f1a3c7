from __future__ import annotations

import ast

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import call_method, exceptions_in, find_kept, part_of, rebind_after
from tenure.syntax.edits.line_edits import apply_edits


def kept_text(text: str, name: str, line: int = 1) -> str | None:
    found = find_kept(SourceFile("t.py", text), line, name)
    return None if found is None or found.value is None else ast.unparse(found.value)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("self.history.append(loss)", "history", "loss"),
        ("self.stats['loss'].append(loss)", "stats", "loss"),
        ("self.stats.setdefault(key, []).append(loss)", "stats", "loss"),
        ("self.stats.setdefault(key, loss)", "stats", "loss"),
        ("window.insert(0, loss)", "window", "loss"),
        ("self.h = cell(x, self.h)", "h", "cell(x, self.h)"),
        ("a, self.h = x, y + z", "h", "y + z"),
        ("total += loss / n", "total", "loss / n"),
        ("self.cache[key] = out", "cache", "out"),
        ("a.append(x); b.append(y)", "b", "y"),
        ("out, self.h = cell(x)", "h", None),
        ("history.extend(losses)", "history", None),
        ("history.extend(f(x) for x in xs)", "history", "(f(x) for x in xs)"),
        ("print(history)", "history", None),
    ],
)
def test_what_a_statement_keeps_under_a_name(text: str, name: str, value: str | None) -> None:
    assert kept_text(text, name) == value


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("self.rows[task].append(x)", 1),
        ("self.rows.setdefault(task, []).append(x)", 1),
        ("self.rows.setdefault(run, {}).setdefault(task, []).append(x)", 2),
        ("self.rows[run].setdefault(task, []).append(x)", 2),
        ("self.rows[task] += [x]", 1),
        ("self.rows[run][task] += (x,)", 2),
        ("self.rows += [x]", 0),
        ("self.sums[task] += x", 0),
    ],
)
def test_how_deep_in_a_container_a_statement_adds(text: str, depth: int) -> None:
    found = find_kept(SourceFile("t.py", text), 1, "sums" if "sums" in text else "rows")

    assert found is not None
    assert found.depth == depth


def test_a_statement_of_several_lines_is_found_by_any_of_them() -> None:
    text = "history.append(\n    loss,\n)\n"
    assert [kept_text(text, "history", line) for line in (1, 2, 3)] == ["loss"] * 3


@pytest.mark.parametrize(
    ("text", "labels", "part"),
    [
        ("(step, loss)", ["1"], "loss"),
        ("{'step': 1, 'loss': loss}", ["'loss'"], "loss"),
        ("dict(loss=loss)", ["'loss'"], "loss"),
        ("[f(x) for x in xs]", ["3"], "f(x)"),
        ("(a, {'b': [c]})", ["1", "'b'", "0"], "c"),
        ("outputs", ["0"], None),
        ("(a, b)", ["5"], None),
        ("loss", [], "loss"),
    ],
)
def test_a_part_of_what_is_kept_is_found_where_it_is_written_down(
    text: str, labels: list[str], part: str | None
) -> None:
    found = part_of(ast.parse(text, mode="eval").body, labels)
    assert (found and ast.unparse(found)) == part


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a.append(x)", "a.append(x.detach())"),
        ("a.append(x + y)", "a.append((x + y).detach())"),
        ("a.append(f(x)[:, -1])", "a.append(f(x)[:, -1].detach())"),
        ("a.append(\n    x +\n    y\n)", "a.append(\n    (x +\n    y).detach()\n)"),
    ],
)
def test_a_method_is_called_on_a_value_in_parentheses_where_it_needs_them(text: str, after: str) -> None:
    source = SourceFile("t.py", text)
    kept = find_kept(source, 1, "a")
    assert kept is not None
    assert kept.value is not None
    assert apply_edits(text, call_method(source, kept.value, ".detach()")) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("if x:\n    y, self.h = f(x)\n", "if x:\n    y, self.h = f(x)\n    self.h = self.h.detach()\n"),
        ("if x: y, self.h = f(x)\n", None),
        ("y, self.h[0] = f(x)\n", None),
    ],
)
def test_a_name_that_is_bound_with_others_is_bound_again(text: str, after: str | None) -> None:
    source = SourceFile("t.py", text)
    kept = find_kept(source, text.count("\n"), "h")
    edits = rebind_after(source, kept, "{}.detach()") if kept else ()
    assert (apply_edits(text, edits) if edits else None) == after


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("errors.append(error)", ["error"]),
        ("errors.append((step, error))", ["error"]),
        ("errors.append(str(error))", []),
        ("errors.append(error)\n    raise", []),
    ],
)
def test_the_exception_that_a_handler_keeps_and_does_not_raise_again(body: str, names: list[str]) -> None:
    source = SourceFile("t.py", f"try:\n    f()\nexcept ValueError as error:\n    {body}\n")
    kept = find_kept(source, 4, "errors")
    assert kept is not None
    assert [ast.unparse(name) for name in exceptions_in(source, kept)] == names
