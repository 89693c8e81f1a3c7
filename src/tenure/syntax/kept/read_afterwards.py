"""Whether a program goes through a container once its work is done, and uses what each entry holds: snapshots that are
averaged in the end, samples that are all asked for a prediction.

What a loop goes through in every turn, every epoch or every request, and never empties, is no such container; it is one
of another kind where entries come as seldom as tasks do: each turn goes through the tests of all tasks so far.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.model.source import SourceFile
from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Comprehension, Function
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import is_known_to_run, runs_repeatedly
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.mentions import mentions
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import children, walk
from tenure.syntax.text.value_parts import gone_through

_SAME_ENTRIES = frozenset({"sorted", "list", "tuple", "reversed", "iter", "values", "items"})
_BY_NAME = frozenset({"items", "keys", "values", "named_parameters", "parameters", "named_buffers", "buffers"})
_JOINING = ("cat", "concat", "concatenate", "stack", "vstack", "hstack")
_TAKING = frozenset({"pop", "popleft", "popitem"})
_ASKING = frozenset(
    {"len", "print", "repr", "str", "format", "isinstance", "type", "id", "float", "int", "bool"}
    | {"append", "add", "extend", "insert", "write", "info", "debug", "log"}
)
"""Calls that need no tensor of an entry, or hand it on to another container."""


def line_that_reads_all(
    program: Program, source: SourceFile, line: int, name: str, field: str = "", *, in_turns: bool = False
) -> tuple[str, int]:
    """The file and line of a loop or comprehension which the program runs once, that goes through what the statement at
    `line` fills, an attribute or a variable `name`, and uses each entry's tensors: those of its attribute `field` where
    that is given; `in_turns`, of one that it may run again and again. ("", 0) where there is none.

    Parts of it (`rows[-3:]`, `max(rows, key=...)`) and what is asked of entries alone (`len(row)`, `row.score`) are not
    all of it. By names: an attribute of `self` is that of the class around the line. A function that is given the
    container, once, may be the one that goes through it.
    """
    filling = next((each for each in program.names.functions_in(source) if _spans(each, line)), None)
    if filling is None:
        return "", 0
    for function in (each for each in program.functions if mentions(each.source, name)):
        reader = _Reader(function, filling, name)
        for place, reading in _readings(program, reader, field, in_turns=in_turns):
            if is_known_to_run(program, function) and (in_turns or _runs_once(program, function, place)):
                return reading
    return "", 0


def _readings(
    program: Program, reader: _Reader, field: str, *, in_turns: bool
) -> Iterator[tuple[ast.AST, tuple[str, int]]]:
    """What a function does that reads all, with the file and line of the loop: a loop of its own, or a call of one that
    has it."""
    for reading in reader.readings(field):
        yield reading, (reader.function.source.path, reading.lineno)
    for call, other in reader.handed_on(program):
        for reading in other.readings(field):
            if in_turns or not _in_turns(other.function, reading):
                yield call, (other.function.source.path, reading.lineno)


def _runs_once(program: Program, function: Function, place: ast.AST) -> bool:
    return not _in_turns(function, place) and not runs_repeatedly(program, function)


def _in_turns(function: Function, place: ast.AST) -> bool:
    """Whether a loop runs it again and again; those that go from one parameter to the next aside."""
    around = [each for each in function.loops_around(getattr(place, "lineno", 0)) if each is not place]
    by_name = (isinstance(each, ast.For) and isinstance(each.iter, ast.Call) and called_name(each.iter) in _BY_NAME
               for each in around)  # fmt: skip
    return not all(by_name)


Reading = ast.For | ast.AsyncFor | ast.While | ast.Call | Comprehension


def _spans(function: Function, line: int) -> bool:
    node = function.node
    return not isinstance(node, ast.Module) and node.lineno <= line <= (node.end_lineno or 0)


class _Reader:
    """One function, seen as one that may go through the container which `filling` adds to, which it may have been given
    as a `parameter`."""

    def __init__(self, function: Function, filling: Function, name: str, parameter: str = "") -> None:
        self.function, self._filling, self._name = function, filling, name
        self._same_class = function.owner is not None and function.owner is filling.owner
        self._aliases = {parameter} if parameter else set()
        self._aliases.update(name for name, values in function.bound.items() if any(map(self._is_it, _of(values))))

    def readings(self, field: str) -> Iterator[Reading]:
        """Loops and comprehensions through all entries that use each one's tensors, or take one after the other out."""
        loops = [each for each in self.function.loops if not isinstance(each, ast.While)]
        for loop in loops:
            entries = {name for name, of in gone_through(loop.target, loop.iter) if self._is_it(of)}
            if entries and any(self._uses(each, entries, field) for each in loop.body):
                yield loop
        yield from (each for each in self.function.loops if isinstance(each, ast.While) and self._drains(each))
        for call in self.function.calls_of(*_JOINING) if not field else ():
            if call.args and self._is_it(call.args[0]):
                yield call
        for made in self.function.comprehensions:
            through = (pair for each in made.generators for pair in gone_through(each.target, each.iter))
            entries = {name for name, of in through if self._is_it(of)}
            if entries and any(self._uses(each, entries, field) for each in _inside(made)):
                yield made

    def handed_on(self, program: Program) -> Iterator[tuple[ast.Call, _Reader]]:
        """Calls that give the container to a function of the program, with that one."""
        for call in self.function.calls:
            given = (*call.args, *(each.value for each in call.keywords))
            called = program.called_by(call, self.function) if any(map(self._is_it, given)) else None
            if called is None:
                continue
            for name in called.parameters:
                if any(map(self._is_it, given_to(name, called, call))):
                    yield call, _Reader(called, self._filling, self._name, name)

    def _is_it(self, node: ast.expr) -> bool:
        """Whether an expression is the container, or has the same entries."""
        if isinstance(node, ast.Call):
            of = node.func.value if isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
            return called_name(node) in _SAME_ENTRIES and of is not None and self._is_it(of)
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Slice) and _leaves_few_out(node.slice) and self._is_it(node.value)
        if isinstance(node, ast.Name):
            return node.id in self._aliases or self._is_variable(node.id) or self._goes_through_itself(node.id)
        return isinstance(node, ast.Attribute) and node.attr == self._name and self._is_of_owner(node.value)

    def _is_variable(self, name: str) -> bool:
        return name == self._name and self.function is self._filling

    def _is_of_owner(self, owner: ast.expr) -> bool:
        return self._same_class or dotted(owner) not in ("self", "cls")

    def _goes_through_itself(self, name: str) -> bool:
        """`for row in self`, where `__iter__` goes through the container."""
        owner = self.function.owner
        iterates = owner.methods.get("__iter__") if name == "self" and self._same_class and owner else None
        return iterates is not None and any(
            isinstance(each, ast.Attribute) and each.attr == self._name for each in walk(iterates.node)
        )

    def _uses(self, node: ast.AST, entries: set[str], field: str) -> bool:
        """Whether one of the entries' tensors goes into a call, an operation or a loop below the node."""
        below = list(walk(node))
        if field:
            return any(_has_field(each, entries, field) or self._is_shown_with(each, entries, field) for each in below)
        used = (part for each in below for part in _tensors_used_by(each))
        return any(_is_entry(part, entries) for part in used) or any(self._looks_up(each, entries) for each in below)

    def _drains(self, loop: ast.While) -> bool:
        """`while self.points: ... self.points.pop(0)`, there or in a method of the object that the loop calls."""
        asked = loop.test.args[0] if isinstance(loop.test, ast.Call) and loop.test.args else loop.test
        if not self._is_it(asked):
            return False
        called = {
            each.func.attr for each in walk(loop) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
        }
        methods = self.function.owner.methods if self.function.owner is not None and self._same_class else {}
        bodies = [loop, *(methods[name].node for name in sorted(called & set(methods)))]
        return any(self._is_taken_out(each) for body in bodies for each in walk(body))

    def _is_taken_out(self, node: ast.AST) -> bool:
        """Whether a value is bound to, or made of, an entry that is taken out of the container."""
        if not isinstance(node, (ast.Assign, ast.Return, ast.For, ast.NamedExpr)):
            return False
        called = (each.func for each in walk(node) if isinstance(each, ast.Call))
        methods = (each for each in called if isinstance(each, ast.Attribute))
        return any(each.attr in _TAKING and self._is_it(each.value) for each in methods)

    def _looks_up(self, node: ast.AST, keys: set[str]) -> bool:
        """`self.vectors[name]`, where a loop goes through the keys."""
        return isinstance(node, ast.Subscript) and self._is_it(node.value) and _is_entry(node.slice, keys)

    def _is_shown_with(self, node: ast.AST, entries: set[str], field: str) -> bool:
        """`[row.weights for row in (*chosen, entry)]`."""
        if not isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return False
        for each in node.generators:
            held = {part.id for part in children(each.iter) if isinstance(part, ast.Name)}
            if isinstance(each.iter, (ast.Tuple, ast.List)) and held & entries:
                return self._uses(node.elt, set(dict(gone_through(each.target, each.iter))), field)
        return False


def _is_entry(node: ast.AST, entries: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in entries


def _has_field(node: ast.AST, entries: set[str], field: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == field and _is_entry(node.value, entries)


def _inside(made: Comprehension) -> list[ast.expr]:
    """What a comprehension runs for each element of what it goes through first."""
    elements = [made.key, made.value] if isinstance(made, ast.DictComp) else [made.elt]
    return elements + [each.iter for each in made.generators[1:]]


def _of(values: list[tuple[int, ast.expr]]) -> Iterator[ast.expr]:
    return (value for _, value in values)


def _leaves_few_out(part: ast.Slice) -> bool:
    """`[:]` and `[1:]`, not the last or the first few."""
    first = part.lower is None or isinstance(part.lower, ast.Constant)
    return part.upper is None and first


def _tensors_used_by(node: ast.AST) -> Iterator[ast.expr]:
    """What an expression or statement needs the tensors of."""
    if isinstance(node, ast.Call):
        if called_name(node) not in _ASKING:
            yield from (*node.args, *(each.value for each in node.keywords))
        if called_name(node) in ("values", "items") and isinstance(node.func, ast.Attribute):
            yield node.func.value
    elif isinstance(node, ast.BinOp):
        yield from (node.left, node.right)
        yield from (each.value for each in (node.left, node.right) if isinstance(each, ast.Attribute))
    elif isinstance(node, ast.AugAssign):
        yield node.value
    elif isinstance(node, ast.Subscript):
        yield from () if isinstance(node.slice, ast.Constant) else (node.value,)
