"""What a call of `release` is about: modules to unload, and what else has a share in them."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from tenure.capture.heap.roles import optimizer_type
from tenure.capture.tensors.nested import instance_dict
from tenure.errors import ReleaseError

_DEEPEST = 4
"""Containers within containers that are looked into."""
_PLAIN = (str, bytes, int, float, complex, bool, type(None), torch.dtype, torch.device)


@dataclass(frozen=True)
class Wanted:
    """What was passed, told apart: `roots` are the modules to unload, `holders` all other objects in the call.

    `whole` says that no module was passed, so that the holders themselves are unloaded with all they hold.
    """

    roots: tuple[nn.Module, ...]
    holders: tuple[Any, ...]
    whole: bool

    @property
    def optimizers(self) -> list[Any]:
        """Optimizers among the holders, and those that are attributes of one that is unloaded whole."""
        found = [item for item in self.holders if is_optimizer(item)]
        if self.whole:
            found += [value for holder in self.holders for _, value in members(holder) if is_optimizer(value)]
        return list({id(item): item for item in found}.values())


def sort_out(objects: Sequence[Any]) -> Wanted:
    """Tell modules from what holds them. ReleaseError for anything that can be neither, before anything is done."""
    if not objects:
        raise ReleaseError("release() was given nothing; pass modules, optimizers, or objects that hold them")
    for item in objects:
        _refuse_what_holds_nothing(item)
    once = list({id(item): item for item in objects}.values())
    modules = [item for item in once if isinstance(item, nn.Module)]
    holders = tuple(item for item in once if not isinstance(item, nn.Module))
    if modules:
        return Wanted(tuple(modules), holders, whole=False)
    inside = [module for holder in holders if not is_optimizer(holder) for module in modules_in(holder)]
    for holder in holders:
        if not (is_optimizer(holder) or holds_tensors(holder)):
            raise ReleaseError(f"{name_of(holder)} holds no module and no tensor, so there is nothing to release")
    return Wanted(tuple({id(module): module for module in inside}.values()), holders, whole=True)


def is_optimizer(item: object) -> bool:
    """Whether it is a `torch.optim.Optimizer`; where the program never imported them, nothing is."""
    kind = optimizer_type()
    return kind is not None and isinstance(item, kind)


def name_of(item: object) -> str:
    """`TextEncoder`, `a list of 3`: how an object is called in a message."""
    if isinstance(item, list | tuple | dict | set):
        return f"a {type(item).__name__} of {len(item)}"
    return type(item).__name__


def members(holder: Any) -> Iterator[tuple[str, Any]]:
    """Attributes of an object by name, as the interpreter keeps them; nothing for builtin containers."""
    yield from (instance_dict(holder) or {}).items()
    for base in type(holder).__mro__:
        for name, slot in vars(base).items():
            if isinstance(slot, types.MemberDescriptorType) and not name.startswith("__"):
                try:
                    yield name, slot.__get__(holder)
                except AttributeError:
                    continue


def modules_in(item: Any, *, depth: int = 0) -> Iterator[nn.Module]:
    """Modules that a container or an object holds: directly, or in builtin containers within it."""
    for value in contents(item) if is_container(item) else (value for _, value in members(item)):
        if isinstance(value, nn.Module):
            yield value
        elif is_container(value) and depth < _DEEPEST:
            yield from modules_in(value, depth=depth + 1)


def tensors_of(item: Any, *, depth: int = 0) -> Iterator[torch.Tensor]:
    """Tensors that a container or an object holds: directly, or in builtin containers within it."""
    for value in contents(item) if is_container(item) else (value for _, value in members(item)):
        if isinstance(value, torch.Tensor):
            yield value
        elif is_container(value) and depth < _DEEPEST:
            yield from tensors_of(value, depth=depth + 1)


def holds_tensors(item: Any) -> bool:
    """Whether a container or an object holds modules or tensors, itself or in builtin containers and plain objects."""
    return any(isinstance(value, torch.Tensor | nn.Module | torch.ScriptObject) for value in below(item))


def below(item: Any) -> Iterator[Any]:
    """`item` and what it holds in builtin containers and attributes, a few levels deep; not the inside of modules,
    tensors, functions and classes. Each object once."""
    waiting, seen = [(item, 0)], {id(item)}
    while waiting:
        value, depth = waiting.pop()
        yield value
        if depth > _DEEPEST or isinstance(value, (torch.Tensor, *_PLAIN)) or (depth and isinstance(value, nn.Module)):
            continue
        for further in _inside(value):
            if id(further) not in seen:
                seen.add(id(further))
                waiting.append((further, depth + 1))


def _inside(value: Any) -> Iterable[Any]:
    if is_container(value):
        return list(contents(value))
    if isinstance(value, types.MethodType):
        return (value.__self__,)
    if isinstance(value, type | types.ModuleType | types.FunctionType | types.BuiltinFunctionType):
        return ()
    return [further for _, further in members(value)]


def is_container(item: object) -> bool:
    """Whether it is a list, tuple, dict, set or deque, or of a type made from one."""
    from collections import deque

    return isinstance(item, list | tuple | dict | set | frozenset | deque)


def contents(container: Any) -> Iterator[Any]:
    """Elements of a builtin container; a dict's values and keys."""
    if isinstance(container, dict):
        yield from list(dict.values(container))
        yield from list(dict.keys(container))
    else:
        yield from list(container)


def _refuse_what_holds_nothing(item: object) -> None:
    hint = ""
    if item is None:
        hint = "None; it may have been released and unbound before"
    elif isinstance(item, type):
        hint = f"the class {item.__name__}; pass an instance"
    elif isinstance(item, torch.Tensor):
        hint = "a tensor; `del` frees it, and `with tenure.expect_freed(tensor):` says who holds it if not"
    elif isinstance(item, types.FunctionType | types.BuiltinFunctionType | types.ModuleType | types.GeneratorType):
        hint = f"a {type(item).__name__}; pass the module, optimizer or object that holds the memory"
    elif isinstance(item, _PLAIN):
        hint = f"{item!r:.40}, of type {type(item).__name__}; pass modules, optimizers, or objects that hold them"
    if hint:
        raise ReleaseError(f"release() was given {hint}. Nothing was changed")
