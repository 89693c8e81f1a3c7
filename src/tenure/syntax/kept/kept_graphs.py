"""Values with an autograd graph that a program keeps from step to step, across its functions and files."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tenure.model.source import SourceFile
from tenure.syntax.program.functions import Function, is_in_body, targets_of
from tenure.syntax.program.keeping import BY_NAME, Keep, declared_in, is_emptied, keeps_of, outlives
from tenure.syntax.program.program import Program
from tenure.syntax.program.short_lives import is_short_lived
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import LoopNode, dotted
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.text.value_parts import bound_names, gone_through
from tenure.syntax.values.graph_values import CUTTING, GraphValues, Returned, backward_roots, is_loss_value, modules_of
from tenure.syntax.values.tensor_values import tensor_values
from tenure.syntax.values.without_graph import is_without_graph

_ROUNDS = 3
"""So many calls deep a value is followed from the function that made it."""


@dataclass(frozen=True)
class KeptGraph:
    """`is_loss`: what is kept is a loss, by its name or by what it comes from."""

    function: Function
    keep: Keep
    is_loss: bool


@lru_cache(maxsize=1)
def find_kept_graphs(program: Program) -> tuple[KeptGraph, ...]:
    """All of a program, in the order of its files. Costs some microseconds per function, more where one trains."""
    return tuple(_find(program))


def _find(program: Program) -> Iterator[KeptGraph]:
    followed = _Followed(program)
    further = tensor_values(program)
    for function in program.functions:
        values = followed.values.get(function)
        if values is None:
            kept = (each for each in keeps_of(function) if _is_kept_in_own_loop(program, each, function))
            kept = (each for each in kept if not _is_own_method(program, each, function))
            yield from (KeptGraph(function, each, is_loss_value(each.value)) for each in kept)
            continue
        for keep in keeps_of(function):
            loop = next(
                (each for each in reversed(function.loops_around(keep.node.lineno)) if values.works_in(each)), None
            )
            if (
                keep.kind == "batch"
                or keep.place.endswith(("()", BY_NAME))
                or not outlives(keep, function, loop)
                or is_emptied(keep, function, loop)
            ):
                continue
            if _is_what_it_computes(program, keep, function, values) or _is_own_method(program, keep, function):
                continue
            if values.goes_backward(keep.place) or is_without_graph(program, function, keep.node):
                continue
            carries = values.carries(keep.value) or further.kind(keep.value, function) is Kind.GRAPH
            if not carries or goes_backward_somewhere(program, keep, function):
                continue
            if not _goes_with_its_object(program, keep, function):
                yield KeptGraph(function, keep, values.is_loss(keep.value))


def _is_kept_in_own_loop(program: Program, keep: Keep, function: Function) -> bool:
    """Whether a loop of a function that runs no module itself gathers in a variable what it was given with a graph,
    and neither gives back nor runs backward through what is made of it."""
    loops = function.loops_around(keep.node.lineno)
    if keep.kind != "element" or not loops or not keep.place.isidentifier() or program.is_part_of_module(function):
        return False
    if keep.place in function.parameters or not outlives(keep, function, loops[-1]):
        return False
    if is_emptied(keep, function, loops[-1]) or not _is_made_in(loops[-1], keep.value, function):
        return False
    given_back = [each.value for each in (*function.returns, *function.yields) if each.value is not None]
    if _is_handed_on(keep.place, function) or keep.place in read_by(given_back, function):
        return False
    if tensor_values(program).kind(keep.value, function) is not Kind.GRAPH:  # the dearest question comes last
        return False
    return not (goes_backward_somewhere(program, keep, function) or is_without_graph(program, function, keep.node))


def _is_handed_on(name: str, function: Function) -> bool:
    """Whether a variable is stored, or given to more than is asked of a list."""
    stored = [value for values in function.contents.values() for value in values]
    stored += [value for place, values in function.bound.items() for _, value in values if place != name]
    if any(isinstance(each, ast.Name) and each.id == name for value in stored for each in walk(value)):
        return True
    return any(called_name(call) not in ("len", "print") for call in function.handing.get(name, ()))


def _is_made_in(loop: LoopNode, value: ast.expr, function: Function) -> bool:
    """Whether each turn of a loop binds what a value is made of, or calls what makes it."""
    if isinstance(value, ast.Call):
        return True
    names = {node.id for node in walk(value) if isinstance(node, ast.Name)}
    if any(is_in_body(line, loop) for name in names for line, _ in function.bound.get(name, ())):
        return True
    called = (dotted(call.func).partition(".") for call in function.calls if is_in_body(call.lineno, loop))
    return isinstance(value, ast.Attribute) and any(method and name in names for name, _, method in called)


def _goes_with_its_object(program: Program, keep: Keep, function: Function) -> bool:
    """Whether the place is of an object that each turn makes for itself: an episode, a pass."""
    is_own = keep.place.startswith("self.") and function.owner is not None
    return is_own and function.owner is not None and is_short_lived(program, function.owner)


class _Followed:
    """Functions in which values with graphs are met: those that train, that run modules over data, and what they call
    with such values."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.values: dict[Function, GraphValues] = {}
        self.given: dict[Function, set[str]] = {}
        self.losses: dict[Function, set[str]] = {}
        self._returned: set[Function] = set()
        self._returning: dict[Function, Returned] = {}
        waiting = [
            function for function in program.functions if backward_roots(function) or _runs_modules(program, function)
        ]
        for _ in range(_ROUNDS):
            for function in waiting:
                self.values[function] = GraphValues(
                    program,
                    function,
                    self.given.get(function, ()),
                    loss_parameters=self.losses.get(function, ()),
                    returns_go_backward=function in self._returned,
                    returning=self._returning,
                )
            waiting = list(dict.fromkeys(each for function in waiting for each in self._follow(function)))

    def _follow(self, function: Function) -> Iterator[Function]:
        """Functions that are given more than was known."""
        values = self.values[function]
        returned = values.returned
        if any(returned) and self._returning.get(function) != returned:
            self._returning[function] = returned
            yield from (caller for caller, _ in self._program.callers(function))
        on_the_way = {id(call) for call in values.called_on_the_way}
        for call in function.calls:
            called = self._program.called_by(call, function)
            if called is None or called is function:
                continue
            if id(call) in on_the_way and called not in self._returned:
                self._returned.add(called)
                yield called
            names = {name for name, given in _arguments(called, call) if values.carries(given)}
            losses = {name for name, given in _arguments(called, call) if name in names and values.is_loss(given)}
            self.losses.setdefault(called, set()).update(losses)
            if not names <= self.given.get(called, set()):
                self.given.setdefault(called, set()).update(names)
                yield called


def _arguments(called: Function, call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    names = called.parameters[1:] if called.is_method else called.parameters
    yield from zip(names, call.args, strict=False)
    yield from ((each.arg, each.value) for each in call.keywords if each.arg)


def _runs_modules(program: Program, function: Function) -> bool:
    """Whether a function that is no part of a model calls one: what it keeps, no caller asked for."""
    if program.is_part_of_module(function):
        return False
    return any(dotted(call.func) in modules_of(program, function) for call in function.calls)


def _is_what_it_computes(program: Program, keep: Keep, function: Function, values: GraphValues) -> bool:
    """Whether the place is a variable of a function that is a part of a model, or that only hands over its result."""
    if "." in keep.place or keep.place in declared_in(function):
        return False
    if program.is_part_of_module(function):
        return True
    used = {dotted(node) for node in walk(keep.value) if isinstance(node, (ast.Name, ast.Attribute))}
    trains = bool((used - {"self", "cls"}) & _read_by_own_backward(function))
    trains = trains or _comes_from_training(program, keep, function)
    returned = (each.value for each in function.returns if each.value is not None)
    return not trains and any(
        (isinstance(value, ast.Name) and value.id == keep.place)
        or (keep.place in _names_in(value) and values.carries(value))
        for value in returned
    )


@lru_cache(maxsize=64)
def _read_by_own_backward(function: Function) -> set[str]:
    return read_by(backward_roots(function), function)


def _comes_from_training(program: Program, keep: Keep, function: Function) -> bool:
    """Whether the value is what a function gives that has run backward itself: `loss = train_step(model, batch)`."""
    names = [text[:-2] for text in read_by([keep.value], function) if text.endswith("()")]
    called = (program.called_by(call, function) for call in function.calls_of(*names))
    return any(each is not None and bool(backward_roots(each)) for each in called)


def _names_in(value: ast.expr) -> set[str]:
    return {each.id for each in walk(value) if isinstance(each, ast.Name)}


def _is_own_method(program: Program, keep: Keep, function: Function) -> bool:
    """`window.add(loss)` of a class of the program: what its method does is looked at there."""
    if not isinstance(keep.node, ast.Call):
        return False
    return program.called_by(keep.node, function) is not None or bool(program.may_call(keep.node, function))


def goes_backward_somewhere(program: Program, keep: Keep, function: Function) -> bool:
    """Whether some function of the file runs backward through what the place holds: log-probabilities of an episode."""
    last = keep.place.rpartition(".")[2]
    texts = read_by_backward(program, function.source)
    return keep.place in texts or ("." in keep.place and f".{last}" in texts)


@lru_cache(maxsize=256)
def read_by_backward(program: Program, source: SourceFile) -> frozenset[str]:
    """Variables and attributes of a file that backward passes are computed from, by any chain of bindings in their
    function; of attributes the last name as well, with its dot."""
    found = {
        text
        for each in program.names.functions_in(source)
        if (roots := backward_roots(each))
        for text in read_by(roots, each)
    }
    return frozenset(found | {f".{text.rpartition('.')[2]}" for text in found if "." in text})


def read_by(roots: Sequence[ast.expr], function: Function) -> set[str]:
    """What values are computed from in a function: variables, attributes, and calls (`f()`)."""
    bound_to = _bound_to(function)
    seen: set[str] = set()
    waiting: list[ast.AST] = [*roots]
    while waiting:
        for node in _walk_uncut(waiting.pop()):
            if isinstance(node, ast.Call):
                seen.add(f"{called_name(node)}()")
            if isinstance(node, (ast.Name, ast.Attribute)):
                text = dotted(node)
                if text and text not in seen:
                    seen.add(text)
                    waiting += bound_to.get(text, ())
    return seen


def _walk_uncut(value: ast.AST) -> Iterator[ast.AST]:
    """A value and its parts, but nothing below a call that cuts the graph."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.Call) or (called_name(node) not in CUTTING and called_name(node) != "len"):
            yield node
            waiting += children(node)


@lru_cache(maxsize=64)
def _bound_to(function: Function) -> dict[str, list[ast.expr]]:
    """What a function binds each variable or attribute to, or goes through with it."""
    found: dict[str, list[ast.expr]] = {}
    for binding in function.bindings:
        if binding.value is not None:
            for name in dict.fromkeys(name for target in targets_of(binding) for name in bound_names(target)):
                found.setdefault(name, []).append(binding.value)
    for loop in function.loops:
        if isinstance(loop, ast.For):
            for name, value in gone_through(loop.target, loop.iter):
                found.setdefault(name, []).append(value)
    return found
