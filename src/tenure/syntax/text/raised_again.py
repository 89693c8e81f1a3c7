"""Whether a program still needs the traceback of an exception that it keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.tree_walks import walk

_READERS = frozenset(
    {"__traceback__", "print_exception", "format_exception", "TracebackException", "print_tb", "format_tb"}
    | {"extract_tb", "print_exc", "format_exc", "exc_info", "exception", "clear_frames", "set_exception"}
)


def needs_traceback(sources: Iterable[SourceFile], name: str) -> bool:
    """Whether a file raises what it reaches by `name` (a variable, attribute or container) or reads tracebacks."""
    return any(_needs(node, name) for source in sources for node in _nodes(source))


def _nodes(source: SourceFile) -> Iterable[ast.AST]:
    try:
        return walk(parse(source))
    except SourceError:
        return ()


def _needs(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Raise):
        return any(name == _own_name(each) for part in (node.exc, node.cause) if part for each in walk(part))
    if isinstance(node, ast.keyword):
        return node.arg == "exc_info"
    return _own_name(node) in _READERS


def _own_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
