"""The best so far, with its graph: `if loss < self.best: self.best = loss`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from tenure.syntax.kept.kept_graphs import KeptGraph, goes_backward_somewhere
from tenure.syntax.program.functions import Function, pairs_of
from tenure.syntax.program.keeping import Keep
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import runs_repeatedly
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import dotted, statements
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.graph_values import is_loss_value
from tenure.syntax.values.tensor_values import tensor_values
from tenure.syntax.values.without_graph import is_without_graph


@lru_cache(maxsize=1)
def find_best_so_far(program: Program) -> tuple[KeptGraph, ...]:
    """Values with a graph that are kept until a better one comes, by what they are compared with: the value that is
    compared, and attributes that are set beside it."""
    return tuple(found for function in program.functions for found in _of(program, function))


def _of(program: Program, function: Function) -> Iterator[KeptGraph]:
    simple = (ast.Name, ast.Attribute, ast.Tuple)
    plain = {id(each) for each in function.bindings if isinstance(each, ast.Assign) and isinstance(each.value, simple)}
    for node in statements(function.node.body) if plain else ():
        if isinstance(node, ast.If) and any(id(each) in plain for each in node.body):
            compared = {dotted(side) for test in _comparisons(node.test) for side in (test.left, test.comparators[0])}
            keeps = [keep for each in node.body if isinstance(each, ast.Assign) for keep in _keeps(each)]
            if any(keep.place in compared and dotted(keep.value) in compared for keep in keeps):
                yield from _told(program, function, keeps, compared)


def _keeps(binding: ast.Assign) -> Iterator[Keep]:
    for target, value in pairs_of(binding):
        if value is not None and dotted(target):
            yield Keep("sum", dotted(target), value, binding)


def _told(program: Program, function: Function, keeps: list[Keep], compared: set[str]) -> Iterator[KeptGraph]:
    """At most one for each statement."""
    told: set[int] = set()
    for keep in keeps:
        is_best = "." in keep.place or keep.place in compared
        if is_best and id(keep.node) not in told and _is_kept(program, function, keep):
            told.add(id(keep.node))
            yield KeptGraph(function, keep, is_loss_value(keep.value))


def _comparisons(test: ast.expr) -> Iterator[ast.Compare]:
    orders = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
    for node in walk(test):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], orders):
            yield node


def _is_kept(program: Program, function: Function, keep: Keep) -> bool:
    if is_without_graph(program, function, keep.node) or program.is_part_of_module(function):
        return False
    if tensor_values(program).kind(keep.value, function) is not Kind.GRAPH:
        return False
    return runs_repeatedly(program, function, keep.node) and not goes_backward_somewhere(program, keep, function)
