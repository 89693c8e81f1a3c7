"""Methods of modules that are cached with their `self` among the keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program import Function, Program
from tenure.syntax.scopes import decorator_name

_CACHES = frozenset({"cache", "lru_cache", "functools.cache", "functools.lru_cache"})


def find_cached_methods(program: Program) -> Iterator[Function]:
    """Those of modules alone: what a small object of settings caches keeps no tensors."""
    for function in program.functions:
        cached = function.is_method and function.parameters[0] == "self" and _decorators(function)
        if cached and program.is_part_of_module(function):
            yield function


def cache_decorator(function: Function) -> ast.expr:
    """The decorator that caches it."""
    return _decorators(function)[0]


def _decorators(function: Function) -> list[ast.expr]:
    if isinstance(function.node, ast.Module):
        return []
    return [each for each in function.node.decorator_list if decorator_name(each) in _CACHES]
