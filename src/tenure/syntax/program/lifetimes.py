"""Containers that live as long as an object, a class or a module does, and which of them a program ever empties."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from functools import cached_property, lru_cache

from tenure.syntax.program.arguments import all_parameters, given_to
from tenure.syntax.program.functions import Binding, Function, targets_of
from tenure.syntax.program.keeping import BY_NAME, added_anew, first_turns
from tenure.syntax.program.program import Program
from tenure.syntax.program.starts import (
    class_containers,
    has_length,
    is_container,
    is_unbounded_start,
    mutable_defaults,
    started_by,
)
from tenure.syntax.text.expressions import called_name, split_receiver, value_kind
from tenure.syntax.text.kept_short import measures
from tenure.syntax.text.scopes import MODULE, dotted
from tenure.syntax.text.tree_walks import walk

INITIALISERS = frozenset(
    {"__init__", "__post_init__", "__new__", "setup", "__setstate__", "build", "__enter__", "_init", "_setup"}
    | {"__init_subclass__", "__set_name__"}
)
"""Methods in which an object gets its first attributes."""
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "remove", "discard", "truncate"})

_JOINING = frozenset({"stack", "cat", "concat", "hstack", "vstack", "cosine_similarity"})

_MOST_STEPS = 3
_MOST_CALLERS = 12


@lru_cache(maxsize=1)
def lifetimes(program: Program) -> Lifetimes:
    """The one of a program."""
    return Lifetimes(program)


class Lifetimes:
    """Looked up by the name that comes last: `rows` of `self.rows`, `ledger.rows` and `Ledger.rows`."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def is_kept_empty_at_first(self, place: str, function: Function) -> bool:
        """Whether a place that a function fills is an attribute, a global or a default that starts as an empty
        container, and so lives longer than a call."""
        name = place.rpartition(".")[2]
        if name == BY_NAME:
            return not any(each.calls_of("delattr") for each in self._program.names.functions_in(function.source))
        if "." not in place:
            is_own = name == "self" and self._is_container(function)
            return (
                is_own
                or self._is_global(name, function)
                or name in mutable_defaults(function)
                or self._is_from_around(name, function)
            )
        folder = posixpath.dirname(function.source.path)
        return (folder, name) in self._started or (place == "self.state" and self._is_optimizer(function))

    def origins(self, place: str, function: Function) -> list[tuple[str, Function]]:
        """Where a container lives on that a function fills by a name: the place itself, or what a variable or a
        parameter stands for; each with the function in which it is so called. Empty where it does not live on."""
        return list(dict.fromkeys(self._origins(place, function, 0)))

    def _origins(self, place: str, function: Function, steps: int) -> Iterator[tuple[str, Function]]:
        if self.is_kept_empty_at_first(place, function) or self.is_bounded(place, function):
            yield place, function
            return
        if place.endswith("()") and steps <= _MOST_STEPS:
            yield from self._given_back(place[:-2], function, steps)
            return
        imported = self._program.names.imported_global(place, function) if place.count(".") < 2 else None
        if imported is not None and (imported[1].source.path, imported[0]) in self._globals:
            yield imported
            yield place, function
            return
        if "." in place or steps > _MOST_STEPS or self._is_emptied_by_name(place, function):
            return
        bound = [value for _, value in function.bound.get(place, ())]
        if any(value_kind(value) in ("empty", "display") for value in bound):
            return
        for value in bound:
            receiver, name = split_receiver(value)
            if name and isinstance(value, (ast.Attribute, ast.Subscript, ast.Call)):
                yield from self._origins(f"{receiver}.{name}" if receiver else name, function, steps + 1)
            elif (
                isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "__enter__"
            ):
                yield from self._yielded(value.func.value, function, steps)
        outer = self._program.names.around(function)
        if not bound and place not in all_parameters(function) and outer is not None:
            yield from self._origins(place, outer, steps + 1)
        if not bound and place in function.parameters:
            calls = self._program.callers(function)
            for caller, call in calls if len(calls) <= _MOST_CALLERS else ():
                for value in given_to(place, function, call):
                    receiver, name = split_receiver(value)
                    if name:
                        yield from self._origins(f"{receiver}.{name}" if receiver else name, caller, steps + 1)

    def _given_back(self, called: str, function: Function, steps: int) -> Iterator[tuple[str, Function]]:
        """Where the container lives on that a method gives back: `self.stream(name).append(x)`."""
        call = next((each for each in function.calls if dotted(each.func) == called), None)
        method = self._program.called_by(call, function) if call is not None else None
        for each in method.returns if method is not None else ():
            receiver, name = split_receiver(each.value) if each.value is not None else ("", "")
            if name and method is not None:
                yield from self._origins(f"{receiver}.{name}" if receiver else name, method, steps + 1)

    def _yielded(self, manager: ast.expr, function: Function, steps: int) -> Iterator[tuple[str, Function]]:
        """Where the container lives on that a context manager yields: `with self.section(name) as rows`."""
        made = self._program.called_by(manager, function) if isinstance(manager, ast.Call) else None
        for each in made.yields if made is not None else ():
            receiver, name = split_receiver(each.value) if each.value is not None else ("", "")
            if name and made is not None:
                yield from self._origins(f"{receiver}.{name}" if receiver else name, made, steps + 1)

    def _is_emptied_by_name(self, name: str, function: Function) -> bool:
        return any(
            isinstance(call.func, ast.Attribute) and dotted(call.func.value).replace("[]", "") == name
            for call in function.calls_of(*_EMPTYING)
        ) or any(dotted(target).replace("[]", "") == name for each in function.deletes for target in each.targets)

    def is_bounded(self, place: str, function: Function) -> bool:
        """Whether a place is an attribute that starts as a container with a length: `deque(maxlen=8)`."""
        return "." in place and (posixpath.dirname(function.source.path), place.rpartition(".")[2]) in self._bounded

    def is_kept_short(self, place: str, function: Function) -> bool:
        """Whether all that empties the place stands under a look at how much it holds: `if len(self.rows) > 100`."""
        found, last = self._emptied_at(place, function), place.rpartition(".")[2]
        return bool(found) and all(any(measures(test, last) for test in _tests_around(*each)) for each in found)

    def is_emptied_by_epoch(self, place: str, function: Function) -> bool:
        """Whether all that empties the place does so once in an epoch, by its name."""
        return all("epoch" in each.name for each, _ in self._emptied_at(place, function))

    def is_emptied(self, place: str, function: Function) -> bool:
        """Whether anything in the file, or the folder, ever takes something out of a place of this name."""
        return bool(self._emptied_at(place, function))

    def _emptied_at(self, place: str, function: Function) -> list[tuple[Function, int]]:
        """Where a place is emptied: by `self` of a class of which its object may be, or by whatever other name."""
        key = (posixpath.dirname(function.source.path), place.rpartition(".")[2])
        own = function.owner if place.startswith("self.") and place.count(".") == 1 else None
        return [
            (each, line)
            for each, line, by_self in self._emptied.get(key, ())
            if not by_self or own is None or each.owner is None or self._program.share_objects(own, each.owner)
        ]

    def is_used_as_tensors(self, place: str, function: Function) -> bool:
        """Whether a torch function is given an attribute of this name, or what it holds: `torch.stack(self.rows)`."""
        return (
            "." in place and (posixpath.dirname(function.source.path), place.rpartition(".")[2]) in self._given_to_torch
        )

    @cached_property
    def _given_to_torch(self) -> set[tuple[str, str]]:
        return {
            (posixpath.dirname(function.source.path), node.attr)
            for function in self._program.functions
            for call in function.calls_of(*_JOINING)
            if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == "torch"
            for argument in call.args
            for node in walk(argument)
            if isinstance(node, ast.Attribute)
        }

    def is_emptied_at_intervals(self, place: str, function: Function) -> bool:
        """Whether all that empties the place stands under a condition that counts: `if self.step % every == 0`."""
        found = self._emptied_at(place, function)
        return bool(found) and all(_is_counted(self._program, each, line) for each, line in found)

    def _is_optimizer(self, function: Function) -> bool:
        """Whether a function is a method of a torch optimizer, whose `state` starts as an empty table."""
        bases = function.owner.bases if function.owner is not None else ()
        return any(base.rpartition(".")[2].endswith("Optimizer") for base in bases)

    def _is_global(self, name: str, function: Function) -> bool:
        is_declared = any(name in each.names for each in function.declarations if isinstance(each, ast.Global))
        is_local = any(name in _names(binding) for binding in function.bindings) or name in function.parameters
        return (is_declared or not is_local) and (function.source.path, name) in self._globals

    def _is_container(self, function: Function) -> bool:
        own = self._program.names.class_of(function.class_name, function.source) if function.class_name else None
        return own is not None and any(is_container(base) for base in own.bases)

    def _is_from_around(self, name: str, function: Function) -> bool:
        """Whether a function around binds it, once, to an empty container, and removes no hook before it ends."""
        if name in function.parameters or any(name in _names(binding) for binding in function.bindings):
            return False
        outer = self._program.names.around(function)
        while outer is not None:
            bound = outer.bound.get(name, ())
            if bound:
                starts = [value for _, value in bound if is_unbounded_start(value)]
                removes = any(called_name(call) == "remove" for call in outer.calls)
                in_loop = any(outer.loops_around(line) for line, _ in bound)
                return len(starts) == len(bound) and not removes and not in_loop
            outer = self._program.names.around(outer)
        return False

    @cached_property
    def _globals(self) -> set[tuple[str, str]]:
        tops = [each for each in self._program.functions if each.qualname == MODULE]
        return {
            (top.source.path, name)
            for top in tops
            for binding in top.bindings
            for name in started_by(binding, own=self._own_containers)
        }

    @cached_property
    def _own_containers(self) -> frozenset[str]:
        """Names of the program's classes that are containers themselves."""
        return frozenset(
            name
            for name, classes in self._program.names.classes.items()
            if all(any(is_container(base) for base in each.bases) for each in classes)
        )

    @cached_property
    def _bounded(self) -> set[tuple[str, str]]:
        """Folder and name of attributes that start as containers with a length."""
        return {
            (posixpath.dirname(function.source.path), name.rpartition(".")[2])
            for function in self._program.functions
            for name, values in function.bound.items()
            if "." in name and any(has_length(value) for _, value in values)
        }

    @cached_property
    def _started(self) -> set[tuple[str, str]]:
        """Folder and name of attributes that start as empty containers."""
        found = set()
        for function in self._program.functions:
            folder = posixpath.dirname(function.source.path)
            is_first = function.name in INITIALISERS
            for binding in function.bindings:
                names = started_by(binding, is_first, self._own_containers)
                found |= {(folder, name.rpartition(".")[2]) for name in names if "." in name}
        for classes in self._program.names.classes.values():
            for each in classes:
                found |= {(posixpath.dirname(each.source.path), name) for name in class_containers(each)}
        return found

    @cached_property
    def _emptied(self) -> dict[tuple[str, str], list[tuple[Function, int, bool]]]:
        """Folder and name of what is emptied, with where, and whether `self` has it there."""
        found: dict[tuple[str, str], list[tuple[Function, int, bool]]] = {}
        for function in self._program.functions:
            folder = posixpath.dirname(function.source.path)
            for line, place in _emptied_in(function):
                by_self = place.startswith("self.") and place.count(".") == 1
                found.setdefault((folder, place.rpartition(".")[2]), []).append((function, line, by_self))
        return found


def _starts_anew(binding: Binding, function: Function) -> bool:
    """`self.outputs[device] = {}`, but not where a key has its first value: under `if device not in self.outputs`."""
    counted = {dotted(each.target) for each in function.bindings if isinstance(each, ast.AugAssign)}
    keys = [target.slice for target in targets_of(binding) if isinstance(target, ast.Subscript)]
    if any(dotted(key) in counted for key in keys):
        return False  # each key has its own
    return is_unbounded_start(binding.value) and not any(
        isinstance(op, ast.NotIn)
        for test in _tests_around(function, binding.lineno)
        for node in walk(test)
        if isinstance(node, ast.Compare)
        for op in node.ops
    )


def _names(binding: ast.stmt | ast.NamedExpr) -> list[str]:
    parts = [part for target in targets_of(binding) for part in getattr(target, "elts", [target])]  # type: ignore[arg-type]
    return [dotted(part) for part in parts]


def _emptied_in(function: Function) -> Iterator[tuple[int, str]]:
    """Line and place of what a function empties, cuts or replaces by something else than an empty start."""
    for call in function.calls_of(*_EMPTYING):
        if isinstance(call.func, ast.Attribute):
            yield call.lineno, _plain(call.func.value)
            if isinstance(call.func.value, ast.Name):
                yield from ((call.lineno, name) for name in _aliased(call.func.value.id, function))
    for delete in function.deletes:
        yield from ((delete.lineno, _plain(target)) for target in delete.targets)
    declared = {name for each in function.declarations for name in each.names}
    for binding in function.bindings:
        for name in _names(binding):
            if name in declared and isinstance(binding, ast.Assign) and not _is_joined(binding, name):
                yield binding.lineno, name
            if function.qualname == MODULE and is_unbounded_start(binding.value):
                continue
            if name.partition(".")[0] in function.defined and is_unbounded_start(binding.value):
                continue  # what a function that is defined there starts with
            if "." in name and not isinstance(binding, ast.AugAssign) and function.name not in INITIALISERS:
                if binding.lineno in first_turns(function, name):
                    continue
                if _is_joined(binding, name) or dotted(binding.value) == name.rpartition(".")[2]:
                    continue  # all that was there stays, or is what goes by this name elsewhere
                if not name.endswith("[]"):
                    yield binding.lineno, name
                elif (
                    (isinstance(binding.value, ast.List) and binding.value.elts)
                    or _is_part_of(binding.value, name)
                    or _starts_anew(binding, function)
                ):
                    yield binding.lineno, name.replace("[]", "")


def _is_joined(binding: Binding, name: str) -> bool:
    """`self.bank = torch.cat([self.bank, x])`, `self.rows = [*self.rows, x]`: all that was there stays."""
    is_alone = any(dotted(target).replace("[]", "") == name for target in targets_of(binding))
    return is_alone and binding.value is not None and next(added_anew(binding.value, name), None) is not None


def _aliased(name: str, function: Function) -> Iterator[str]:
    """Attributes that a variable stands for, or goes through the values of: `for rows in self.states.values()`."""
    values = [each.value for each in function.bindings if name in _names(each) and each.value is not None]
    values += [each.iter for each in function.loops if not isinstance(each, ast.While) and name in _stored(each.target)]
    nodes = (node for value in values for node in walk(value) if isinstance(node, ast.Attribute))
    yield from (dotted(node) or node.attr for node in nodes)


def _stored(target: ast.expr) -> set[str]:
    return {node.id for node in walk(target) if isinstance(node, ast.Name)}


def _is_part_of(value: ast.expr | None, name: str) -> bool:
    """Whether a value is cut from the place that it goes to: `self.rows[key] = self.rows[key][-8:]`."""
    return isinstance(value, ast.Subscript) and dotted(value.value) == name


def _plain(node: ast.expr) -> str:
    return dotted(node).replace("[]", "")


def _is_counted(program: Program, function: Function, line: int) -> bool:
    """Whether a line is under `if … % …`, here or where the function is called."""
    if any(_counts(test) for test in _tests_around(function, line)):
        return True
    callers = program.callers(function)
    return any(any(_counts(test) for test in _tests_around(caller, call.lineno)) for caller, call in callers)


def _tests_around(function: Function, line: int) -> Iterator[ast.expr]:
    for node in walk(function.node):
        if isinstance(node, (ast.If, ast.While)) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or line):
            yield node.test


def _counts(test: ast.expr) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) for node in walk(test))
