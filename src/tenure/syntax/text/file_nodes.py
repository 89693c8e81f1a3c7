"""The nodes of a file by their kind: found in one walk, as long as findings ask about few files."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.tree_walks import walk

Node = TypeVar("Node", bound=ast.AST)


def nodes_in(source: SourceFile) -> Iterable[ast.AST]:
    """All nodes of a file as `walk` gives them; none where it cannot be parsed."""
    try:
        return walk(parse(source))
    except SourceError:
        return ()


def nodes_of(source: SourceFile, kind: type[Node]) -> Sequence[Node]:
    """Those of one kind in a file, level by level as `walk` gives them. The first time a walk, then a look-up.

    Raises SourceError as `parse` does.
    """
    found: Sequence[Node] = _nodes_of(source, cast("Hashable", kind))
    return found


@lru_cache(maxsize=64)
def _nodes_of(source: SourceFile, kind: Any) -> Sequence[Any]:
    found = [each for known, them in _by_kind(source).items() if issubclass(known, kind) for each in them]
    return [node for _, node in sorted(found, key=lambda each: each[0])]


@lru_cache(maxsize=8)
def _by_kind(source: SourceFile) -> dict[type, list[tuple[int, ast.AST]]]:
    """Each with its place in the walk."""
    found: dict[type, list[tuple[int, ast.AST]]] = {}
    for at, node in enumerate(walk(parse(source))):
        found.setdefault(type(node), []).append((at, node))
    return found
