"""Tensors that a program puts, again and again, into a container that lives on and that nothing empties."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.syntax.kept.cut_by_callers import is_cut_by_all
from tenure.syntax.kept.handed_methods import keeps_by_methods
from tenure.syntax.kept.kept_graphs import read_by
from tenure.syntax.kept.read_afterwards import line_that_reads_all
from tenure.syntax.kept.wanted_graphs import is_wanted
from tenure.syntax.program.arguments import given_to
from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.hooked import lambda_hook_around
from tenure.syntax.program.keeping import BY_NAME, Keep, is_rebuilt, keeps_of
from tenure.syntax.program.lifetimes import INITIALISERS, lifetimes
from tenure.syntax.program.open_keys import is_open_key, key_of, pair_of
from tenure.syntax.program.program import Program
from tenure.syntax.program.repeats import runs_repeatedly
from tenure.syntax.program.short_lives import is_long_lived, is_replaced, is_short_lived
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.kinds import Kind
from tenure.syntax.text.looked_up import tables_looked_up_in
from tenure.syntax.text.scopes import LoopNode, dotted
from tenure.syntax.text.tree_walks import walk
from tenure.syntax.values.graph_values import is_loss_name, is_loss_value
from tenure.syntax.values.known_names import NUMBERS
from tenure.syntax.values.tensor_values import TensorValues, tensor_values
from tenure.syntax.values.views import is_view
from tenure.syntax.values.without_graph import is_without_graph


@dataclass(frozen=True)
class Gathered:
    """What `keep` puts into its place in `function`; `at_intervals` says that something empties it now and then,
    `is_view` that a part of a larger tensor is kept, `is_copy` a copy made for it."""

    function: Function
    keep: Keep
    kind: Kind
    is_loss: bool
    by_key: bool
    at_intervals: bool
    is_view: bool
    is_copy: bool


@lru_cache(maxsize=1)
def find_gathered(program: Program) -> tuple[Gathered, ...]:
    """All of a program, in the order of its files."""
    return tuple(_find(program))


def _find(program: Program) -> Iterator[Gathered]:
    for function in program.functions:
        if not isinstance(function.node, ast.Module):
            for keep in keeps_of(function):
                look = _gathered if keep.kind == "element" else _waiting
                found = look(program, keep, function)
                if found is not None:
                    yield found
    for function, keep, holder in keeps_by_methods(program):
        gathered = _gathered(program, keep, function, holder)
        if gathered is not None:
            yield gathered


def _waiting(program: Program, keep: Keep, function: Function) -> Gathered | None:
    """Outputs with their graphs that an attribute keeps, all of a pass, until the next pass."""
    if keep.kind != "batch" or function.name in INITIALISERS or program.is_part_of_module(function):
        return None
    kind = tensor_values(program).kind(keep.value, function)
    if kind is not Kind.GRAPH or is_without_graph(program, function, keep.node):
        return None
    if is_wanted(program, keep.place, function) or not runs_repeatedly(program, function):
        return None
    return Gathered(function, keep, kind, is_loss_value(keep.value), False, False, False, False)


def _gathered(program: Program, keep: Keep, function: Function, holder: Function | None = None) -> Gathered | None:
    """`holder` is the function in which the place is called so, where it is another one."""
    life, values = lifetimes(program), tensor_values(program)
    is_joined = is_rebuilt(keep, function)
    origins = [(keep.place, function)] if is_joined else life.origins(keep.place, holder or function)
    if not origins:
        return None
    at_intervals = any(life.is_emptied_at_intervals(*each) for each in origins)
    emptied = any(life.is_emptied(*each) for each in origins) and not at_intervals
    by_epoch = emptied and all(life.is_emptied_by_epoch(*each) for each in origins)
    kept_short = emptied and all(life.is_kept_short(*each) for each in origins)
    if emptied and not by_epoch and not kept_short:
        return None
    kind = _kind(program, keep, function, values)
    if is_joined and is_without_graph(program, function, keep.node):
        kind = min(kind, Kind.TENSOR)
    if not kind or not _is_repeated(program, keep, function, kind):
        return None
    if all(_goes_with_its_object(program, *each) for each in origins):
        return None
    if kind is Kind.TENSOR and all(_is_of_replaced(program, *each) for each in origins):
        return None
    is_bounded = kept_short or any(life.is_bounded(*each) for each in origins) or _is_limited(keep, function)
    copied = is_copy(program, keep.value, function) or is_loaded(keep.value, function)
    viewed = is_view(program, keep.value, function, values) and not copied
    if (by_epoch or is_bounded) and not (viewed or kind is Kind.GRAPH):
        return None
    wanted = kind is Kind.GRAPH and any(is_wanted(program, place, where) for place, where in origins)
    if wanted and (is_bounded or by_epoch or not all(_outlives_each_pass(program, *each) for each in origins)):
        return None
    merges = key_of(keep) is None and isinstance(keep.node, ast.AugAssign) and isinstance(keep.node.op, ast.BitOr)
    if kind is Kind.GRAPH and _is_given_back(keep, function) and not is_cut_by_all(program, function):
        return None
    by_key = (key_of(keep) is not None and not is_joined) or pair_of(keep) is not None or merges
    if at_intervals and kind is Kind.TENSOR and not _may_be_one_number(keep.value):
        return None  # what is collected on purpose is emptied so, too
    if by_key and (not viewed or keep.place.endswith(BY_NAME)) and not is_open_key(program, keep, function):
        return None
    is_state = copied or isinstance(keep.value, ast.DictComp)
    if is_state and kind is Kind.TENSOR and _is_read_afterwards(program, keep, function):
        return None
    return Gathered(function, keep, kind, is_loss_value(keep.value), by_key, at_intervals, viewed, copied)


def _is_read_afterwards(program: Program, keep: Keep, function: Function) -> bool:
    """Copies that the program goes through once, when its work is done, are what it was done for."""
    name = keep.place.rpartition(".")[2]
    return bool(line_that_reads_all(program, function.source, keep.node.lineno, name)[1])


def _is_given_back(keep: Keep, function: Function) -> bool:
    """Whether the function looks up what it returns in the same place: its callers want the graph."""
    returned = [each.value for each in function.returns if each.value is not None]
    return keep.place in read_by(returned, function)


def _goes_with_its_object(program: Program, place: str, function: Function) -> bool:
    is_own = place.startswith("self.") and function.owner is not None
    return is_own and function.owner is not None and is_short_lived(program, function.owner, place[5:])


def _is_of_replaced(program: Program, place: str, function: Function) -> bool:
    is_own = place.startswith("self.") and function.owner is not None
    return is_own and function.owner is not None and is_replaced(program, function.owner)


def _outlives_each_pass(program: Program, place: str, function: Function) -> bool:
    """Whether a container is of an object that the program makes once: its first entries have long had their pass."""
    is_own = place.startswith("self.") and function.owner is not None
    return is_own and function.owner is not None and is_long_lived(program, function.owner)


def _kind(program: Program, keep: Keep, function: Function, values: TensorValues) -> Kind:
    """Of what is kept; an object that enters itself into a list of its class is what its attributes are."""
    if isinstance(keep.value, ast.Name) and keep.value.id == "self" and not keep.place.startswith("self."):
        own = program.names.class_of(function.class_name, function.source)
        methods = [each for one in program.relatives(own) for each in one.methods.values()] if own is not None else []
        attributes = (
            values.kind(value, method)
            for method in methods
            for name, bound in method.bound.items()
            if name.startswith("self.")
            for _, value in bound
        )
        life = lifetimes(program)
        joined = any(
            life.is_used_as_tensors(name, method)
            for method in methods
            for name in method.bound
            if name.startswith("self.")
        )
        return Kind.TENSOR if joined else min(Kind.TENSOR, max(attributes, default=Kind.NOTHING))
    if isinstance(keep.node, ast.Call) and called_name(keep.node) == "register_hook":
        return Kind.TENSOR  # `x.register_hook(self.gradients.append)`
    is_first = function.name in INITIALISERS and lambda_hook_around(keep.node, function) is None
    if is_first or (isinstance(keep.value, ast.Name) and _NAMES.fullmatch(keep.value.id)):
        return Kind.NOTHING
    found = values.kind(keep.value, function) or Kind(int(is_loaded(keep.value, function)))
    found = found or _of_object_made(program, keep.value, function, values)
    return found or Kind(
        int(_may_be_tensor(keep.value) and lifetimes(program).is_used_as_tensors(keep.place, function))
    )


def _of_object_made(program: Program, value: ast.expr, function: Function, values: TensorValues) -> Kind:
    """Of an object of the program, no module, that the function makes, or that callers make again and again and give
    it: what its attributes are."""
    made = _made_as(value, function)
    if not made and isinstance(value, ast.Name) and value.id in function.parameters:
        calls = program.callers(function)[:_MOST_CALLERS]
        given = ((each, caller) for caller, call in calls for each in given_to(value.id, function, call))
        made = [one for each in given for one in _made_as(*each) if runs_repeatedly(program, one[1], one[0])]
    classes = [program.names.class_of(dotted(call.func), where.source) for call, where in made if dotted(call.func)]
    owned = [each for each in classes if each is not None and not program.is_module_class(each.node.name, each.source)]
    return max((values.of_objects(each) for each in owned if not _collects(each, values)), default=Kind.NOTHING)


def _made_as(value: ast.expr, function: Function) -> list[tuple[ast.Call, Function]]:
    """The calls that a value is, or that its variable is bound to, each with the function; not those that a loop goes
    through by it."""
    if isinstance(value, ast.Name) and value.id in function.loop_names:
        return []
    bound = [each for _, each in function.bound.get(value.id, ())] if isinstance(value, ast.Name) else [value]
    return [(each, function) for each in bound if isinstance(each, ast.Call)]


def _collects(cls: Class, values: TensorValues) -> bool:
    """Whether methods of a class append tensors to a list of the object: what is told there."""
    return any(
        keep.kind == "element" and isinstance(keep.node, ast.Call) and keep.place.startswith("self.")
        for each in cls.functions
        for keep in keeps_of(each)
        if values.kind(keep.value, each)
    )


_MOST_STEPS = 3
_MOST_CALLERS = 8
_NAMES = re.compile(r"(\w+_)?(name|key|path)s?")


def _may_be_tensor(value: ast.expr) -> bool:
    return isinstance(value, (ast.Name, ast.Subscript, ast.Attribute)) or (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr not in NUMBERS
    )


def _is_repeated(program: Program, keep: Keep, function: Function, kind: Kind) -> bool:
    """Whether the statement runs again and again; results that one call collects in its own loop are wanted, unless
    they have graphs, are numbers that a loop has of each of its turns, or the loop never ends."""
    if lambda_hook_around(keep.node, function) is not None:
        return True
    loops = function.loops_around(keep.node.lineno)
    in_own_loop = (
        kind is Kind.GRAPH or is_one_number(keep.value) or ("." in keep.place and any(map(_is_endless, loops)))
    )
    return runs_repeatedly(program, function, keep.node if in_own_loop else None)


def _is_endless(loop: LoopNode) -> bool:
    """`while True` without a way out: the work of a thread."""
    ends = (ast.Break, ast.Return)
    always = isinstance(loop, ast.While) and getattr(loop.test, "value", False) is True
    return always and not any(isinstance(node, ends) for node in walk(loop))


def _is_limited(keep: Keep, function: Function) -> bool:
    """Whether the function looks at how much the place holds."""
    return any(
        called_name(call) == "len" and call.args and dotted(call.args[0]).replace("[]", "") == keep.place
        for node in walk(function.node)
        if isinstance(node, (ast.If, ast.While, ast.IfExp))
        for call in walk(node.test)
        if isinstance(call, ast.Call)
    )


def is_loaded(value: ast.expr, function: Function) -> bool:
    """Whether a value is a module that was given the parameters of another: `new.load_state_dict(net.state_dict())`."""
    return isinstance(value, ast.Name) and any(
        isinstance(call.func, ast.Attribute)
        and dotted(call.func.value) == value.id
        and any(isinstance(each, ast.Call) and called_name(each) == "state_dict" for each in call.args)
        for call in function.calls_of("load_state_dict")
    )


def is_copy(program: Program, value: ast.expr, function: Function, steps: int = 0) -> bool:
    """Whether what is kept is, or is made with, a copy made for it: `copy.deepcopy(model.state_dict())`."""
    for node in walk(value):
        if isinstance(node, ast.Call) and called_name(node) == "deepcopy":
            return True
        if steps < _MOST_STEPS and isinstance(node, ast.Call):
            called = program.called_by(node, function)
            given_back = [each.value for each in called.returns if each.value is not None] if called else []
            if called is not None and any(is_copy(program, each, called, steps + 1) for each in given_back):
                return True
        if steps < _MOST_STEPS and isinstance(node, ast.Name) and isinstance(value, (ast.Name, ast.Call, ast.Tuple)):
            given: list[tuple[ast.expr, Function]]
            given = [(each, function) for _, each in function.bound.get(node.id, ()) if isinstance(each, ast.Call)]
            if not given and node.id in function.parameters and not steps % 2:
                calls = program.callers(function)[:4]
                given = [(each, caller) for caller, call in calls for each in given_to(node.id, function, call)]
            if any(is_copy(program, each, where, steps + 1) for each, where in given):
                return True
    return False


_NUMBERS = re.compile(r"values?|val|v|scalar|metric|stat|norm|accuracy|acc|reward|entropy")


def is_one_number(value: ast.expr) -> bool:
    """Whether a value is a tensor of one number by how it is written: `loss.detach()`, `x.mean()`."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("mean", "sum", "norm") and not value.args:
            return True
        if value.func.attr in ("detach", "cpu", "clone"):
            return is_one_number(value.func.value)
    return isinstance(value, (ast.Name, ast.Attribute)) and is_loss_name(dotted(value).rpartition(".")[2])


def _may_be_one_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple):
        return any(map(_may_be_one_number, value.elts))
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach":
        value = value.func.value
    return is_one_number(value) or bool(_NUMBERS.fullmatch(dotted(value).rpartition(".")[2]))


def cause_of(gathered: Gathered) -> str:
    """What kind of thing is kept: "loss", "outputs", "copy", "view", "cache", "number" or "tensor"."""
    value = gathered.keep.value
    if gathered.is_copy:
        return "copy"
    if gathered.kind is Kind.GRAPH:
        return "loss" if gathered.is_loss else "outputs"
    if gathered.is_view:
        return "view"
    if gathered.by_key and _is_looked_up(gathered):
        return "cache"
    return "number" if is_one_number(value) or gathered.at_intervals else "tensor"


def _is_looked_up(gathered: Gathered) -> bool:
    """Whether the function looks for the key first: `if key not in`, `.get(key)`, `try: return cache[key]`, or runs
    where a key is missing."""
    sets_default = isinstance(gathered.keep.node, ast.Call) and called_name(gathered.keep.node) == "setdefault"
    missing = sets_default or gathered.function.name == "__missing__"
    if gathered.keep.place.endswith(BY_NAME) and gathered.function.calls_of("hasattr"):
        return True
    name, owner = gathered.keep.place.rpartition(".")[2], gathered.function.owner
    functions = owner.functions if owner is not None and "." in gathered.keep.place else [gathered.function]
    asked = (each for function in functions for each in tables_looked_up_in(function.node))
    return missing or any(name == dotted(each).rpartition(".")[2] for each in asked)
