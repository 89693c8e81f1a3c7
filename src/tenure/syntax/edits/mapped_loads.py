"""A checkpoint that is mapped instead of read: `torch.load(path, mmap=True)`."""

from __future__ import annotations

import ast
from typing import TypeGuard

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.statement_edits import set_argument
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import spans
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_STATEMENTS = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_STREAMS = ("open", "BytesIO", "urlopen", "TemporaryFile", "NamedTemporaryFile")


def map_load(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edit that maps what the one `torch.load` of the statement around `line` reads.

    None where it says itself whether to map, and where it is given an open file or a buffer: only files that have a
    name can be mapped (torch 2.1 and later).
    """
    try:
        statements = (each for kind in _STATEMENTS for each in nodes_of(source, kind) if spans(each, [line]))
        calls = [node for statement in statements for node in walk(statement) if _is_load(node)]
        plain = len(calls) == 1 and bool(calls[0].args) and not any(each.arg == "mmap" for each in calls[0].keywords)
        return set_argument(source, calls[0], "mmap", "True") if plain and not _is_stream(source, calls[0]) else ()
    except SourceError:
        return ()


def _is_load(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and dotted(node.func) == "torch.load"


def _is_stream(source: SourceFile, load: ast.Call) -> bool:
    given = load.args[0]
    if isinstance(given, ast.Call):
        return called_name(given) in _STREAMS
    opened = (item.optional_vars for node in nodes_of(source, ast.With) for item in node.items
              if isinstance(item.context_expr, ast.Call) and called_name(item.context_expr) in _STREAMS)  # fmt: skip
    bound = (target for node in nodes_of(source, ast.Assign) for target in node.targets
             if isinstance(node.value, ast.Call) and called_name(node.value) in _STREAMS)  # fmt: skip
    name = dotted(given)
    return bool(name) and name in {dotted(each) for each in (*opened, *bound) if each is not None}
