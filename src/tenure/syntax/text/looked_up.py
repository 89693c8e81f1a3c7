"""Tables that are looked into before they get an entry, as a cache is: `if key not in ready:`, `ready.get(key)`,
`try: return ready[key]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk


@lru_cache(maxsize=1024)
def is_looked_up(source: SourceFile, line: int, name: str) -> bool:
    """Whether the function around the statement at `line` has looked for keys by then in `name`, the last part of what
    the table goes by."""
    try:
        around = function_around(parse(source), [line])
    except SourceError:
        return False
    tables = (table for table in tables_looked_up_in(around) if table.lineno <= line)
    return any(dotted(table).rpartition(".")[2] == name for table in tables)


def tables_looked_up_in(function: ast.AST) -> Iterator[ast.expr]:
    """What a function looks for keys in, or returns an entry of: `self.ready` of `if key not in self.ready`."""
    for node in walk(function):
        if isinstance(node, ast.Compare) and any(isinstance(each, (ast.In, ast.NotIn)) for each in node.ops):
            yield from node.comparators
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            yield node.func.value
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Subscript):
            yield node.value.value
        elif isinstance(node, ast.Try) and any(_catches_missing_keys(each) for each in node.handlers):
            parts = (part for each in node.body for part in walk(each))
            yield from (each.value for each in parts if isinstance(each, ast.Subscript))


def _catches_missing_keys(handler: ast.ExceptHandler) -> bool:
    names = getattr(handler.type, "elts", [handler.type])
    return any(dotted(each) in ("KeyError", "LookupError") for each in names if each is not None)
