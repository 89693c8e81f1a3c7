"""A checkpoint that takes no memory of the device while it is loaded: `torch.load(path, mmap=True)`, or
`map_location="cpu"`."""

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


def load_to_host(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edit by which the one `torch.load` of the statement around `line` reads into the host's memory; none where
    it says itself where to."""
    load = _only_load(source, line)
    placed = load is None or len(load.args) > 1 or any(each.arg in ("map_location", None) for each in load.keywords)
    return () if load is None or placed else set_argument(source, load, "map_location", '"cpu"')


def map_load(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edit that maps what that call reads.

    None where it says itself whether to map, and where it is given an open file or a buffer: only files that have a
    name can be mapped (torch 2.1 and later).
    """
    load = _only_load(source, line)
    told = load is None or any(each.arg in ("mmap", None) for each in load.keywords)
    return () if load is None or told or _is_stream(source, load) else set_argument(source, load, "mmap", "True")


def _only_load(source: SourceFile, line: int) -> ast.Call | None:
    """The one call of the statement around the line; None where there are several, or it is given no file."""
    try:
        statements = (each for kind in _STATEMENTS for each in nodes_of(source, kind) if spans(each, [line]))
        calls = [node for statement in statements for node in walk(statement) if _is_load(node)]
    except SourceError:
        return None
    return calls[0] if len(calls) == 1 and calls[0].args else None


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
