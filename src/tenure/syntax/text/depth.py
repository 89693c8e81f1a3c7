"""How deeply a file's expressions and blocks are nested: what follows them by recursion has an end."""

from __future__ import annotations

import ast
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.tree_walks import children

DEEPEST = 100
"""Levels of a syntax tree; people rarely write more than thirty."""


@lru_cache(maxsize=64)
def is_deep(source: SourceFile) -> bool:
    """Whether a file is nested deeper than a person writes; False where it cannot be parsed. A walk over its tree."""
    try:
        level: list[ast.AST] = [parse(source)]
    except SourceError:
        return False
    for _ in range(DEEPEST):
        level = [child for node in level for child in children(node)]
        if not level:
            return False
    return True
