"""Defaults that are built on every call, needed or not: `table.setdefault(key, self.build(n))`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import dotted

_ARGUMENTS = {"setdefault": 2, "getattr": 3}


@dataclass(frozen=True)
class DefaultBuilder:
    """A call of `setdefault` or `getattr` whose default is a call. `table` is what is asked, `self.tables`; `builds`
    the name of the function or class that is called for the default, `text` that call."""

    line: int
    end_line: int
    table: str
    builds: str
    text: str


@lru_cache(maxsize=1024)
def default_builders(source: SourceFile) -> tuple[DefaultBuilder, ...]:
    """All of a file; none where it cannot be parsed."""
    if not any(f"{name}(" in source.text for name in _ARGUMENTS):
        return ()
    calls = (node for node in nodes_in(source) if isinstance(node, ast.Call))
    return tuple(found for call in calls for found in _builder(call))


def _builder(call: ast.Call) -> tuple[DefaultBuilder, ...]:
    name = called_name(call)
    built = call.args[-1] if len(call.args) == _ARGUMENTS.get(name, -1) and not call.keywords else None
    if not isinstance(built, ast.Call):
        return ()
    asked = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]
    end = call.end_lineno or call.lineno
    return (DefaultBuilder(call.lineno, end, dotted(asked), called_name(built), ast.unparse(built)),)
