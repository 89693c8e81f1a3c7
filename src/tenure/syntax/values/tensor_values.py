"""What an expression of a program gives, as far as its text tells: nothing known, a tensor, or one with a graph.

Asked for on demand and followed backwards: through bindings, arithmetic, containers and attributes, into functions that
the program defines, and from a parameter to every call of its function. When in doubt: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from tenure.syntax.program.arguments import all_parameters, annotation_of, given_to, handed_to
from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.hooked import hooked_functions, lambda_hook_arguments
from tenure.syntax.program.objects import is_property
from tenure.syntax.program.outside_values import bound_from_outside
from tenure.syntax.program.program import Program
from tenure.syntax.program.questions import Questions
from tenure.syntax.program.shared_names import shared_values
from tenure.syntax.text.expressions import value_kind
from tenure.syntax.text.kinds import Kind, greatest
from tenure.syntax.text.reaching import reaching_lines
from tenure.syntax.text.scopes import COMPREHENSION_NAMES, dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.text.value_parts import element_of, gone_through, parts_of
from tenure.syntax.values.called_values import MOST_CLASSES, CalledValues
from tenure.syntax.values.closures import captured, inner_function
from tenure.syntax.values.framework_states import is_output_of_engine, kind_of_state, process_functions
from tenure.syntax.values.graph_values import (
    FACTS,
)
from tenure.syntax.values.known_names import (
    ACTIVATIONS,
)
from tenure.syntax.values.leaves import is_leaf
from tenure.syntax.values.sent_values import sent_values
from tenure.syntax.values.tensor_uses import used_as_tensors
from tenure.syntax.values.without_graph import is_without_graph
from tenure.syntax.values.written_dicts import Values, taken_out, values_at, values_without

_MOST_CALLERS = 12
"""A parameter of a function with more calls than this is taken for anything."""
_DEEPEST = 80


@lru_cache(maxsize=1)
def tensor_values(program: Program) -> TensorValues:
    """The one of a program."""
    return TensorValues(program)


class TensorValues:
    """Answers are kept per expression."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._calls = CalledValues(self, program)
        self._questions: Questions[Kind] = Questions(Kind.NOTHING, _DEEPEST)
        self._in_comprehension: list[tuple[Function, dict[str, Kind]]] = []

    def kind(self, node: ast.expr, function: Function) -> Kind:
        """Of the value of an expression in `function`."""
        if self._in_comprehension and self._in_comprehension[-1][0] is function:
            names = tuple(sorted(self._in_comprehension[-1][1].items()))
            return self._questions.answer((id(node), names), self._kind, node, function)
        return self._questions.answer(id(node), self._kind, node, function)

    def _kind(self, node: ast.expr, function: Function) -> Kind:
        if isinstance(node, ast.Name):
            return self._name(node.id, function, node.lineno)
        of_state = kind_of_state(node, function)
        if of_state is not None:
            return of_state
        if isinstance(node, ast.Attribute):
            return self._attribute(node, function)
        if isinstance(node, ast.Call):
            return self._calls.of(node, function)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
            place = node.slice.value if isinstance(node.slice, ast.Constant) else None
            return self._calls.of(node.value, function, place if isinstance(place, int) else None)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            found = self._of_all(values_at(self._program, node.value, node.slice.value, function))
            if found is not None:
                return found
        if isinstance(node, ast.Compare):
            return min(Kind.TENSOR, self.most([node.left, *node.comparators], function))
        if isinstance(node, ast.BinOp) and any(is_leaf(self._program, each, function) for each in parts_of(node)):
            return Kind.TENSOR if is_without_graph(self._program, function, node) else Kind.GRAPH
        if type(node) in COMPREHENSION_NAMES:
            return self._comprehension(node, function)
        if isinstance(node, ast.Lambda):
            return self.most(captured(node, function), function)
        if isinstance(node, ast.Yield):
            return greatest(self.kind(*each) for each in sent_values(self._program))
        return self.most(parts_of(node), function)

    def most(self, nodes: Iterable[ast.expr], function: Function) -> Kind:
        """Of all of some expressions the one that is most."""
        return greatest(self.kind(each, function) for each in nodes)

    def _comprehension(self, node: ast.expr, function: Function) -> Kind:
        local: dict[str, Kind] = {}
        self._in_comprehension.append((function, local))
        try:
            for generator in node.generators:  # type: ignore[attr-defined]
                for name, value in gone_through(generator.target, generator.iter):
                    local[name] = self.kind(value, function)
            element = node.value if isinstance(node, ast.DictComp) else node.elt  # type: ignore[attr-defined]
            return self.kind(element, function)
        finally:
            self._in_comprehension.pop()

    def _name(self, name: str, function: Function, line: int) -> Kind:
        for where, local in reversed(self._in_comprehension):
            if where is function and name in local:
                return local[name]
        return self._questions.answer((function, name, line), self._of_variable, name, function, line)

    def _of_variable(self, name: str, function: Function, line: int) -> Kind:
        bound = function.bound.get(name, [])
        is_parameter = name in all_parameters(function)
        if not bound and not is_parameter:
            if name in (given := lambda_hook_arguments(function, line)):
                return given[name]
            inner = inner_function(self._program, name, function)
            if inner is not None and not isinstance(inner.node, ast.Module):
                return self.most(captured(inner.node, function), function)
            outer = self._program.names.around(function)
            return self._from_around(name, outer) if outer is not None else self._global(name, function)
        if len(bound) + is_parameter > 1:
            lines = reaching_lines(function.source, function.qualname, name, line)
            bound = [(at, value) for at, value in bound if at in lines]
            is_parameter = getattr(function.node, "lineno", -1) in lines
        taken = taken_out(name, function)
        values = [value for _, value in bound]
        whole = (
            [self._of_all(values_without(self._program, value, taken, function)) for value in values] if taken else []
        )
        if whole and all(each is not None for each in whole):
            return max(each for each in whole if each is not None)
        gone_over = self._gone_over(name, values, function)
        values = [value for value in values if all(value is not each for each, _ in gone_over)]
        found = greatest(self._ways(name, values, gone_over, is_parameter, function))
        if found is Kind.NOTHING and name in used_as_tensors(self._program, function):
            return Kind.TENSOR
        return found

    def _ways(
        self,
        name: str,
        values: list[ast.expr],
        gone_over: list[tuple[ast.expr, Kind]],
        is_parameter: bool,
        function: Function,
    ) -> Iterator[Kind]:
        """What a variable is by each of the ways in which it may have come about."""
        yield self.most([*values, *function.contents.get(name, ())], function)
        yield self._shared(name, function)
        yield from (kind for _, kind in gone_over)
        yield self._filled(name, values, function)
        yield self._parameter(name, function) if is_parameter else self._of_attributes(name, function)

    def _of_all(self, values: Values | None) -> Kind | None:
        return None if values is None else greatest(self.kind(value, where) for value, where in values)

    def _of_attributes(self, name: str, function: Function) -> Kind:
        """What a function sets as attributes of a variable: `ticket.answer = answer`."""
        if name in ("self", "cls"):
            return Kind.NOTHING
        inside = [
            value for bound, values in function.bound.items() if bound.startswith(name + ".") for _, value in values
        ]
        inside += [
            value for place, values in function.contents.items() if place.startswith(name + ".") for value in values
        ]
        return self.most(inside, function)

    def _from_around(self, name: str, outer: Function) -> Kind:
        """A name that an inner function reads: any binding of the function around it may be in force."""
        bound = outer.bound.get(name, [])
        if bound:
            found = self.most([*(value for _, value in bound), *outer.contents.get(name, ())], outer)
            return found if found is Kind.GRAPH else max(found, self._shared(name, outer))
        if name in all_parameters(outer):
            return self._parameter(name, outer)
        further = self._program.names.around(outer)
        return self._from_around(name, further) if further is not None else self._global(name, outer)

    def _gone_over(self, name: str, values: list[ast.expr], function: Function) -> list[tuple[ast.expr, Kind]]:
        """Of the values of a loop's variable those that are objects of the program, with what these yield."""
        if name not in function.loop_names:
            return []
        found = []
        for value in values:
            if any(getattr(loop, "iter", None) is value for loop in function.loops):
                classes = self._program.objects.classes_of(value, function)
                methods = [self._program.method_of(each, "__iter__") for each in classes]
                given = [each for each in methods if each is not None and each.yields]
                if given:
                    found.append((value, max(self.returned(each) for each in given)))
        return found

    def _filled(self, name: str, values: list[ast.expr], function: Function) -> Kind:
        """What functions put into a variable that starts empty here and that they are given."""
        if not any(value_kind(value) == "empty" for value in values):
            return Kind.NOTHING
        return greatest(self.kind(*each) for each in self._put_by_called(name, "", function))

    def _put_by_called(self, name: str, attribute: str, function: Function) -> Iterator[tuple[ast.expr, Function]]:
        """What functions put into a variable, or bind its attribute to, that they are given as it is."""
        for call in function.handing.get(name, ()):
            called = self._program.called_by(call, function)
            if called is None or called is function:
                continue
            for own in called.parameters:
                given = given_to(own, called, call)
                if any(isinstance(each, ast.Name) and each.id == name for each in given):
                    place = own + attribute
                    yield from ((value, called) for _, value in called.bound.get(place, ()) if attribute)
                    yield from ((value, called) for value in called.contents.get(place, ()))

    def _shared(self, name: str, owner: Function) -> Kind:
        """What functions inside make of a variable, or of an attribute of one."""
        values = shared_values(self._program).get((owner, name), ())
        return greatest(self.kind(value, where) for value, where in values)

    def _global(self, name: str, function: Function) -> Kind:
        """What a variable of a file is, or an attribute of one: any binding may be in force."""
        top = self._program.names.top_with(name.partition(".")[0], function.source)
        if top is None and self._program.names.class_of(name.partition(".")[0], function.source) is not None:
            top = self._program.names.top_of(function.source)
        if top is None or name in _of_lambdas(function):
            return Kind.NOTHING
        return self._questions.answer((top, name, "global"), self._of_top, name, top)

    def _of_top(self, name: str, top: Function) -> Kind:
        own = [*(value for _, value in top.bound.get(name, ())), *top.contents.get(name, ())]
        return max(self.most(own, top), self._shared(name, top))

    def _parameter(self, name: str, function: Function) -> Kind:
        if function.is_method and name == function.parameters[0]:
            return Kind.NOTHING
        annotated = _is_tensor(annotation_of(name, function))
        least = Kind.TENSOR if annotated else Kind.NOTHING
        if (passed := hooked_functions(self._program).get(function)) is not None:
            return max(least, passed) if name not in ("module", "layer", "m", "mod") else Kind.NOTHING
        if function.name == "forward" and self._program.is_part_of_module(function):
            if _is_activation(name, function):
                return Kind.GRAPH
            calls = self._program.forward_calls(function)
        else:
            calls = self._program.callers(function)
        found = self._questions.answer((function, name), self._given, name, function, calls)
        if found is Kind.TENSOR and _is_number(annotation_of(name, function)):
            return Kind.NOTHING
        return max(least, found)

    def _given(self, name: str, function: Function, calls: Sequence[tuple[Function, ast.Call]]) -> Kind:
        if len(calls) > _MOST_CALLERS:
            return Kind.NOTHING
        given = (
            self.kind(value, where)
            for caller, call in calls
            for value, where in handed_to(self._program, name, function, call, caller)
        )
        return greatest(given)

    def _attribute(self, node: ast.Attribute, function: Function) -> Kind:
        if node.attr == "grad":
            return Kind.TENSOR
        if is_output_of_engine(node) and process_functions(self._program):
            return max(self.returned(each) for each in process_functions(self._program))
        if node.attr in FACTS:
            return (
                min(Kind.TENSOR, self.kind(node.value, function)) if node.attr in ("data", "indices") else Kind.NOTHING
            )
        name = dotted(node)
        if name.startswith("self.") and name.count(".") == 1 and function.owner is not None:
            return self._of_self(name, function)
        whole = self.kind(node.value, function)
        if not whole and isinstance(node.value, ast.Name):
            put = self._put_by_called(node.value.id, f".{node.attr}", function)
            most = greatest(self.kind(*each) for each in put)
            if most:
                return most
        classes = self._program.objects.classes_of(node.value, function)
        found = [self._of_attribute(each, node.attr) for each in classes[:MOST_CLASSES]]
        known = [each for each in found if each is not None]
        if name and not known and not whole:
            return self._attribute_of_shared(name, function)
        if not known:
            return whole
        return min(max(known), whole) if whole else max(known)

    def _attribute_of_shared(self, name: str, function: Function) -> Kind:
        """What functions set as an attribute of a variable of the file, or of a class: `State.last = out`."""
        head = name.partition(".")[0]
        if head in function.bound or head in all_parameters(function):
            return Kind.NOTHING
        return self._global(name, function)

    def _of_self(self, name: str, function: Function) -> Kind:
        """What a class binds an attribute to; in the same method it comes first."""
        own = [*(value for _, value in function.bound.get(name, ())), *function.contents.get(name, ())]
        here = self.most(own, function) if name in function.bound else Kind.NOTHING
        assert function.owner is not None
        found = self._of_attribute(function.owner, name[5:]) or Kind.NOTHING
        is_sure = found is Kind.GRAPH and self._always_has_graph(function.owner, name)
        return max(here, found if is_sure else min(Kind.TENSOR, found))

    def _always_has_graph(self, cls: Class, name: str) -> bool:
        """Whether all that a class binds an attribute to, but constants, has a graph."""
        bound = [
            (value, each)
            for one in self._program.relatives(cls)
            for each in one.functions
            for _, value in each.bound.get(name, ())
        ]
        made = [each for each in bound if not isinstance(each[0], ast.Constant)]
        return bool(made) and all(self.kind(*each) is Kind.GRAPH for each in made)

    def _of_attribute(self, cls: Class, name: str) -> Kind | None:
        """What an attribute of a class's objects is; None where the class says nothing of it."""
        method = self._program.method_of(cls, name)
        if method is not None:
            return self.returned(method) if is_property(method) else None
        annotated = self._program.field_of(cls, name)
        values = [*self._program.attribute_values(cls, name), *bound_from_outside(self._program, cls, name)]
        if annotated is None and not values:
            return None
        if _is_tensor(annotated) and not values:
            return Kind.TENSOR
        return self._questions.answer((cls, name), lambda: greatest(self.kind(value, each) for value, each in values))

    def of_objects(self, cls: Class) -> Kind:
        """The tensors that objects of a class have in their attributes."""
        return self._questions.answer((cls, "objects"), lambda: min(Kind.TENSOR, self._of_objects(cls)))

    def _of_objects(self, cls: Class) -> Kind:
        places = {name for one in self._program.relatives(cls) for each in one.functions for name in each.bound}
        names = [place[5:] for place in places if place.startswith("self.") and place.count(".") == 1]
        names += list(cls.fields)
        return greatest(self._of_attribute(cls, name) or Kind.NOTHING for name in names)

    def returned(self, called: Function, place: int | None = None) -> Kind:
        """What a function gives back: of a tuple, what stands at `place`."""
        return self._questions.answer((called, place), self._returned, called, place)

    def _returned(self, called: Function, place: int | None) -> Kind:
        values = [each.value for each in (*called.returns, *called.yields) if each.value is not None]
        if place is not None and all(isinstance(each, (ast.Tuple, ast.Call)) for each in values):
            values = [part for each in values for part in _at_place(each, place)]
        found = self.most(values, called)
        return min(found, Kind.TENSOR) if _yields_nothing(called) else found


def _at_place(value: ast.expr, place: int) -> Iterator[ast.expr]:
    """What stands at a place of a tuple, or of what a call gives."""
    if isinstance(value, ast.Tuple):
        yield from value.elts[place : place + 1] if place >= 0 else ()
    else:
        yield element_of(value, place)


@lru_cache(maxsize=64)
def _of_lambdas(function: Function) -> set[str]:
    """Parameters of the lambdas in a function."""
    lambdas = (node for node in walk(function.node) if isinstance(node, ast.Lambda))
    return {parameter.arg for each in lambdas for parameter in each.args.args}


def _yields_nothing(called: Function) -> bool:
    """Whether a decorator of the function has it run without autograd."""
    return any("no_grad" in ast.dump(each) for each in getattr(called.node, "decorator_list", ()))


def _is_activation(name: str, function: Function) -> bool:
    """Whether a parameter of a module's `forward` is what the module before it made, by its name."""
    annotation = annotation_of(name, function)
    if annotation is not None and not _is_tensor(annotation):
        return False
    return bool(ACTIVATIONS.fullmatch(name))


def _is_number(annotation: ast.expr | None) -> bool:
    """`float`, `int | None`, `Optional[str]`."""
    names = [node.id for node in walk(annotation) if isinstance(node, ast.Name)] if annotation is not None else []
    return bool(names) and all(each in ("float", "int", "str", "bool", "Optional", "Union") for each in names)


def _is_tensor(annotation: ast.expr | None) -> bool:
    text = dotted(annotation) if annotation is not None else ""
    return text.rpartition(".")[2] in ("Tensor", "FloatTensor", "LongTensor")
