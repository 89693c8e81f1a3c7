"""Statements that keep a value beyond the iteration that made it: elements of containers, sums, averages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

from tenure.syntax.program.functions import Binding, Function, is_in_body, targets_of
from tenure.syntax.text.expressions import called_name, place_of
from tenure.syntax.text.scopes import LoopNode, declared_names, dotted, statements
from tenure.syntax.text.store_calls import GROWING_FUNCTIONS, stores_of_call
from tenure.syntax.text.tree_walks import walk

_ONE = frozenset({"append", "appendleft", "add", "insert", "push", "put", "put_nowait"})
_MANY = frozenset({"extend", "extendleft"})
_JOINING = frozenset({"cat", "concat", "hstack", "vstack"})
_EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "reset"})


@dataclass(frozen=True)
class Keep:
    """`place` is what keeps, as written (`self.history`); `node` the statement or call that does it."""

    kind: str
    """"element" of a container that grows, "sum" that leads to all that went into it, or "batch" that is kept until
    the next one."""
    place: str
    value: ast.expr
    node: ast.expr | ast.stmt


BY_NAME = "*"
"""Stands for an attribute whose name is computed: `setattr(self, f"row_{step}", row)`."""
_FIRST_TURNS: WeakKeyDictionary[Function, dict[str, set[int]]] = WeakKeyDictionary()
_KEEPS: WeakKeyDictionary[Function, tuple[Keep, ...]] = WeakKeyDictionary()


def keeps_of(function: Function) -> tuple[Keep, ...]:
    """All of one function, in source order of their kinds."""
    if function not in _KEEPS:
        _KEEPS[function] = tuple(_keeps_of(function))
    return _KEEPS[function]


def _keeps_of(function: Function) -> Iterator[Keep]:
    for binding in function.bindings:
        if isinstance(binding, ast.AugAssign) and isinstance(binding.op, ast.Add):
            yield from _added(binding)
        elif isinstance(binding, ast.AugAssign) and isinstance(binding.op, ast.BitOr):
            place = dotted(binding.target)
            if place and "[]" not in place and isinstance(binding.value, ast.Dict):
                yield from (Keep("element", place, each, binding) for each in binding.value.values)
            elif "." in place and "[]" not in place:
                yield Keep("element", place, binding.value, binding)
        elif isinstance(binding, ast.Assign):
            for target in binding.targets:
                yield from _assigned(binding, target)
    for call in function.calls:
        yield from _set_by_name(call, function)
        yield from _called(call)


def outlives(keep: Keep, function: Function, loop: LoopNode | None) -> bool:
    """Whether the place is there before, and after, the turn of the loop that the statement is in; without a loop,
    the call of the function."""
    bound = [each.lineno for each in _bindings_by_place(function).get(keep.place, ()) if _binds_anew(each, keep)]
    if loop is not None and len(bound) > 1:
        first = first_turns(function, keep.place)
        bound = [line for line in bound if line not in first]
    if loop is not None:
        inside = any(is_in_body(each, loop) for each in bound)
        if keep.place in function.loop_names and isinstance(keep.node, ast.Assign):
            return False
        return not inside and (bool(bound) or "." in keep.place or _is_from_outside(keep, function))
    is_anew = keep.kind == "sum" or _binds(keep)
    rebinds = is_anew and keep.place in function.parameters
    return not bound and not rebinds and ("." in keep.place or _is_from_outside(keep, function))


def is_emptied(keep: Keep, function: Function, loop: LoopNode | None) -> bool:
    """Whether the function itself empties the place in each turn of the loop, or each time it runs."""
    emptied = (
        call.lineno
        for call in function.calls_of(*_EMPTYING)
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == keep.place
    )
    return any(loop is None or is_in_body(each, loop) for each in emptied)


def is_rebuilt(keep: Keep, function: Function) -> bool:
    """Whether an attribute, or a variable of a function around, is bound to what it was and more."""
    if "." in keep.place:
        joins = isinstance(keep.node, ast.Assign) and isinstance(keep.node.value, ast.Call)
        return _binds(keep) and (joins or keep.place.startswith("self."))
    return _binds(keep) and any(keep.place in each.names for each in function.declarations)


def _binds(keep: Keep) -> bool:
    return isinstance(keep.node, ast.Assign) and keep.place in map(dotted, keep.node.targets)


def _is_from_outside(keep: Keep, function: Function) -> bool:
    return keep.place in function.parameters or keep.place in declared_in(function)


def _added(binding: ast.AugAssign) -> Iterator[Keep]:
    place = dotted(binding.target)
    if isinstance(binding.value, (ast.List, ast.Tuple)):
        place = place.replace("[]", "")
        yield from (Keep("element", place, each, binding) for each in binding.value.elts if place)
    elif isinstance(binding.value, ast.ListComp):
        if place:
            yield Keep("element", place.replace("[]", ""), binding.value, binding)
    elif place:
        yield Keep("sum", place.replace("[]", ""), binding.value, binding)


def _assigned(binding: ast.Assign, target: ast.expr) -> Iterator[Keep]:
    if isinstance(target, ast.Subscript):
        place = place_of(target.value)
        if _is_whole(target.slice) and not _mentions(binding.value, place):
            return
        if place and _adds_to_itself(binding.value, place):
            yield Keep("sum", place, binding.value, binding)
        elif place and not isinstance(target.slice, ast.Constant):
            yield Keep("element", place, binding.value, binding)
        return
    place = dotted(target)
    if place.startswith("self.") and "[]" not in place and _gathers_many(binding.value):
        yield Keep("batch", place, binding.value, binding)
        return
    for value in _alternatives(binding.value) if place else ():
        added = list(added_anew(value, place))
        yield from (Keep("element", place, part, binding) for part in added)
        if not added and isinstance(value, ast.BinOp) and _mentions(value, place):
            yield from (Keep("sum", place, part, binding) for part in _operands(value) if not _mentions(part, place))


def added_anew(value: ast.expr, place: str) -> Iterator[ast.expr]:
    """What a new container has beside what was in the place: `torch.cat([rows, x])`, `rows + [x]`, `[*rows, x]`,
    `{**rows, key: x}`, `rows | {key: x}`, and `(x, rows)` and `scopes.new_child(x)`, which lead to all before."""
    if isinstance(value, ast.Call) and called_name(value) in _JOINING and value.args:
        parts = getattr(value.args[0], "elts", ())
        if any(dotted(part) == place for part in parts):
            yield from (part for part in parts if dotted(part) != place)
    elif isinstance(value, ast.Call) and called_name(value) == "new_child":
        if isinstance(value.func, ast.Attribute) and dotted(value.func.value) == place:
            yield from value.args
    elif isinstance(value, (ast.List, ast.Tuple)):
        parts = [part.value if isinstance(part, ast.Starred) else part for part in value.elts]
        if any(dotted(part) == place for part in parts):
            yield from (part for part in parts if dotted(part) != place)
    elif isinstance(value, ast.Dict):
        if any(key is None and dotted(part) == place for key, part in zip(value.keys, value.values, strict=True)):
            yield from (part for key, part in zip(value.keys, value.values, strict=True) if key is not None)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.BitOr)):
        sides = [value.left, value.right]
        if any(dotted(each) == place for each in sides):
            for each in sides:
                yield from each.values if isinstance(each, ast.Dict) else getattr(each, "elts", ())


def _is_whole(key: ast.expr) -> bool:
    """`[:]`: all of it is put there anew."""
    return isinstance(key, ast.Slice) and key.lower is None and key.upper is None


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    """`total + loss` and `loss` of `total + loss if total is not None else loss`."""
    if isinstance(value, ast.IfExp):
        yield from _alternatives(value.body)
        yield from _alternatives(value.orelse)
    else:
        yield value


def _gathers_many(value: ast.expr) -> bool:
    """`list(results(batches))`, `[net(batch) for batch in batches]`."""
    is_list = isinstance(value, ast.Call) and called_name(value) in ("list", "tuple") and len(value.args) == 1
    return is_list or isinstance(value, (ast.ListComp, ast.DictComp))


def _adds_to_itself(value: ast.expr, place: str) -> bool:
    """`self.sums[key] = self.sums.get(key, 0) + loss`."""
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) and _mentions(value, place)


def _set_by_name(call: ast.Call, function: Function) -> Iterator[Keep]:
    """`setattr(self, f"row_{step}", row)`: of an object that the function has not made itself."""
    named = name_set_by(call)
    if named is None or not _is_made_up_text(named, function):
        return
    owner = call.args[0] if called_name(call) == "setattr" else call.func.value  # type: ignore[attr-defined]
    place = dotted(owner)
    if place and "[]" not in place and (place.startswith("self.") or place not in function.bound):
        yield Keep("element", f"{place}.{BY_NAME}", call.args[-1], call)


def _is_made_up_text(named: ast.expr, function: Function) -> bool:
    """Whether a text is put together of parts, here or where its variable is bound."""
    if isinstance(named, ast.Name):
        return any(isinstance(value, (ast.JoinedStr, ast.BinOp)) for _, value in function.bound.get(named.id, ()))
    return not isinstance(named, ast.Constant)


def _called(call: ast.Call) -> Iterator[Keep]:
    made = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and called_name(call) == "append":
        place = dotted(made.func)
        if place and made.func.attr not in ("setdefault", "get") and len(call.args) == 1:
            yield Keep("element", f"{place}()", call.args[0], call)
    given = call.args[0] if call.args and called_name(call) == "register_hook" else None
    if isinstance(given, ast.Attribute) and given.attr in _ONE and (place := dotted(given.value)):
        yield Keep("element", place, given, call)
    for store in stores_of_call(call):
        if store.kind != "grow" or not store.name or not isinstance(store.value, ast.expr):
            continue
        place = f"{store.receiver}.{store.name}" if store.receiver else store.name
        if _takes_one(call, store.method) or _sets_default(call, store.value):
            yield Keep("element", place, store.value, call)
        elif store.method == "update" and isinstance(store.value, ast.Dict) and len(store.value.keys) == 1:
            if not isinstance(store.value.keys[0], ast.Constant):
                yield Keep("element", place, store.value.values[0], call)
        elif store.method == "update" and (pairs := paired(call)) is not None:
            yield Keep("element", place, pairs[1], call)
        elif store.method in _MANY:
            is_display = isinstance(store.value, (ast.List, ast.Tuple))
            parts = store.value.elts if is_display else [store.value]  # type: ignore[attr-defined]
            yield from (Keep("element", place, each, call) for each in parts)


def _takes_one(call: ast.Call, method: str) -> bool:
    """Whether a call stores its last argument as it is, or what that gives when gone through."""
    if method in _ONE:
        return len(call.args) == 1 + (method == "insert")
    is_gone_through = method == "update" and len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp)
    return is_gone_through or method in GROWING_FUNCTIONS


def paired(call: ast.Call) -> tuple[ast.expr, ast.expr] | None:
    """Keys and values of `table.update(zip(keys, values))` and `table.update({key: value for ...})`, of the latter the
    whole for the values."""
    given = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if isinstance(given, ast.DictComp):
        return given.key, given
    if isinstance(given, ast.Call) and called_name(given) == "zip" and len(given.args) == 2:
        return given.args[0], given.args[1]
    return None


def name_set_by(call: ast.Call) -> ast.expr | None:
    """The name under which a call sets an attribute: `setattr(self, name, x)`, `self.register_buffer(name, x)`."""
    name = called_name(call)
    if name == "setattr" and len(call.args) == 3:
        return call.args[1]
    if name == "register_buffer" and isinstance(call.func, ast.Attribute) and len(call.args) == 2:
        return call.args[0]
    return None


def _sets_default(call: ast.Call, value: ast.expr) -> bool:
    """`table.setdefault(key, made)`, but not where each key has a container of its own: `setdefault(key, [])`."""
    is_empty = isinstance(value, (ast.List, ast.Dict, ast.Set, ast.Constant)) or (
        isinstance(value, ast.Call) and not value.args and not value.keywords
    )
    return called_name(call) == "setdefault" and len(call.args) == 2 and not is_empty


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    """What is added up: `0.9 * mean` and `0.1 * loss` of their sum, also where that is divided or scaled."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _operands(node.left)
        yield from _operands(node.right)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult)):
        scaled = node.right if isinstance(node.op, ast.Mult) and not isinstance(node.left, ast.BinOp) else node.left
        is_sum = isinstance(scaled, ast.BinOp) and isinstance(scaled.op, (ast.Add, ast.Sub))
        other = node.left if scaled is node.right else node.right
        yield from _operands(scaled) if is_sum else (node,)
        if is_sum and not isinstance(other, ast.Constant):
            yield other
    else:
        yield node


def _mentions(node: ast.AST, place: str) -> bool:
    return any(dotted(each) == place for each in walk(node) if isinstance(each, (ast.Name, ast.Attribute)))


def _binds_anew(binding: Binding, keep: Keep) -> bool:
    """Whether a statement that binds the place gives it a new value that does not come from the old one."""
    if binding is keep.node or isinstance(binding, ast.AugAssign) or binding.value is None:
        return False
    return not _mentions(binding.value, keep.place)


@lru_cache(maxsize=64)
def _bindings_by_place(function: Function) -> dict[str, list[Binding]]:
    """Statements that bind each variable, attribute or element, alone or in a tuple."""
    found: dict[str, list[Binding]] = {}
    for binding in function.bindings:
        parts = (part for target in targets_of(binding) for part in getattr(target, "elts", [target]))
        for name in dict.fromkeys(map(dotted, parts)):
            found.setdefault(name, []).append(binding)
    return found


def first_turns(function: Function, place: str) -> set[int]:
    """Lines under `if place is None:`, which a loop comes by once."""
    if function not in _FIRST_TURNS:
        _FIRST_TURNS[function] = _first_turns_of(function)
    return _FIRST_TURNS[function].get(place, set())


def _first_turns_of(function: Function) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for each in statements(function.node.body):
        place = _asked_for_none(each.test) if isinstance(each, ast.If) else ""
        if place and isinstance(each, ast.If):
            lines = range(each.body[0].lineno, (each.body[-1].end_lineno or 0) + 1)
            found.setdefault(place, set()).update(lines)
    return found


def _asked_for_none(test: ast.expr) -> str:
    """The place of `place is None` and `not hasattr(owner, "name")`; "" of any other test."""
    asked = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    if isinstance(asked, ast.Call) and called_name(asked) == "hasattr" and len(asked.args) == 2:
        owner, name = dotted(asked.args[0]), getattr(asked.args[1], "value", None)
        return f"{owner}.{name}" if owner and isinstance(name, str) else ""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Is):
        return ""
    other = test.comparators[0]
    return dotted(test.left) if isinstance(other, ast.Constant) and other.value is None else ""


@lru_cache(maxsize=64)
def declared_in(function: Function) -> frozenset[str]:
    """Variables that a function says are global, or those of a function around it."""
    if isinstance(function.node, ast.Module):
        return frozenset()
    body = function.node.body
    return declared_names(body, ast.Global) | declared_names(body, ast.Nonlocal)
