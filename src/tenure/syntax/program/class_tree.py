"""The classes of a program with what they inherit, what overrides it, and what their attributes are bound to."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenure.syntax.program.functions import Class, Function
    from tenure.syntax.program.program import Program

_MODULE_BASES = ("Module", "PreTrainedModel", "LightningModule", "ModelMixin")


class ClassTree:
    """Of the classes that code of a file means by the names of its bases."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._above: dict[Class, tuple[Class, ...]] = {}
        self._relatives: dict[Class, Sequence[Class]] = {}
        self._fields: dict[Class, tuple[str, ...]] = {}
        self._values: dict[tuple[Class, str], list[tuple[ast.expr, Function]]] = {}

    def line_of(self, cls: Class) -> tuple[Class, ...]:
        """A class and all that it inherits from, in the order in which they are looked through."""
        known = self._above.get(cls)
        if known is None:
            self._above[cls] = (cls,)  # a ring of classes ends here
            found = dict.fromkeys((cls,))
            for base in cls.bases:
                above = self._program.names.class_of(base, cls.source)
                found |= dict.fromkeys(self.line_of(above) if above is not None else ())
            known = self._above[cls] = tuple(found)
        return known

    def method_of(self, cls: Class, name: str) -> Function | None:
        """A class's own method of this name, or the one that it inherits."""
        return next((each.methods[name] for each in self.line_of(cls) if name in each.methods), None)

    def overriding(self, cls: Class, name: str) -> list[Function]:
        """The methods by which classes below replace one."""
        return [each.methods[name] for each in self._below.get(cls, ()) if name in each.methods]

    def relatives(self, cls: Class) -> Sequence[Class]:
        """A class, what it inherits from, and what inherits from it: objects of one kind share attributes with it."""
        known = self._relatives.get(cls)
        if known is None:
            known = self._relatives[cls] = list(dict.fromkeys((*self.line_of(cls), *self._below.get(cls, ()))))
        return known

    def with_those_below(self, cls: Class) -> list[Class]:
        """A class and all that inherit from it."""
        return [cls, *self._below.get(cls, ())]

    def share_objects(self, one: Class, other: Class) -> bool:
        """Whether an object may be of both classes: one is below the other, or a third below both."""
        if one in self.line_of(other) or other in self.line_of(one):
            return True
        return not {*self._below.get(one, ())}.isdisjoint(self._below.get(other, ()))

    def is_module(self, cls: Class) -> bool:
        """Whether it is a torch module, by its bases or its `forward`."""
        line = self.line_of(cls)
        return any("forward" in each.methods or any(is_module_base(base) for base in each.bases) for each in line)

    def attribute_values(self, cls: Class, name: str) -> list[tuple[ast.expr, Function]]:
        """What the class and its relatives bind an attribute to, or put into it, each with the function it is in."""
        known = self._values.get((cls, name))
        if known is None:
            known = self._values[cls, name] = list(self._find_values(cls, name))
        return known

    def field_of(self, cls: Class, name: str) -> ast.expr | None:
        """How a class annotates an attribute."""
        return next((each.fields[name] for each in self.line_of(cls) if name in each.fields), None)

    def _find_values(self, cls: Class, name: str) -> Iterator[tuple[ast.expr, Function]]:
        place = f"self.{name}"
        for each in self.relatives(cls):
            yield from each.values.get(place, ())
            for value in each.set_in_body.get(name, ()):
                yield value, self._program.names.top_of(each.source)
            if name in self._fields_of(each):
                yield from self._given(each, name)

    def _given(self, cls: Class, name: str) -> Iterator[tuple[ast.expr, Function]]:
        """What calls of a class without `__init__` of its own give for one of its fields."""
        if self.method_of(cls, "__init__") is not None:
            return
        place = self._fields_of(cls).index(name)
        for caller, call in self._program.constructions(cls):
            yield from ((each.value, caller) for each in call.keywords if each.arg == name)
            if len(call.args) > place and not any(isinstance(each, ast.Starred) for each in call.args[: place + 1]):
                yield call.args[place], caller

    def _fields_of(self, cls: Class) -> tuple[str, ...]:
        """Names of what a class and those above it annotate, in the order in which a dataclass is given them."""
        known = self._fields.get(cls)
        if known is None:
            found = tuple(field for each in reversed(self.line_of(cls)) for field in each.fields)
            known = self._fields[cls] = found
        return known

    @cached_property
    def _below(self) -> dict[Class, list[Class]]:
        found: dict[Class, list[Class]] = {}
        for classes in self._program.names.classes.values():
            for each in classes:
                for above in self.line_of(each)[1:]:
                    found.setdefault(above, []).append(each)
        return found


def is_module_base(name: str) -> bool:
    """Whether a class is torch's own, or a framework's, module by its name."""
    return name.rpartition(".")[2].endswith(_MODULE_BASES)
