from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.computed_early import compute_early, compute_given_early, compute_lambda_early


@pytest.mark.parametrize(
    ("kept", "after"),
    [
        ("lambda: text(x)", "self.rows.append(lambda made=text(x): made)  # here"),
        ("(1, partial(text, x, size=2))", "self.rows.append((1, lambda made=text(x, size=2): made))  # here"),
        ("lambda row: text(row)", None),
        ("partial(text)", None),
        ("text(x)", None),
    ],
)
def test_what_is_computed_later_is_computed_where_it_is_kept(kept: str, after: str | None) -> None:
    source = source_of(f"def note(self, x):\n    self.rows.append({kept})  # here\n")

    assert changes(source, compute_early(source, line_of(source), "rows"))[1:] == ([after] if after else [])


@pytest.mark.parametrize(
    ("kept", "after"),
    [
        ("render", "self.rows[key] = lambda made=render(): made  # here"),
        ("run.summary", "self.rows[key] = lambda made=run.summary(): made  # here"),
        ("render()", None),
    ],
)
def test_a_function_that_is_kept_to_be_called_later_is_called_where_it_is_kept(kept: str, after: str | None) -> None:
    source = source_of(f"def enrol(self, key, render):\n    self.rows[key] = {kept}  # here\n")

    assert changes(source, compute_given_early(source, line_of(source), "rows"))[1:] == ([after] if after else [])


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ("lambda: text(x)", "self.report.add(x.name, lambda made=text(x): made)  # here"),
        ("lambda row: text(row)", None),
        ("(lambda: x, lambda: y)", None),
        ("text", None),
    ],
)
def test_a_function_without_a_name_is_called_where_it_is_written(given: str, after: str | None) -> None:
    source = source_of(f"def note(self, x):\n    self.report.add(x.name, {given})  # here\n")

    assert changes(source, compute_lambda_early(source, line_of(source)))[1:] == ([after] if after else [])
