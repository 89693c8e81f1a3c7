"""Which functions, classes and objects of the program an expression may be, as far as its text tells.

Asked for on demand and followed backwards as values are: through bindings, containers and attributes, from a parameter
to the calls of its function by name, and through what calls give back. A container is taken for what is in it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tenure.syntax.program.arguments import all_parameters, annotation_of, default_of, given_to
from tenure.syntax.program.questions import Questions
from tenure.syntax.program.texts import texts
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import decorator_name, dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.text.value_parts import parts_of

if TYPE_CHECKING:
    from tenure.syntax.program.functions import Class, Function
    from tenure.syntax.program.program import Program


@dataclass(frozen=True)
class Thing:
    """A function, a class, or an object of one (`is_made`); of no class of the program where it is torch's module.

    `is_frozen`: a module whose parameters ask for no gradients.
    """

    function: Function | None = None
    cls: Class | None = None
    is_made: bool = False
    is_frozen: bool = False
    num_given: int = -1
    """So many arguments by place `partial` has given it already; -1 where it has given it none."""


Things = frozenset[Thing]
_NOTHING: Things = frozenset()
_TORCH_MODULE = Thing(is_made=True)
_HANDING_ON = frozenset(
    {"list", "tuple", "set", "dict", "deque", "iter", "next", "reversed", "sorted", "enumerate", "zip", "chain", "cast"}
    | {"deepcopy", "copy", "filter", "cycle", "islice", "OrderedDict", "ModuleList", "Sequential", "wraps"}
    | {"ref", "proxy", "partialmethod", "MappingProxyType", "ExitStack"}
)
"""Functions whose result is, or gives, what they are given."""
_OF_MODULES = frozenset({"ModuleList", "ModuleDict", "Sequential"})
_SAME = frozenset(
    {"get", "values", "items", "pop", "popleft", "popitem", "setdefault", "copy", "get_nowait", "to", "cuda", "cpu"}
    | {"eval", "train", "float", "half", "requires_grad_", "apply", "result", "enter_context", "union", "bfloat16"}
    | {"__enter__"}
)
"""Methods that give back their object, or what is in it."""
_DEEPEST = 30
_MOST = 12
"""What may be more things than this is taken for none."""
_MOST_CALLERS = 24


class Objects:
    """Answers are kept per expression, variable, attribute and function."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._questions: Questions[Things] = Questions(_NOTHING, _DEEPEST)

    def of(self, node: ast.expr, function: Function) -> Things:
        """What the value of an expression in `function` may be."""
        if isinstance(node, ast.Constant):
            return _NOTHING
        return self._questions.answer((id(node), function), self._of, node, function)

    def is_module(self, node: ast.expr, function: Function) -> bool:
        """Whether a value is a torch module, of the program's or of torch's own classes."""
        return any(
            each.is_made and (each.cls is None or self._program.is_module_class(each.cls.node.name, each.cls.source))
            for each in self.of(node, function)
        )

    def is_frozen(self, node: ast.expr, function: Function) -> bool:
        """Whether a value is a module that asks for no gradients, whatever way it came."""
        modules = [each for each in self.of(node, function) if each.is_made]
        return bool(modules) and all(each.is_frozen for each in modules)

    def classes_of(self, node: ast.expr, function: Function) -> list[Class]:
        """The program's classes that a value may be an object of."""
        found = (each.cls for each in self.of(node, function) if each.is_made)
        return sorted((each for each in found if each is not None), key=_place_of_class)

    def run_by(self, called: ast.expr, function: Function) -> list[tuple[Function, int]]:
        """The functions that calling a value may run, each with how many arguments `partial` has given it (-1: none
        at all); nothing for modules, whose `forward` torch calls."""
        found = {
            (run, each.num_given)
            for each in self.of(called, function)
            if not (each.is_made and each.cls is not None and self._is_module(each.cls))
            and (run := self._run(each)) is not None
        }
        if len(found) < 2:
            return list(found)
        return sorted(found, key=lambda each: (*_place_of_function(each[0]), each[1]))

    def _few(self, nodes: Iterable[ast.expr], function: Function) -> Things:
        found = self._all(nodes, function)
        return found if len(found) <= _MOST else _NOTHING

    def _of(self, node: ast.expr, function: Function) -> Things:
        if isinstance(node, ast.Name):
            return self._name(node.id, function)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, function)
        if isinstance(node, ast.Call):
            return self._call(node, function)
        found = self._all(parts_of(node), function)
        return found | self._in_own_places(found) if isinstance(node, ast.Subscript) else found

    def _in_own_places(self, found: Things) -> Things:
        """What objects of the program that are tables themselves have at their keys."""
        tables = [each.cls for each in found if each.is_made and each.cls is not None and _is_table(each.cls)]
        methods = [method for cls in tables for method in cls.functions]
        kept = [(value, method) for method in methods for value in method.contents.get("self", ())]
        return frozenset(thing for value, method in kept for thing in self.of(value, method))

    def _all(self, nodes: Iterable[ast.expr], function: Function) -> Things:
        return frozenset(thing for each in nodes for thing in self.of(each, function))

    def _name(self, name: str, function: Function) -> Things:
        return self._questions.answer((name, function), self._of_name, name, function)

    def _of_name(self, name: str, function: Function) -> Things:
        if function.is_method and name == function.parameters[0]:
            own = self._program.names.class_of(function.class_name, function.source)
            return frozenset({Thing(cls=own, is_made=name == "self")}) if own is not None else _NOTHING
        values = [value for _, value in function.bound.get(name, ())]
        found = self._few([*values, *function.contents.get(name, ())], function) if values else _NOTHING
        if found and self._is_frozen_name(name, (function,)):
            found = frozenset(replace(each, is_frozen=True) for each in found)
        if name in all_parameters(function):
            return found | self._parameter(name, function)
        if values:
            return found
        outer = self._program.names.around(function)
        if outer is not None and (name in outer.bound or name in all_parameters(outer)):
            return self._name(name, outer)
        return self._global(name, function)

    def _global(self, name: str, function: Function) -> Things:
        """What a name means that no function around binds: a function, a class, or a variable of a file."""
        plain = self._program.names.seen_from(name, function)
        if plain is not None:
            return frozenset({Thing(function=plain)})
        made = self._program.names.class_of(name, function.source)
        if made is not None:
            return frozenset({Thing(cls=made)})
        top = self._program.names.top_with(name, function.source)
        if top is None:
            return _NOTHING
        filled = (self._all(each.contents.get(name, ()), each) for each in self._program.names.functions_in(top.source))
        return self._all([value for _, value in top.bound[name]], top).union(*filled)

    def _parameter(self, name: str, function: Function) -> Things:
        found: set[Thing] = set(self._decorated.get((function, name), ()))
        annotated = annotation_of(name, function)
        if annotated is not None:
            found.update(self._annotated(annotated, function))
        default = default_of(name, function)
        if default is not None:
            found |= self.of(default, function)
        calls = self._program.known_callers(function)
        for caller, call in calls if len(calls) <= _MOST_CALLERS else ():
            for value in given_to(name, function, call):
                found |= self.of(value, caller)
        return frozenset(found) if len(found) <= _MOST else _NOTHING

    def _annotated(self, annotation: ast.expr, function: Function) -> Iterator[Thing]:
        """Objects of the class that an annotation names, or of those in `list[A]`, `A | None`, `"A"`."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            names = [annotation.value.strip("'\"")]
        else:
            names = [dotted(node) for node in walk(annotation) if isinstance(node, (ast.Name, ast.Attribute))]
        for name in names:
            cls = self._program.names.class_of(name, function.source) if name else None
            if cls is not None and not any(base.rpartition(".")[2] in ("Protocol", "ABC") for base in cls.bases):
                yield Thing(cls=cls, is_made=True)

    def _attribute(self, node: ast.Attribute, function: Function) -> Things:
        found: set[Thing] = set()
        for thing in self.of(node.value, function):
            if thing.cls is not None:
                found |= self.attribute(thing.cls, node.attr)
        if not found and isinstance(node.value, ast.Name):
            return self._of_module(node, function)
        return frozenset(found)

    def _of_module(self, node: ast.Attribute, function: Function) -> Things:
        """What a name of an imported file is: `losses.focal`."""
        cls = self._program.names.class_of(dotted(node), function.source)
        if cls is not None:
            return frozenset({Thing(cls=cls)})
        named = self._program.named(node, function)
        return frozenset({Thing(function=named)}) if named is not None and not named.class_name else _NOTHING

    def attribute(self, cls: Class, name: str) -> Things:
        """What an attribute of a class's objects may be: a method, or what is bound to it anywhere in the class."""
        return self._questions.answer((cls, name), self._of_attribute, cls, name)

    def _is_frozen_name(self, name: str, functions: Iterable[Function]) -> bool:
        """Whether a statement of its own freezes what has this name, or a loop all of its parameters."""
        return any(name in each.frozen for each in functions)

    def _of_attribute(self, cls: Class, name: str) -> Things:
        method = self._program.method_of(cls, name)
        if method is not None:
            if is_property(method):
                return self.returned(method)
            over = self._program.overriding(cls, name)
            return frozenset(Thing(function=each) for each in (method, *over))
        found: set[Thing] = set()
        for value, function in self._program.attribute_values(cls, name):
            found |= self.of(value, function)
        if found and self._is_frozen_name(
            f"self.{name}", (each for one in self._program.relatives(cls) for each in one.functions)
        ):
            found = {replace(each, is_frozen=True) for each in found}
        if len(found) > _MOST:
            return _NOTHING
        annotated = self._program.field_of(cls, name)
        if annotated is not None:
            top = self._program.names.top_of(cls.source)
            found.update(self._annotated(annotated, top))
        return frozenset(found)

    def _call(self, call: ast.Call, function: Function) -> Things:
        name = called_name(call)
        found: set[Thing] = set()
        for thing in self.of(call.func, function):
            if thing.cls is not None and not thing.is_made:
                found.add(Thing(cls=thing.cls, is_made=True, is_frozen=self._freezes_itself(thing.cls)))
            elif (run := self._run(thing)) is not None:
                found |= self.returned(run)
        if found:
            return frozenset(found)
        owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if owner in ("nn", "torch.nn") and name[:1].isupper() and name != "Parameter":
            inside = self._all(call.args, function) if name in _OF_MODULES else _NOTHING
            return inside if inside and name != "Sequential" else inside | {_TORCH_MODULE}
        if name == "type" and call.args:
            return frozenset(Thing(cls=each.cls) for each in self.of(call.args[0], function) if each.cls is not None)
        if name == "getattr" and len(call.args) > 1:
            classes = [each.cls for each in self.of(call.args[0], function) if each.cls is not None]
            names = texts(self._program, call.args[1], function) if classes else ()
            return frozenset(thing for cls in classes for each in names for thing in self.attribute(cls, each))
        if name == "partial" and call.args:
            given = len(call.args) - 1
            made = self.of(call.args[0], function)
            return frozenset(replace(each, num_given=max(each.num_given, 0) + given) for each in made)
        if name == "defaultdict" and call.args:
            return self._made_by_factory(call.args[0], function)
        if name in _HANDING_ON and owner != "self":
            return self._all([*call.args, *(each.value for each in call.keywords)], function)
        if name in _SAME and isinstance(call.func, ast.Attribute):
            same = self.of(call.func.value, function)
            freezes = name == "requires_grad_" and call.args and getattr(call.args[0], "value", None) is False
            return frozenset(replace(each, is_frozen=True) for each in same) if freezes else same
        named = self._program.named_by(call, function)
        return self.returned(named) if named is not None and named.name != "__init__" else _NOTHING

    def _made_by_factory(self, factory: ast.expr, function: Function) -> Things:
        """What a table has at keys that it did not have: `defaultdict(Meter)`, `defaultdict(lambda: Meter(20))`."""
        if isinstance(factory, ast.Lambda):
            return self.of(factory.body, function)
        found: set[Thing] = set()
        for thing in self.of(factory, function):
            if thing.cls is not None and not thing.is_made:
                found.add(replace(thing, is_made=True))
            elif thing.function is not None:
                found |= self.returned(thing.function)
        return frozenset(found)

    def returned(self, function: Function) -> Things:
        """What a function gives back, or yields."""
        values = [each.value for each in (*function.returns, *function.yields) if each.value is not None]
        return self._questions.answer((function, "returned"), self._few, values, function)

    def _run(self, thing: Thing) -> Function | None:
        if thing.function is not None:
            return thing.function
        if thing.cls is None:
            return None
        if not thing.is_made:
            return self._program.method_of(thing.cls, "__init__")
        called = self._program.method_of(thing.cls, "__call__")
        return called if called is not None else self._program.method_of(thing.cls, "forward")

    def _freezes_itself(self, cls: Class) -> bool:
        first = self._program.method_of(cls, "__init__")
        return first is not None and any(
            called_name(call) == "requires_grad_"
            and dotted(call.func.value if isinstance(call.func, ast.Attribute) else None) == "self"
            and bool(call.args)
            and getattr(call.args[0], "value", None) is False
            for call in first.calls
        )

    def _is_module(self, cls: Class) -> bool:
        return self._program.is_module_class(cls.node.name, cls.source)

    @cached_property
    def _decorated(self) -> dict[tuple[Function, str], set[Thing]]:
        """Per parameter of a decorator, or of the function that it makes: the program's functions and classes that it
        is put on."""
        found: dict[tuple[Function, str], set[Thing]] = {}
        for function in self._program.functions:
            for each in getattr(function.node, "decorator_list", ()):
                self._enter_decorated(found, each, Thing(function=function), function)
        for classes in self._program.names.classes.values():
            for cls in classes:
                for each in cls.node.decorator_list:
                    self._enter_decorated(found, each, Thing(cls=cls), self._program.names.top_of(cls.source))
        return found

    def _enter_decorated(
        self, found: dict[tuple[Function, str], set[Thing]], node: ast.expr, thing: Thing, function: Function
    ) -> None:
        name = decorator_name(node)
        if "." in name and name.partition(".")[0] in ("torch", "functools", "self"):
            return
        decorator = self._program.named(node.func if isinstance(node, ast.Call) else node, function)
        if decorator is None:
            return
        inner = [decorator]
        if isinstance(node, ast.Call):
            names = {each.value.id for each in decorator.returns if isinstance(each.value, ast.Name)}
            made = (self._program.names.seen_from(each, decorator) for each in names)
            inner = [each for each in made if each is not None and self._program.names.around(each) is decorator]
        for each in inner:
            own = each.parameters[int(each.is_method) :]
            if own:
                found.setdefault((each, own[0]), set()).add(thing)


def is_property(method: Function) -> bool:
    """Whether a method is read as an attribute."""
    names = (decorator_name(each).rpartition(".")[2] for each in getattr(method.node, "decorator_list", ()))
    return any(name in ("property", "cached_property") for name in names)


def _is_table(cls: Class) -> bool:
    return any(base.rpartition(".")[2] in ("dict", "OrderedDict", "UserDict", "defaultdict") for base in cls.bases)


def _place_of_class(cls: Class) -> tuple[str, int]:
    return cls.source.path, cls.node.lineno


def _place_of_function(function: Function) -> tuple[str, int]:
    return function.source.path, getattr(function.node, "lineno", 0)
