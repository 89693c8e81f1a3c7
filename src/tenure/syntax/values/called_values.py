"""What a call gives: a function of the program or of torch, a module, a method of what has a value."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tenure.syntax.program.arguments import all_parameters
from tenure.syntax.program.functions import Function
from tenure.syntax.program.program import Program
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.value_parts import arguments_of
from tenure.syntax.values.getters import applied as gotten_by
from tenure.syntax.values.getters import gotten, is_getter
from tenure.syntax.values.gradient_rings import makes_graph
from tenure.syntax.values.graph_values import (
    CONTAINERS,
    CUTTING,
    FUNCTIONALS,
    is_cutting,
    is_holding,
    is_loss_name,
    is_module_name,
    modules_of,
)
from tenure.syntax.values.known_names import (
    CASTS,
    NAMED,
    NOT_TENSORS,
    NUMBERS,
    OF_CONTAINERS,
    OF_TENSORS,
    PASSING,
    RUNNING,
)
from tenure.syntax.values.without_graph import is_without_graph, runs_without_graph

if TYPE_CHECKING:
    from tenure.syntax.values.tensor_values import TensorValues

MOST_CLASSES = 4
"""Of the classes that an object may be of, so many are looked at."""


class CalledValues:
    """Of the calls in a program. What is called with, and given back, is asked of `values`."""

    def __init__(self, values: TensorValues, program: Program) -> None:
        self._values = values
        self._program = program

    def of(self, call: ast.Call, function: Function, place: int | None = None) -> Kind:
        """What a call gives in `function`; of a tuple, what stands at `place`."""
        name = called_name(call)
        if any(each.arg == "return_tensors" and getattr(each.value, "value", None) == "pt" for each in call.keywords):
            return Kind.TENSOR
        is_cast = name in CASTS and isinstance(call.func, ast.Attribute)
        if (name in NUMBERS and not is_cast) or (place == 0 and name in NAMED):
            return Kind.NOTHING
        if (given := gotten(self._program, call, function)) is not None:
            return self._values.kind(given, function)
        called = self._program.called_by(call, function)
        if called is not None and called.name != "__init__":
            found = max(self._values.returned(each, place) for each in (called, *self._program.instead_of(called)))
            if found is Kind.NOTHING and _gives_itself_back(called):
                found = self._values.most(arguments_of(call), function)
            return min(Kind.TENSOR, found) if is_without_graph(self._program, function, call) else found
        if self._is_module(call, function):
            return self._of_module(call, function, place)
        if called is None and (may := self._program.may_call(call, function)):
            found = max(self._values.returned(each, place) for each in may)
            return min(Kind.TENSOR, found) if is_without_graph(self._program, function, call) else found
        found = self._of_other(call, function, name)
        if found is Kind.GRAPH and is_without_graph(self._program, function, call):
            return Kind.TENSOR
        return found

    def _of_other(self, call: ast.Call, function: Function, name: str) -> Kind:
        owner = dotted(call.func.value) if isinstance(call.func, ast.Attribute) else ""
        if owner in ("torch", "torch.linalg", "torch.fft", "torch.special", *FUNCTIONALS):
            if name in NOT_TENSORS or not name[0].islower():
                return Kind.NOTHING
            if name in CUTTING:
                return Kind.TENSOR
            return max(Kind.TENSOR, self._values.most(arguments_of(call)[1:], function))
        if owner in ("torch.autograd", "autograd") and name == "grad":
            return Kind.GRAPH if makes_graph(call) else Kind.TENSOR
        if isinstance(call.func, ast.Attribute):
            return self._of_method(call, function, name, call.func.value)
        made = self._program.names.class_of(name, function.source) is not None or is_holding(call)
        if name == "getattr" and len(call.args) > 1:
            return self._values.kind(call.args[0], function)
        lambdas = [value for _, value in function.bound.get(name, ()) if isinstance(value, ast.Lambda)]
        if lambdas:
            return self._values.most((each.body for each in lambdas), function)
        if name == "deepcopy" and self._copies_tensors(call.args[:1], function):
            return Kind.TENSOR
        if name == "map" and call.args:
            return self._of_map(call, function)
        if name in CONTAINERS or name in PASSING or made or name in ("partial", "deepcopy", "copy"):
            return self._values.most(call.args + [each.value for each in call.keywords], function)
        if is_loss_name(name) or self._is_handed_in(name, function):
            if any(self._is_module_name(each, function) for each in call.args):
                return Kind.GRAPH
            return self._values.most(call.args + [each.value for each in call.keywords], function)
        return Kind.NOTHING

    def _of_map(self, call: ast.Call, function: Function) -> Kind:
        """What the function gives, where it is the program's, or what it is given: `map(torch.detach, xs)`."""
        applied = call.args[0]
        run = self._program.objects.run_by(applied, function)
        if run:
            return max(self._values.returned(each) for each, _ in run)
        body = applied.body if isinstance(applied, ast.Lambda) else None
        last = called_name(body) if isinstance(body, ast.Call) else dotted(applied).rpartition(".")[2]
        if last in NUMBERS:
            return Kind.NOTHING
        if is_getter(applied):
            return self._values.most((gotten_by(applied, each) for each in call.args[1:]), function)  # type: ignore[arg-type]
        computed = self._values.kind(body, function) if body is not None and not is_cutting(call) else Kind.NOTHING
        found = max(self._values.most(call.args[1:], function), computed)
        return min(Kind.TENSOR, found) if is_cutting(call) else found

    def _copies_tensors(self, copied: list[ast.expr], function: Function) -> bool:
        """Whether what is copied is a module, or an object that has tensors."""
        objects = self._program.objects
        return any(
            objects.is_module(each, function)
            or self._is_module_name(each, function)
            or any(self._values.of_objects(cls) for cls in objects.classes_of(each, function))
            for each in copied
        )

    def _of_method(self, call: ast.Call, function: Function, name: str, receiver: ast.expr) -> Kind:
        if name == "__enter__" or (name in RUNNING and call.args):
            given = self._of_run(call, function, name, receiver)
            if given is not None:
                return given
        if name in ("state_dict", "named_parameters", "parameters") or (name in CUTTING and name in OF_TENSORS):
            return Kind.TENSOR
        own = self._values.kind(receiver, function)
        if name in CUTTING:
            return min(Kind.TENSOR, own)
        if own:
            is_tensor_method = name not in OF_CONTAINERS and dotted(receiver) != "self"
            if own is Kind.GRAPH or not is_tensor_method:
                return own
            return max(own, self._values.most(call.args, function))
        if name in OF_TENSORS and not (call.args and name == "contiguous"):
            return max(Kind.TENSOR, own)
        if dotted(receiver) == "self" or is_loss_name(name) or self._is_module_name(receiver, function):
            return self._values.most(call.args + [each.value for each in call.keywords], function)
        if name == "deepcopy" and self._copies_tensors(call.args[:1], function):
            return Kind.TENSOR
        if is_holding(call):
            return self._values.most(call.args + [each.value for each in call.keywords], function)
        if dotted(receiver) in ("copy", "functools", "collections", "itertools", "asyncio", "dataclasses"):
            return self._values.most(call.args, function)
        return Kind.NOTHING

    def _of_run(self, call: ast.Call, function: Function, name: str, receiver: ast.expr) -> Kind | None:
        """What a `with` statement, or a pool, runs of the program's functions; None where it runs none."""
        objects = self._program.objects
        if name == "__enter__":
            methods = [self._program.method_of(each, name) for each in objects.classes_of(receiver, function)]
            known = [self._values.returned(each) for each in methods if each is not None]
        else:
            run = objects.run_by(call.args[int(name == "run_in_executor")], function)
            known = [self._values.returned(each) for each, _ in run]
        return max(known) if known else (self._values.kind(receiver, function) if name == "__enter__" else None)

    def _is_handed_in(self, name: str, function: Function) -> bool:
        """Whether what is called is a value of the function: a parameter, or an element of one."""
        return name in all_parameters(function) or name in function.bound

    def _is_module_name(self, node: ast.expr, function: Function) -> bool:
        name = dotted(node)
        return bool(name) and (name in modules_of(self._program, function) or is_module_name(name))

    def _is_module(self, call: ast.Call, function: Function) -> bool:
        if not (call.args or call.keywords):
            return False
        name = dotted(call.func)
        last = name.rpartition(".")[2]
        if not name:
            return False
        if name in modules_of(self._program, function) or last == "forward":
            return True
        if self._program.objects.is_module(call.func, function):
            return True
        return (name.startswith("self.") or "." not in name) and is_module_name(last)

    def _of_module(self, call: ast.Call, function: Function, place: int | None) -> Kind:
        """A module's result has a graph, unless its own class is known and cuts it at this place."""
        known = self._of_forwards(call, function, place) if place is not None else Kind.GRAPH
        if runs_without_graph(self._program, call, function):
            known = min(known, Kind.TENSOR)
        if known is Kind.GRAPH and self._program.objects.is_frozen(call.func, function):
            known = max(Kind.TENSOR, self._values.most([*call.args, *(each.value for each in call.keywords)], function))
        return min(known, Kind.TENSOR) if is_without_graph(self._program, function, call) else known

    def _of_forwards(self, call: ast.Call, function: Function, place: int) -> Kind:
        """What the `forward` of the classes that are called gives at a place, where all of them are known."""
        made = self._program.made_by(dotted(call.func), function)
        classes = [made] if made is not None else self._program.objects.classes_of(call.func, function)[:MOST_CLASSES]
        forwards = [self._program.method_of(each, "forward") for each in classes]
        known = [self._values.returned(each, place) for each in forwards if each is not None]
        return max(known) if known and len(known) == len(classes) else Kind.GRAPH


def _gives_itself_back(called: Function) -> bool:
    """Whether a method stores what it is given and returns its object: `card.mark("answer", answer)`."""
    returns = [dotted(each.value) for each in called.returns]
    return bool(returns) and called.is_method and set(returns) == {"self"} and bool(called.contents or called.bound)
