"""Calls that store something: what `append`, `register_hook`, `setattr` and their kin keep, and where."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenure.syntax.text.expressions import called_name, namespace_of, split_receiver, text_of
from tenure.syntax.text.scopes import dotted

GROWING_METHODS = frozenset(
    {"append", "appendleft", "extend", "extendleft", "insert", "add", "push", "put", "put_nowait", "update"}
    | {"setdefault"}
)
COPYING_FUNCTIONS = ("replace", "_replace")
"""They copy a dataclass or a named tuple but for what they are given by keyword."""
GROWING_FUNCTIONS = frozenset({"heappush", "heappushpop", "insort", "insort_left", "insort_right"})
HOOK_CALLS = frozenset({"atexit.register", "signal.signal", "weakref.finalize", "sys.settrace", "sys.setprofile"})
PACK_HOOKS = "saved_tensors_hooks"
"""`torch.autograd.graph.saved_tensors_hooks(pack, unpack)`: each tensor that is saved meanwhile keeps `unpack`."""
_STORED_BY_NAME = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})
_IN_PLACE = re.compile(r"[a-z]\w*[^_]_")
"""How torch names what changes a tensor in place: `add_`, `lerp_`, `index_copy_`."""
_WITHOUT_GRAPH = frozenset({"detach_", "requires_grad_", "zero_", "fill_", "share_memory_", "pin_memory_"})
_PUSH = "push"
"""What `heappush` is mostly called where it has another name: `push(self.heap, entry)`."""
_FUNCTIONS = frozenset({"setattr", "partial", "lru_cache", "cache", _PUSH, *GROWING_FUNCTIONS})
_METHODS = frozenset({"save_for_backward", "__setattr__", "__setitem__", "partial", "lru_cache", "cache"})


@dataclass(frozen=True, slots=True)
class Store:
    """What one call stores under which name ("": a computed one); fields as in `bindings.Binding`."""

    kind: str
    name: str
    receiver: str
    value: ast.AST | None
    method: str
    key: str = ""


def stores_of_call(node: ast.Call) -> Iterator[Store]:
    """What a call stores, by the name of its method or function; nothing for most calls."""
    function = node.func
    if isinstance(function, ast.Attribute):
        method = function.attr
        if method in GROWING_METHODS:
            if node.args or node.keywords:
                yield from _grow(node, function.value, method)
        elif method.startswith("register") or method in ("add_module", "finalize", "signal", "settrace", "setprofile"):
            yield from _registration(node, function)
        elif method == PACK_HOOKS:
            yield from _hook(node, text_of(function.value), method, last=True)
        elif method in _METHODS or method in GROWING_FUNCTIONS:
            yield from _other_method(node, function)
        elif _IN_PLACE.fullmatch(method) and method not in _WITHOUT_GRAPH:
            yield from _in_place(function.value, method)
    elif isinstance(function, ast.Name) and function.id == PACK_HOOKS:
        yield from _hook(node, "", PACK_HOOKS, last=True)
    elif isinstance(function, ast.Name) and function.id in _FUNCTIONS:
        yield from _other_function(node, function.id)
    elif isinstance(function, ast.Name) and function.id.startswith("register") and function.id.endswith("_hook"):
        yield from _hook(node, "", function.id)


def _grow(node: ast.Call, container: ast.expr, method: str) -> Iterator[Store]:
    namespace = namespace_of(container)
    if namespace is not None and method == "update":
        for keyword in node.keywords:
            if keyword.arg and namespace:
                yield Store("attribute", keyword.arg, namespace, keyword.value, "__dict__")
        if namespace and (computed := [*node.args, *(each.value for each in node.keywords if not each.arg)]):
            yield Store("attribute", "", namespace, computed[0], "__dict__")
        return
    receiver, name = split_receiver(container)
    if name:
        value = node.args[-1] if node.args else node.keywords[0].value
        yield Store("grow", name, receiver, value, method, _only_key(container))


def _only_key(container: ast.expr) -> str:
    """`'loss'` of `stats["loss"]`; "" without a key, with a computed one, or with several."""
    if not isinstance(container, ast.Subscript) or not isinstance(container.slice, ast.Constant):
        return ""
    return "" if isinstance(container.value, ast.Subscript) else repr(container.slice.value)


def _in_place(changed: ast.expr, method: str) -> Iterator[Store]:
    """What `mean.mul_(0.9).add_(x)` changes: no new reference, but a graph that hangs on the old one."""
    while isinstance(changed, ast.Call) and isinstance(changed.func, ast.Attribute):
        if not _IN_PLACE.fullmatch(changed.func.attr):
            return
        changed = changed.func.value
    receiver, name = split_receiver(changed)
    if name:
        yield Store("inplace", name, receiver, None, method)


def _registration(node: ast.Call, function: ast.Attribute) -> Iterator[Store]:
    method, full = function.attr, dotted(function)
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if not arguments:
        return
    if method in _STORED_BY_NAME:
        value = arguments[1] if len(arguments) > 1 else None
        yield Store("attribute", _constant_name(arguments[0]), text_of(function.value), value, method)
    elif full in HOOK_CALLS or "hook" in method:
        yield from _hook(node, text_of(function.value), method, last=full == "signal.signal")
    elif method.startswith("register"):
        receiver, name = split_receiver(function.value)
        if name:
            yield Store("grow", name, receiver, arguments[-1], method)


def _hook(node: ast.Call, receiver: str, method: str, *, last: bool = False) -> Iterator[Store]:
    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
    if arguments:
        kept = arguments[-1] if last else arguments[0]
        called = kept.args[0] if isinstance(kept, ast.Call) and called_name(kept) == "partial" and kept.args else kept
        name = "<lambda>" if isinstance(called, ast.Lambda) else split_receiver(called)[1]
        yield Store("hook", name, receiver, kept, method)


def _other_method(node: ast.Call, function: ast.Attribute) -> Iterator[Store]:
    method = function.attr
    if method == "save_for_backward":
        yield Store("ctx", "saved_tensors", text_of(function.value), node, method)
    elif method == "__setattr__":
        explicit = len(node.args) == 3  # object.__setattr__(self, name, value)
        target = node.args[0] if explicit else function.value
        yield from _set_attribute(target, node.args[int(explicit) :], method)
    elif method == "__setitem__" and len(node.args) == 2:
        receiver, container = split_receiver(function.value)
        yield Store("item", container, receiver, node.args[1], method)
    else:
        yield from _other_function(node, method)


def _other_function(node: ast.Call, name: str) -> Iterator[Store]:
    arguments = node.args
    if name == "setattr" and len(arguments) == 3:
        yield from _set_attribute(arguments[0], arguments[1:], name)
    elif name == "partial" and arguments:
        yield Store("partial", split_receiver(arguments[0])[1], "", node, name)
    elif (name in GROWING_FUNCTIONS or name == _PUSH) and len(arguments) >= 2:
        receiver, container = split_receiver(arguments[0])
        yield Store("grow", container, receiver, arguments[1], name)
    elif name in ("lru_cache", "cache") and arguments:
        target = split_receiver(arguments[0])[1]
        if target:
            yield Store("cache", target, "", node, name)


def _set_attribute(target: ast.expr, rest: Sequence[ast.expr], method: str) -> Iterator[Store]:
    if len(rest) == 2:
        yield Store("attribute", _constant_name(rest[0]), text_of(target), rest[1], method)


def _constant_name(node: ast.expr) -> str:
    """The name that is written there; "" where it is computed, another one each time."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
