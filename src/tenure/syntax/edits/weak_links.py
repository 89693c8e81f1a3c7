"""A reference back to the owner that does not keep it: `weakref.proxy(owner)` in place of the owner."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import find_kept
from tenure.syntax.edits.line_edits import insert_line, only_if_it_parses, replace_expression
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.scopes import dotted, parse


def refer_weakly(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edits by which `self.<name> = owner` on `line` keeps a weak proxy, with the import where it is missing.

    None but of a plain variable: what is made there would be gone at once. A proxy is not hashed and is no `is` of its
    owner, so that a run has to prove it.
    """
    kept = find_kept(source, line, name)
    text = dotted(kept.target) if kept is not None else ""
    if kept is None or not isinstance(kept.value, ast.Name) or not text.startswith("self.") or "[" in text:
        return ()
    owner = kept.value.id
    proxy = f"weakref.proxy({owner})"
    if owner in _without_owner(function_around(parse(source), [line])):
        proxy = f"{proxy} if {owner} is not None else None"
    weak = replace_expression(source, kept.value, proxy)
    return only_if_it_parses(source, [*_imported(source), *weak]) if weak else ()


def _without_owner(function: ast.AST) -> set[str]:
    """The parameters of a function that are None where nothing is given for them: the root of a tree has no parent."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return set()
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    defaults = [
        *zip(reversed(plain), reversed(given.defaults), strict=False),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return {each.arg for each, value in defaults if isinstance(value, ast.Constant) and value.value is None}


def _imported(source: SourceFile) -> Sequence[Edit]:
    """The import of weakref in front of the first statement that may follow it."""
    body = parse(source).body
    if any(isinstance(node, ast.Import) and "weakref" in [each.name for each in node.names] for node in body):
        return ()
    for node in body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_text and not is_future:
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            apart = () if isinstance(node, (ast.Import, ast.ImportFrom)) else ("", "")
            return insert_line(source, first, "\n".join(["import weakref", *apart]))
    return ()
