"""Chains in which each object keeps the one before it, cut behind that: `Best(score, weights, before=self.best)`.

Who goes further back than one link is not told by source; these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.class_fields import fields_of_class, is_frozen, is_named_tuple
from tenure.syntax.edits.kept_values import find_kept, kept_at
from tenure.syntax.edits.line_edits import insert_line, only_if_it_parses, replace_expression
from tenure.syntax.edits.missing_imports import import_missing
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.name_uses import begins_its_line, indent_of
from tenure.syntax.text.scopes import dotted


def cut_chain(sources: Sequence[SourceFile], source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit by which the object that the statement on `line` makes of the one before it, `x = Link(..., x)`, keeps
    that one without what came before it in turn."""
    kept = find_kept(source, line, name) or (kept_at(source, line) or ("", None))[1]
    if kept is None or not isinstance(kept.value, ast.Call) or not isinstance(kept.statement, ast.Assign):
        return ()
    text, cls = dotted(kept.target), called_name(kept.value)
    field, former = _former(sources, kept.value, text)
    if former is None or not field or "[" in text:
        return ()
    if is_named_tuple(sources, cls):
        return replace_expression(source, former, f"{text} and {text}._replace({field}=None)")
    if is_frozen(sources, cls):
        one = replace_expression(source, former, f"{text} and dataclasses.replace({text}, {field}=None)")
        return only_if_it_parses(source, [*import_missing(source, "dataclasses"), *one]) if one else ()
    if not begins_its_line(source, kept.statement):
        return ()
    indent = indent_of(source, kept.statement)
    cut = f"{indent}if {text}.{field} is not None:\n{indent}    {text}.{field}.{field} = None"
    return insert_line(source, (kept.statement.end_lineno or line) + 1, cut)


def _former(sources: Sequence[SourceFile], made: ast.Call, text: str) -> tuple[str, ast.expr | None]:
    """The field that is given the former object, and the argument; ("", None) where none is."""
    by_name = next((each for each in made.keywords if each.arg and dotted(each.value) == text), None)
    if by_name is not None:
        return by_name.arg or "", by_name.value
    fields = fields_of_class(sources, called_name(made))
    given = dict(zip(fields, made.args, strict=False))
    return next(((field, value) for field, value in given.items() if dotted(value) == text), ("", None))
