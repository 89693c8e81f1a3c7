"""Tensors that a program puts, again and again, into a container that lives on and that nothing empties."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tenure.syntax.arguments import given_to
from tenure.syntax.expressions import called_name
from tenure.syntax.graph_values import is_loss_name
from tenure.syntax.keeping import Keep, keeps_of
from tenure.syntax.kinds import Kind
from tenure.syntax.lifetimes import INITIALISERS, lifetimes
from tenure.syntax.program import Binding, Function, Program, targets_of
from tenure.syntax.repeats import runs_repeatedly
from tenure.syntax.scopes import dotted
from tenure.syntax.tensor_values import NUMBERS, TensorValues, tensor_values
from tenure.syntax.value_parts import bound_names, gone_through


@dataclass(frozen=True)
class Gathered:
    """What `keep` puts into its place in `function`; `at_intervals` says that something empties it now and then."""

    function: Function
    keep: Keep
    kind: Kind
    is_loss: bool
    by_key: bool
    at_intervals: bool


@lru_cache(maxsize=1)
def find_gathered(program: Program) -> tuple[Gathered, ...]:
    """All of a program, in the order of its files."""
    return tuple(_find(program))


def _find(program: Program) -> Iterator[Gathered]:
    life, values = lifetimes(program), tensor_values(program)
    for function in program.functions:
        if isinstance(function.node, ast.Module):
            continue
        for keep in keeps_of(function):
            is_joined = isinstance(keep.node, ast.Assign) and isinstance(keep.node.targets[0], ast.Attribute)
            lives_on = is_joined or life.is_kept_empty_at_first(keep.place, function)
            if keep.kind != "element" or not lives_on:
                continue
            at_intervals = life.is_emptied_at_intervals(keep.place, function)
            if (life.is_emptied(keep.place, function) and not at_intervals) or _is_limited(keep, function):
                continue
            kind = _kind(program, keep, function, values)
            if not kind or not _is_repeated(program, keep, function, kind):
                continue
            by_key = (isinstance(keep.node, ast.Assign) and not is_joined) or _pair_of(keep) is not None
            if at_intervals and kind is Kind.TENSOR and not _may_be_one_number(keep.value):
                continue  # what is collected on purpose is emptied so, too
            if not by_key or _is_open_key(program, keep, function):
                yield Gathered(function, keep, kind, _is_loss(keep.value), by_key, at_intervals)


def _kind(program: Program, keep: Keep, function: Function, values: TensorValues) -> Kind:
    """Of what is kept; an object that enters itself into a list of its class is what its attributes are."""
    if isinstance(keep.value, ast.Name) and keep.value.id == "self" and not keep.place.startswith("self."):
        own = program.class_of(function.class_name, function.source)
        methods = [each for one in program.relatives(own) for each in one.methods.values()] if own is not None else []
        attributes = (
            values.kind(value, method)
            for method in methods
            for name, bound in values.bindings(method).items()
            if name.startswith("self.")
            for _, value in bound
        )
        life = lifetimes(program)
        joined = any(
            life.is_used_as_tensors(name, method)
            for method in methods
            for name in values.bindings(method)
            if name.startswith("self.")
        )
        return Kind.TENSOR if joined else min(Kind.TENSOR, max(attributes, default=Kind.NOTHING))
    if function.name in INITIALISERS:
        return Kind.NOTHING
    found = values.kind(keep.value, function)
    return found or Kind(
        int(_may_be_tensor(keep.value) and lifetimes(program).is_used_as_tensors(keep.place, function))
    )


def _may_be_tensor(value: ast.expr) -> bool:
    return isinstance(value, (ast.Name, ast.Subscript, ast.Attribute)) or (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr not in NUMBERS
    )


def _is_repeated(program: Program, keep: Keep, function: Function, kind: Kind) -> bool:
    """Whether the statement runs again and again; results that one call collects in its own loop are wanted, unless
    they have graphs."""
    return runs_repeatedly(program, function, keep.node if kind is Kind.GRAPH else None)


def _is_limited(keep: Keep, function: Function) -> bool:
    """Whether the function looks at how much the place holds."""
    return any(
        called_name(call) == "len" and call.args and dotted(call.args[0]).replace("[]", "") == keep.place
        for node in ast.walk(function.node)
        if isinstance(node, (ast.If, ast.While, ast.IfExp))
        for call in ast.walk(node.test)
        if isinstance(call, ast.Call)
    )


_COUNTING = re.compile(
    r"(^|_)(step|steps|batch|round|trial|iteration|iter|it|number|num|count|counter|ticket|epoch|idx|index|batch_idx|uid"
    r"|request_id|offset|start|timestamp|time|uuid|token|length|len|size|shape|height|width|seq_len|seqlen|scene)s?$"
)
_OPEN_CALLS = frozenset({"id", "data_ptr", "size", "next", "len", "map", "hash", "uuid4", "time", "numel", "tobytes"})


def _is_open_key(program: Program, keep: Keep, function: Function) -> bool:
    """Whether a key is another one again and again: counted, measured, or the identity of an object."""
    pair = _pair_of(keep)
    if pair is not None:
        return not isinstance(pair.elts[0], ast.Name) and _is_open(program, pair.elts[0], function, 0)
    target = _subscript(keep)
    return target is not None and _is_open(program, target.slice, function, 0)


def _is_open(program: Program, key: ast.expr, function: Function, depth: int) -> bool:
    for node in ast.walk(key):
        if isinstance(node, ast.Call) and called_name(node) in _OPEN_CALLS:
            return True
        called = program.called_by(node, function) if isinstance(node, ast.Call) and depth < 2 else None
        if called is not None and called.class_name:
            given_back = (each.value for each in called.returns if each.value is not None)
            if any(_is_open(program, value, called, depth + 2) for value in given_back):
                return True
        if isinstance(node, ast.Attribute) and (node.attr == "shape" or _COUNTING.search(node.attr)):
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            bound = [each.value for each in function.bindings if node.id in _names_bound(each)]
            if depth < 3 and any(
                value is not None and _is_open(program, value, function, depth + 1) for value in bound
            ):
                return True
            if not bound and not isinstance(key, ast.Call):
                if _COUNTING.search(node.id):
                    return True
                if depth < 3 and node.id in function.parameters and _is_given_open(program, node.id, function, depth):
                    return True
    return False


def _names_bound(binding: Binding) -> set[str]:
    return {name for target in targets_of(binding) for name in bound_names(target)}


def _is_given_open(program: Program, name: str, function: Function, depth: int) -> bool:
    return any(
        _is_open(program, value, caller, depth + 1)
        for caller, call in program.callers(function)[:8]
        for value in given_to(name, function, call)
        if not isinstance(value, ast.Name) or value.id != name
    )


def _pair_of(keep: Keep) -> ast.Tuple | None:
    """Key and value of `table.update((key, value) for ...)`."""
    is_update = isinstance(keep.node, ast.Call) and called_name(keep.node) == "update"
    pair = keep.value.elt if is_update and isinstance(keep.value, ast.GeneratorExp) else None
    return pair if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 else None


def _subscript(keep: Keep) -> ast.Subscript | None:
    if not isinstance(keep.node, ast.Assign):
        return None
    return next((each for each in keep.node.targets if isinstance(each, ast.Subscript)), None)


def _is_loss(value: ast.expr) -> bool:
    """Whether a value is a loss by its name, or by a name within."""
    return any(
        is_loss_name(node.id if isinstance(node, ast.Name) else node.attr)
        for node in ast.walk(value)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def is_copy(value: ast.expr) -> bool:
    """Whether what is kept is a copy made for it: `copy.deepcopy(model.state_dict())`."""
    return any(isinstance(node, ast.Call) and called_name(node) == "deepcopy" for node in ast.walk(value))


def is_view(gathered: Gathered, values: TensorValues) -> bool:
    """Whether what is kept is a part of a larger tensor, with all of that one's memory."""
    return any(_is_part(each, gathered.function, values, 0) for each in _kept_values(gathered.keep.value))


_ROWS = frozenset({"unbind", "split", "chunk", "unfold", "select", "narrow", "diagonal"})
_SAME_MEMORY = frozenset({"detach", "squeeze", "view", "flatten", "unsqueeze", "t", "permute", "transpose", "expand"})


def _kept_values(value: ast.expr) -> Iterator[ast.expr]:
    """A value, or what a tuple, a dict or the call of a class takes up."""
    if isinstance(value, (ast.Tuple, ast.List)):
        for each in value.elts:
            yield from _kept_values(each)
    elif isinstance(value, ast.Dict):
        for each in value.values:
            yield from _kept_values(each)
    elif isinstance(value, ast.Call) and called_name(value)[:1].isupper():
        for each in (*value.args, *(keyword.value for keyword in value.keywords)):
            yield from _kept_values(each)
    else:
        yield value


def _is_part(value: ast.expr, function: Function, values: TensorValues, depth: int) -> bool:
    if depth > 4:
        return False
    if isinstance(value, ast.Subscript):
        return (
            _selects(value.slice)
            and bool(values.kind(value.value, function))
            and _is_tensor_itself(value.value, function)
        )
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in _ROWS:
            return bool(values.kind(value.func.value, function))
        if value.func.attr in _SAME_MEMORY:
            return _is_part(value.func.value, function, values, depth + 1)
        return False
    if isinstance(value, ast.Name):
        if any(value.id in bound_names(loop.target) for loop in function.loops if isinstance(loop, ast.For)):
            return _is_row(value.id, function, values)
        bound = values.bindings(function).get(value.id, [])
        return any(_is_part(each, function, values, depth + 1) for _, each in bound)
    return False


def _is_row(name: str, function: Function, values: TensorValues) -> bool:
    """Whether a loop goes through a tensor itself by this name."""
    for loop in function.loops:
        if isinstance(loop, ast.For):
            for bound, iterated in gone_through(loop.target, loop.iter):
                if bound == name and isinstance(iterated, ast.Subscript) and isinstance(iterated.value, ast.Call):
                    return False
                if bound == name and not isinstance(iterated, ast.Call):
                    return bool(values.kind(iterated, function)) and _is_tensor_itself(iterated, function)
                if bound == name and isinstance(iterated, ast.Call) and called_name(iterated) in _ROWS:
                    return True
    return False


def _is_tensor_itself(value: ast.expr, function: Function) -> bool:
    """Whether a value is no list, dict or tuple of tensors, as far as its own name and binding tell."""
    if isinstance(value, ast.Name):
        bound = [each.value for each in function.bindings if value.id in map(dotted, targets_of(each))]
        return not any(isinstance(each, (ast.List, ast.Dict, ast.Tuple, ast.ListComp, ast.DictComp)) for each in bound)
    return isinstance(value, (ast.Call, ast.Attribute, ast.Subscript))


def _selects(index: ast.expr) -> bool:
    """Whether an index takes a part without copying: numbers and slices, no list and no mask."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    numbers = all(
        isinstance(each, (ast.Slice, ast.UnaryOp))
        or (isinstance(each, ast.Constant) and (each.value is None or isinstance(each.value, int) or each.value is ...))
        for each in parts
    )
    return numbers and not all(_is_whole(each) for each in parts)


def _is_whole(index: ast.expr) -> bool:
    if isinstance(index, ast.Slice):
        return index.lower is None and index.upper is None and index.step is None
    return isinstance(index, ast.Constant) and (index.value is None or index.value is ...)


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
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "detach":
        value = value.func.value
    return is_one_number(value) or bool(_NUMBERS.fullmatch(dotted(value).rpartition(".")[2]))


def cause_of(gathered: Gathered, values: TensorValues) -> str:
    """What kind of thing is kept: "loss", "outputs", "copy", "view", "cache", "number" or "tensor"."""
    value = gathered.keep.value
    if is_copy(value):
        return "copy"
    if gathered.kind is Kind.GRAPH:
        return "loss" if gathered.is_loss else "outputs"
    if is_view(gathered, values):
        return "view"
    if gathered.by_key and _is_looked_up(gathered):
        return "cache"
    return "number" if is_one_number(value) or gathered.at_intervals else "tensor"


def _is_looked_up(gathered: Gathered) -> bool:
    """Whether the function looks for the key first: `if key not in`, `.get(key)`, `try: return cache[key]`."""
    return any(gathered.keep.place == asked for asked in _looked_up_in(gathered.function.node))


def _looked_up_in(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and any(isinstance(each, (ast.In, ast.NotIn)) for each in node.ops):
            yield from map(dotted, node.comparators)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            yield dotted(node.func.value)
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Subscript):
            yield dotted(node.value.value)
