"""Functions whose results are cached and that so keep tensors: as results, as arguments, or through their `self`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import decorator_name, dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.graph_values import is_module_name
from tenure.syntax.values.tensor_values import TensorValues, tensor_values

_CACHES = frozenset({"cache", "lru_cache"})
_HOLDS_MODULES = re.compile(r"(^|_)(teacher|student|agent|learner|trainer|pipeline)$")
_FEW = 32
"""So many results are nobody's leak."""


@dataclass(frozen=True)
class CachedFunction:
    """`keeps` says what: "self", "its results" or a parameter's name."""

    function: Function
    keeps: str

    @property
    def head(self) -> ast.stmt:
        """The line of its `def`, as a statement of its own."""
        node = self.function.node
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        return ast.Pass(lineno=line, col_offset=column, end_lineno=line, end_col_offset=column + 3)


def find_cached(program: Program) -> Iterator[CachedFunction]:
    """All of a program. A method of a module is told whatever the cache's size, of another object that holds tensors,
    and a function that is given tensors or modules, where the cache has room for many; results alone where it has no
    bound."""
    values = tensor_values(program)
    makers = {each.name for each in program.functions if _makes_caches(each)}
    for function in program.functions:
        for decorator in getattr(function.node, "decorator_list", ()):
            name = decorator_name(decorator).rpartition(".")[2]
            if name in _CACHES or name in makers:
                keeps = _kept(program, function, values, _size(decorator) if name in _CACHES else None)
                if keeps:
                    yield CachedFunction(function, keeps)
                    break


def _kept(program: Program, function: Function, values: TensorValues, size: int | None) -> str:
    is_few = size is not None and size <= _FEW
    if function.is_method and function.parameters[0] == "self":
        is_told = program.is_part_of_module(function) or (not is_few and _holds_tensors(program, function, values))
        return "self" if is_told else ""
    if is_few:
        return ""
    for parameter in function.parameters:
        if is_module_name(parameter) or _is_used_as_tensor(function, parameter):
            return parameter
    is_open = size is None and function.parameters and not _is_cleared(program, function)
    return "its results" if is_open and values.returned(function) else ""


def _is_cleared(program: Program, function: Function) -> bool:
    """Whether the program empties the cache: `masks.cache_clear()`, by whatever object."""
    return any(
        isinstance(call.func, ast.Attribute) and dotted(call.func.value).rpartition(".")[2] == function.name
        for caller in program.calling.get("cache_clear", ())
        for call in caller.calls_of("cache_clear")
    )


def _holds_tensors(program: Program, function: Function, values: TensorValues) -> bool:
    own = program.names.class_of(function.class_name, function.source)
    for method in own.methods.values() if own is not None else ():
        for name, bound in method.bound.items():
            if name.startswith("self.") and name.count(".") == 1:
                if is_module_name(name) or _HOLDS_MODULES.search(name.rpartition(".")[2]):
                    return True
                if any(values.kind(value, method) for _, value in bound):
                    return True
    return bool(values.returned(function))


def _size(decorator: ast.expr) -> int | None:
    """How many results a cache has room for; None where there is no bound."""
    if not isinstance(decorator, ast.Call):
        return None if decorator_name(decorator).endswith("cache") and "lru" not in dotted(decorator) else 128
    given = [*decorator.args, *(each.value for each in decorator.keywords if each.arg == "maxsize")]
    size = given[0] if given else None
    if size is None:
        return 128
    return size.value if isinstance(size, ast.Constant) and isinstance(size.value, int) else None


def _makes_caches(function: Function) -> bool:
    """Whether a function of the program gives back its argument under a cache: a decorator of its own."""
    return any(
        isinstance(each.value, ast.Call)
        and isinstance(each.value.func, ast.Call)
        and called_name(each.value.func) in _CACHES
        for each in function.returns
    )


def _is_used_as_tensor(function: Function, parameter: str) -> bool:
    """Whether a parameter is indexed as only tensors are: `labels[:, None]`."""
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == parameter
        and isinstance(node.slice, ast.Tuple)
        and any(
            isinstance(each, (ast.Slice, ast.Constant)) and getattr(each, "value", None) is None
            for each in node.slice.elts
        )
        for node in walk(function.node)
    )


def _is_dimension(index: ast.expr) -> bool:
    """`:` or `None` within an index."""
    return isinstance(index, ast.Slice) or (isinstance(index, ast.Constant) and index.value is None)
