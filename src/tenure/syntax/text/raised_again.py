"""Whether a program still needs the traceback of an exception that it keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.tree_walks import walk

_READERS = frozenset(
    {"__traceback__", "print_exception", "format_exception", "TracebackException", "print_tb", "format_tb"}
    | {"extract_tb", "print_exc", "format_exc", "exc_info", "exception", "clear_frames", "set_exception"}
)


def needs_traceback(sources: Iterable[SourceFile], name: str) -> bool:
    """Whether a file raises what it reaches by `name` (a variable, attribute or container) or reads tracebacks."""
    return any(_reads_tracebacks(source) or name in _raised_in(source) for source in sources)


@lru_cache(maxsize=256)
def _reads_tracebacks(source: SourceFile) -> bool:
    return any(
        node.arg == "exc_info" if isinstance(node, ast.keyword) else _own_name(node) in _READERS
        for node in nodes_in(source)
    )


@lru_cache(maxsize=256)
def _raised_in(source: SourceFile) -> frozenset[str]:
    """Names in what `raise` statements of a file raise, "" for parts without one."""
    raised = (node for node in nodes_in(source) if isinstance(node, ast.Raise))
    parts = (part for node in raised for part in (node.exc, node.cause) if part is not None)
    return frozenset(_own_name(each) for part in parts for each in walk(part))


def _own_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
