"""The files of a program as functions and classes, with what each function calls, binds and returns.

Calls are resolved by name, and only where one definition is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.program.applications import APPLYING, FOR_EACH, application
from tenure.syntax.program.bound_values import entered
from tenure.syntax.program.class_tree import ClassTree, is_module_base
from tenure.syntax.program.file_walk import FileWalk
from tenure.syntax.program.functions import Class, Function, pairs_of, takes
from tenure.syntax.program.names import Names
from tenure.syntax.program.objects import Objects
from tenure.syntax.program.property_reads import item_writes, property_reads, property_writes
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted

_METHODS_OF_CONTAINERS = frozenset(name for kind in (list, dict, set, str, tuple) for name in dir(kind))
_METHODS_OF_TENSORS = frozenset(
    {"detach", "clone", "cpu", "cuda", "to", "item", "mean", "sum", "norm", "backward", "view", "reshape", "size"}
    | {"split", "chunk", "float", "half", "long", "flatten", "squeeze", "unsqueeze", "square", "max", "min", "sort"}
)
_CONTAINERS = frozenset({"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "field"})
_MOST_MEANT = 3
"""A name that more functions share means none of them."""
_MOST_NAMED = 12
_MOST_RUN = 6
_MOST_FOR_TWO_ROUNDS = 4000


class Program:
    """All of it; files that cannot be parsed are in `failures` and the rest goes on."""

    def __init__(self, sources: Iterable[SourceFile]) -> None:
        self.failures: list[str] = []
        self.names = Names(self._read(sources))
        self.functions = self.names.functions
        self._called: dict[int, Function | None] = {}
        self._callbacks_by_shape: dict[tuple[object, ...], list[Function]] = {}
        self._named: dict[int, Function | None] = {}
        self._asking: dict[int, bool] = {}
        self._instead: dict[Function, list[Function]] = {}
        self._first_callers: dict[Function, list[tuple[Function, ast.Call]]] | None = None
        self._with_given: dict[tuple[int, int], ast.Call] = {}
        self._applications: dict[int, ast.Call | None] = {}
        self._applied_again: dict[int, bool] = {}
        self.objects = Objects(self)
        self._tree = ClassTree(self)

    def _read(self, sources: Iterable[SourceFile]) -> Iterator[FileWalk]:
        for source in sources:
            try:
                yield FileWalk(source)
            except SourceError as error:
                self.failures.append(str(error))

    def methods_named(self, class_name: str, method: str, near: SourceFile) -> Iterator[Function]:
        """A class's own method of this name, or the one that it inherits."""
        found = self._inherited(class_name, method, near)
        if found is not None:
            yield found

    def called_by(self, call: ast.Call, caller: Function) -> Function | None:
        """The function that a call runs, where the program defines exactly one that it can mean: by its name, the
        file's own first, then the folder's, else by what is called."""
        if id(call) not in self._called:
            found = self.named_by(call, caller)
            if found is None and self._asks_for_objects(call, caller):
                run = self.objects.run_by(call.func, caller)
                found = run[0][0] if len(run) == 1 and run[0][1] < 0 and takes(run[0][0], call) else None
            self._called[id(call)] = found
        return self._called[id(call)]

    def named_by(self, call: ast.Call, caller: Function) -> Function | None:
        """The function that a call runs, by its name alone."""
        if id(call) not in self._named:
            self._named[id(call)] = self.named(call.func, caller, len(call.args) + len(call.keywords))
        return self._named[id(call)]

    def _asks_for_objects(self, call: ast.Call, caller: Function) -> bool:
        """Whether what is called may be an object's method or a value that is called, of the program's own."""
        known = self._asking.get(id(call))
        if known is None:
            known = self._asking[id(call)] = self._may_be_of_object(call.func, caller)
        return known

    def _may_be_of_object(self, called: ast.expr, caller: Function) -> bool:
        if isinstance(called, ast.Attribute):
            return called.attr in self.names.functions_named or called.attr in self._attributes
        if isinstance(called, ast.Name):
            name = called.id
            return self._is_local(name, caller) or name in caller.bound or self._is_given_around(name, caller)
        return isinstance(called, (ast.Subscript, ast.Call))

    @cached_property
    def _attributes(self) -> frozenset[str]:
        """Names of attributes that the program's classes bind."""
        bound = (name for function in self.functions for name in function.bound)
        return frozenset(name[5:] for name in bound if name.startswith("self."))

    def method_of(self, cls: Class, name: str) -> Function | None:
        """A class's own method of this name, or the one that it inherits."""
        return self._tree.method_of(cls, name)

    def overriding(self, cls: Class, name: str) -> list[Function]:
        """The methods by which classes below replace one."""
        return self._tree.overriding(cls, name)

    def instead_of(self, called: Function) -> Sequence[Function]:
        """What a call may run where it means this function: methods of the classes below, and those registered with a
        `functools.singledispatch` function. Nothing where these are many."""
        if called not in self._instead:
            found = list(self._dispatched.get(called, ()))
            if called.is_method and called.owner is not None and not called.name.startswith("__"):
                found += self.overriding(called.owner, called.name)
            self._instead[called] = found if len(found) <= _MOST_RUN else []
        return self._instead[called]

    @cached_property
    def _dispatched(self) -> dict[Function, list[Function]]:
        found: dict[Function, list[Function]] = {}
        for function in self.functions:
            for each in getattr(function.node, "decorator_list", ()):
                register = each.func if isinstance(each, ast.Call) else each
                if isinstance(register, ast.Attribute) and register.attr == "register":
                    name = dotted(register.value)
                    first = self.names.function_of(name, function.source) if name and "." not in name else None
                    if first is not None and first is not function:
                        found.setdefault(first, []).append(function)
        return found

    def share_objects(self, one: Class, other: Class) -> bool:
        """Whether an object may be of both classes."""
        return self._tree.share_objects(one, other)

    def relatives(self, cls: Class) -> Sequence[Class]:
        """A class with those above and below it."""
        return self._tree.relatives(cls)

    def attribute_values(self, cls: Class, name: str) -> list[tuple[ast.expr, Function]]:
        """What an attribute of a class's objects is bound to, or what is put into it, each with its function."""
        return self._tree.attribute_values(cls, name)

    def field_of(self, cls: Class, name: str) -> ast.expr | None:
        """How a class annotates an attribute."""
        return self._tree.field_of(cls, name)

    def is_module_class(self, name: str, near: SourceFile) -> bool:
        """Whether a class that code of a file means is a torch module, by its bases or its `forward`."""
        known = self.names.class_of(name, near)
        return is_module_base(name) or (known is not None and self._tree.is_module(known))

    def is_part_of_module(self, function: Function) -> bool:
        """Whether a function is a method of a torch module."""
        return bool(function.class_name) and self.is_module_class(function.class_name, function.source)

    def callers(self, function: Function) -> Sequence[tuple[Function, ast.Call]]:
        """Calls that mean this function and no other."""
        return self._callers.get(function, ())

    def forward_calls(self, forward: Function) -> Sequence[tuple[Function, ast.Call]]:
        """Calls of modules whose `forward` this is, as far as it is known which objects are called."""
        return self._forward_calls.get(forward, ())

    @cached_property
    def _forward_calls(self) -> dict[Function, list[tuple[Function, ast.Call]]]:
        found: dict[Function, list[tuple[Function, ast.Call]]] = {}
        for caller in self.functions:
            for call in caller.calls:
                for each in self.objects.classes_of(call.func, caller) if self._asks_for_objects(call, caller) else ():
                    forward = self.method_of(each, "forward")
                    if forward is not None and self.method_of(each, "__call__") is None:
                        found.setdefault(forward, []).append((caller, call))
        return found

    def known_callers(self, function: Function) -> Sequence[tuple[Function, ast.Call]]:
        """As `callers`, as far as they are known while objects are followed: at first those by name."""
        known = self._first_callers if self._first_callers is not None else self._named_callers
        return known.get(function, ())

    def constructions(self, cls: Class) -> Sequence[tuple[Function, ast.Call]]:
        """Calls of a class by its name."""
        return self._constructions.get(cls, ())

    def constructions_by(self, first: Function) -> list[tuple[Function, ast.Call]]:
        """Calls that an `__init__` serves: of its class by name, of those below without one, and by `super()`."""
        assert first.owner is not None
        served = [
            each for each in self._tree.with_those_below(first.owner) if self.method_of(each, first.name) is first
        ]
        by_super = [(where, call) for where, call in self.callers(first) if called_name(call) == first.name]
        return [*(each for cls in served for each in self.constructions(cls)), *by_super]

    def is_made(self, cls: Class) -> bool:
        """Whether the program makes objects of a class, or of one below it."""
        return any(self.constructions(each) for each in self._tree.with_those_below(cls))

    @cached_property
    def _named_callers(self) -> dict[Function, list[tuple[Function, ast.Call]]]:
        found: dict[Function, list[tuple[Function, ast.Call]]] = {}
        for caller in self.functions:
            for call in caller.calls:
                called = self.named_by(call, caller)
                if called is not None:
                    found.setdefault(called, []).append((caller, call))
                applied = self._application_of(call)
                named = self.named_by(applied, caller) if applied is not None else None
                if applied is not None and named is not None:
                    found.setdefault(named, []).append((caller, applied))
        return found

    @cached_property
    def _constructions(self) -> dict[Class, list[tuple[Function, ast.Call]]]:
        found: dict[Class, list[tuple[Function, ast.Call]]] = {}
        for caller in self.functions:
            for call in caller.calls:
                name = called_name(call)
                is_own = name == "cls" and caller.owner is not None
                made = (
                    caller.owner
                    if is_own
                    else self.names.class_of(name, caller.source)
                    if name in self.names.classes
                    else None
                )
                if made is not None:
                    found.setdefault(made, []).append((caller, call))
        return found

    @cached_property
    def calling(self) -> Mapping[str, Sequence[Function]]:
        """Per last name of what is called, in whatever way, the functions that call it."""
        found: dict[str, list[Function]] = {}
        for function in self.functions:
            for name in dict.fromkeys(map(called_name, function.calls)):
                found.setdefault(name, []).append(function)
        return found

    @cached_property
    def handed_on(self) -> frozenset[str]:
        """Names of methods that are given to calls without being called: callbacks."""
        given = (each for function in self.functions for call in function.calls for each in call.args)
        return frozenset(each.attr for each in given if isinstance(each, ast.Attribute))

    def _applied(self, call: ast.Call, caller: Function) -> Iterator[tuple[Function, ast.Call]]:
        """Functions that a call is given together with their arguments: `partial(f, x)`, `pool.submit(f, x)`,
        `map(f, xs)`, `Thread(target=f, args=(x,))`; each with the call that this comes to."""
        applied = self._application_of(call)
        for each, given in self.objects.run_by(applied.func, caller) if applied is not None else ():
            if applied is not None and given < 0:
                yield each, applied

    def _entered(self, caller: Function) -> Iterator[tuple[Function, ast.Call]]:
        """What `with` statements of a function run of the program's context managers, with the call it comes to."""
        for each in caller.withs:
            for item in each.items:
                classes = self.objects.classes_of(item.context_expr, caller)
                for method in ("__enter__", "__exit__") if classes else ():
                    run = (self.method_of(cls, method) for cls in classes)
                    yield from ((one, entered(item, method)) for one in run if one is not None)

    def _application_of(self, call: ast.Call) -> ast.Call | None:
        if called_name(call) not in APPLYING:
            return None
        if id(call) not in self._applications:
            made = self._applications[id(call)] = application(call)
            self._applied_again[id(made)] = called_name(call) in FOR_EACH
        return self._applications[id(call)]

    def is_application(self, call: ast.Call) -> bool:
        """Whether a call is one that a function given with its arguments comes to."""
        return id(call) in self._applied_again

    def applies_again(self, call: ast.Call) -> bool:
        """Whether it is one for each element: of `map(f, xs)`, `pool.imap(f, xs)`."""
        return self._applied_again.get(id(call), False)

    def _shifted(self, call: ast.Call, num_given: int) -> ast.Call:
        """A call with the arguments before its own that `partial` has given, of which nothing is known here."""
        if num_given <= 0:
            return call
        key = (id(call), num_given)
        if key not in self._with_given:
            args = [*(ast.Constant(None) for _ in range(num_given)), *call.args]
            made = ast.Call(func=call.func, args=args, keywords=call.keywords)
            self._with_given[key] = ast.copy_location(made, call)
        return self._with_given[key]

    @cached_property
    def _callers(self) -> dict[Function, list[tuple[Function, ast.Call]]]:
        """Found twice: what objects are called with may be objects that are called."""
        found = self._found_callers()
        if len(self.functions) > _MOST_FOR_TWO_ROUNDS:
            return found
        self._first_callers = found
        self._called.clear()
        self.objects = Objects(self)
        return self._found_callers()

    def _found_callers(self) -> dict[Function, list[tuple[Function, ast.Call]]]:
        found: dict[Function, list[tuple[Function, ast.Call]]] = {}
        for caller in self.functions:
            for each, entering in self._entered(caller):
                found.setdefault(each, []).append((caller, entering))
            for call in caller.calls:
                called = self.called_by(call, caller)
                if called is not None:
                    for each in (called, *self.instead_of(called)):
                        found.setdefault(each, []).append((caller, call))
                    continue
                may = self.may_call(call, caller)
                is_asked = bool(may) and self._asks_for_objects(call, caller)
                shifts = dict(self.objects.run_by(call.func, caller)) if is_asked else {}
                for each in may:
                    found.setdefault(each, []).append((caller, self._shifted(call, shifts.get(each, -1))))
                for each, applied in self._applied(call, caller):
                    found.setdefault(each, []).append((caller, applied))
        for run, caller, call in (*property_reads(self), *property_writes(self), *item_writes(self)):
            found.setdefault(run, []).append((caller, call))
        return found

    def may_call(self, call: ast.Call, caller: Function) -> Sequence[Function]:
        """What a call may run where its name does not say it alone: methods of one name of a few classes, or what was
        handed on as a callback and takes such arguments."""
        if self._asks_for_objects(call, caller):
            run = self.objects.run_by(call.func, caller)
            found = [each for each, given in run if given >= 0 or takes(each, call)]
            if found or self.objects.of(call.func, caller):
                return found if len(found) <= _MOST_RUN else ()
        if isinstance(call.func, ast.Attribute):
            name = call.func.attr
            named = self.names.functions_named.get(name, ())
            if len(named) > _MOST_NAMED or name.startswith("__") or name in _METHODS_OF_TENSORS:
                return ()
            if name in _METHODS_OF_CONTAINERS and self._is_container(call.func.value, caller):
                return ()
            found = [each for each in named if each.class_name and takes(each, call)]
            if found or dotted(call.func.value) != "self":
                return found if len(found) <= _MOST_MEANT else ()
        elif not isinstance(call.func, ast.Name) or not self._is_local(call.func.id, caller):
            return ()
        found = [each for each in self._callbacks_taking(call) if each is not caller]
        return found if len(found) <= _MOST_MEANT else ()

    def _callbacks_taking(self, call: ast.Call) -> list[Function]:
        """Those that a call's arguments fit, which their number and their names decide."""
        unpacked = any(isinstance(each, ast.Starred) for each in call.args)
        shape = (len(call.args), unpacked, *(each.arg for each in call.keywords))
        if shape not in self._callbacks_by_shape:
            self._callbacks_by_shape[shape] = [each for each in self.callbacks if takes(each, call)]
        return self._callbacks_by_shape[shape]

    @cached_property
    def callbacks(self) -> tuple[Function, ...]:
        """Functions, methods and callable objects that are given to calls."""
        found: dict[Function, None] = {}
        for caller in self.functions:
            for call in caller.calls:
                for each in (*call.args, *(keyword.value for keyword in call.keywords)):
                    handed = self._handed(each, caller)
                    if handed is not None:
                        found[handed] = None
        return tuple(found)

    def _handed(self, node: ast.expr, caller: Function) -> Function | None:
        if isinstance(node, ast.Name):
            return self.names.seen_from(node.id, caller) if node.id in self.names.functions_named else None
        if isinstance(node, ast.Attribute):
            found = self.names.methods_named.get(node.attr, ())
            return found[0] if len(found) == 1 else None
        if isinstance(node, ast.Call):
            made = self.names.class_of(dotted(node.func), caller.source) if dotted(node.func) else None
            return made.methods.get("__call__") if made is not None else None
        return None

    def _is_local(self, name: str, function: Function) -> bool:
        return name in function.parameters or name in function.loop_names

    def _is_given_around(self, name: str, function: Function) -> bool:
        """Whether a function around is given a value by this name: what a decorator is put on."""
        outer = self.names.around(function)
        return outer is not None and (name in outer.parameters or self._is_given_around(name, outer))

    def _is_container(self, receiver: ast.expr, caller: Function) -> bool:
        """Whether a name of this file is bound to a list, dict or set, or nothing is known of it."""
        name = dotted(receiver)
        return not name or "[]" in name or (caller.source.path, name.rpartition(".")[2]) in self._containers

    @cached_property
    def _containers(self) -> set[tuple[str, str]]:
        return {
            (function.source.path, dotted(target).rpartition(".")[2])
            for function in self.functions
            for binding in function.bindings
            for target, value in pairs_of(binding)
            if isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))
            or (isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _CONTAINERS)
        }

    def named(self, called: ast.expr, caller: Function, num_given: int = 0) -> Function | None:
        """The function that what is called means by its name, given so many arguments."""
        if isinstance(called, ast.Name):
            return self._plain(called.id, caller)
        if isinstance(called, ast.Attribute) and _is_super(called.value):
            above = self._tree.line_of(caller.owner)[1:] if caller.owner is not None else ()
            return next((each.methods[called.attr] for each in above if called.attr in each.methods), None)
        return self._method(called, caller, num_given) if isinstance(called, ast.Attribute) else None

    def _plain(self, name: str, caller: Function) -> Function | None:
        made = self.names.class_of(name, caller.source)
        return self.method_of(made, "__init__") if made is not None else self.names.seen_from(name, caller)

    def _method(self, function: ast.Attribute, caller: Function, num_given: int) -> Function | None:
        if isinstance(function.value, ast.Name) and function.value.id == "self" and caller.class_name:
            return self._inherited(caller.class_name, function.attr, caller.source)
        if isinstance(function.value, ast.Name):
            named = self.names.in_file(function.value.id, function.attr, caller.source)
            if named is not None:
                return named
        found = self.names.methods_named.get(function.attr, ())
        if len(found) == 1 and _is_its_alone(function.attr, num_given):
            return found[0]
        made = self._constructed.get((caller.source.path, dotted(function.value)), set())
        return self._inherited(next(iter(made)), function.attr, caller.source) if len(made) == 1 else None

    def made_by(self, name: str, function: Function) -> Class | None:
        """The class of the program that a file's variable is made by, where it is one alone."""
        made = self._constructed.get((function.source.path, name), set())
        return self.names.class_of(next(iter(made)), function.source) if len(made) == 1 else None

    @cached_property
    def _constructed(self) -> dict[tuple[str, str], set[str]]:
        """Per file and name: what is called for its value."""
        found: dict[tuple[str, str], set[str]] = {}
        for function in self.functions:
            for binding in function.bindings:
                for target, value in pairs_of(binding):
                    if isinstance(value, ast.Call) and (name := dotted(target)):
                        called = dotted(value.func).rpartition(".")[2]
                        found.setdefault((function.source.path, name), set()).add(called)
        return found

    def _inherited(self, class_name: str, method: str, near: SourceFile) -> Function | None:
        known = self.names.class_of(class_name, near)
        return self.method_of(known, method) if known is not None else None


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _is_its_alone(method: str, num_given: int) -> bool:
    """Whether containers, tensors and modules have no method of this name that takes so many arguments."""
    if method in _METHODS_OF_TENSORS or (method.startswith("register_") and method.endswith("_hook")):
        return False
    return method not in _METHODS_OF_CONTAINERS or num_given > _most_given(method)


def _most_given(method: str) -> int:
    """How many arguments a container's method of this name takes."""
    return 1 if method in ("append", "add", "extend", "update", "remove", "discard", "count") else 3
