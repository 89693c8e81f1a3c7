"""Containers as a program starts them: empty, with a length, or made by a class of its own."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tenure.syntax.program.functions import Binding, Class, Function, targets_of
from tenure.syntax.text.expressions import called_name, value_kind
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.value_parts import bound_to

_FACTORIES = frozenset({"list", "dict", "set", "deque", "OrderedDict"})
_CONTAINERS = frozenset({"list", "dict", "set", "deque", "OrderedDict", "defaultdict", "UserDict", "UserList"})


def is_unbounded_start(value: ast.expr | None) -> bool:
    """`[]`, `{}`, `defaultdict(list)`, `{layer: [] for layer in layers}`, `field(default_factory=list)`; no `deque`
    with a length."""
    if value is None:
        return False
    if isinstance(value, ast.Call):
        name = called_name(value)
        if any(each.arg == "maxlen" and getattr(each.value, "value", 0) is not None for each in value.keywords):
            return False
        if name == "deque" and len(value.args) > 1:
            return False
        if name == "field":
            factory = next((each.value for each in value.keywords if each.arg == "default_factory"), None)
            if isinstance(factory, ast.Lambda):
                return is_unbounded_start(factory.body)
            return factory is not None and dotted(factory).rpartition(".")[2] in _FACTORIES
        if name == "defaultdict" and value.args and _makes_bounded(value.args[0]):
            return False
        return name not in ("Counter", "tuple") and "Queue" not in name and value_kind(value) == "empty"
    if isinstance(value, ast.DictComp):
        return is_unbounded_start(value.value)
    return isinstance(value, (ast.List, ast.Dict)) and value_kind(value) == "empty"


def has_length(value: ast.expr) -> bool:
    """Whether a value is a container with a length: `deque(maxlen=8)`, a table that makes such, `[None] * 8`."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        parts = value.left.elts if isinstance(value.left, ast.List) else []
        return len(parts) == 1 and isinstance(parts[0], ast.Constant) and parts[0].value is None
    if not isinstance(value, ast.Call) or is_unbounded_start(value):
        return False
    return called_name(value) == "deque" or (called_name(value) == "defaultdict" and bool(value.args))


def _makes_bounded(factory: ast.expr) -> bool:
    """`partial(deque, maxlen=8)`, `lambda: deque(maxlen=8)`."""
    if isinstance(factory, ast.Lambda):
        return has_length(factory.body)
    if not isinstance(factory, ast.Call) or called_name(factory) != "partial" or not factory.args:
        return False
    made = ast.Call(func=factory.args[0], args=factory.args[1:], keywords=factory.keywords)
    return has_length(made)


def is_container(base: str) -> bool:
    """Whether a class with this base is a list or a table itself."""
    return base.rpartition(".")[2] in _CONTAINERS


def started_by(binding: Binding, is_first: bool = False, own: Collection[str] = ()) -> Iterator[str]:
    """Names that a statement binds to empty containers: both of `rows, names = [], []`; where an object is made, to
    lists with a first element too. `own` are classes whose objects are containers."""
    if binding.value is None or isinstance(binding.value, ast.Constant):
        return
    for target in targets_of(binding):
        for name, value in bound_to(target, binding.value):
            has_one = is_first and isinstance(value, ast.List) and len(value.elts) == 1
            is_own = isinstance(value, ast.Call) and called_name(value) in own and not (value.args or value.keywords)
            if has_one or is_own or is_unbounded_start(value):
                yield name


def class_containers(cls: Class) -> Iterator[str]:
    """Attributes that a class's body binds to empty containers."""
    for node in cls.node.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and is_unbounded_start(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def mutable_defaults(function: Function) -> set[str]:
    """Parameters whose default is a container, one for all calls."""
    if isinstance(function.node, ast.Module):
        return set()
    arguments = function.node.args
    by_place = [*arguments.posonlyargs, *arguments.args]
    pairs = list(zip(reversed(by_place), reversed(arguments.defaults), strict=False))
    return {each.arg for each, default in pairs if isinstance(default, (ast.List, ast.Dict, ast.Set))}
