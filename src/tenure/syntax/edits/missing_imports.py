"""Imports that an edit needs and a file has not."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import first_line, parse


def import_missing(source: SourceFile, *modules: str) -> Sequence[Edit]:
    """The import of what is missing of some modules in front of the first statement that may follow it."""
    body = parse(source).body
    missing = [each for each in modules if not _imports(body, each)]
    if not missing:
        return ()
    for node in body:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not is_text and not is_future:
            first = first_line(node)
            apart = () if isinstance(node, (ast.Import, ast.ImportFrom)) else ("", "")
            return insert_line(source, first, "\n".join([*(f"import {each}" for each in missing), *apart]))
    return ()


def imports(source: SourceFile, module: str) -> bool:
    """Whether a file imports a module under its own name, anywhere; not one that cannot be parsed."""
    return _imports(nodes_in(source), module)


def _imports(statements: Iterable[ast.AST], module: str) -> bool:
    names = (each for node in statements if isinstance(node, ast.Import) for each in node.names)
    return any(each.name == module and each.asname is None for each in names)
