"""One look at the heap for those who may still need what is to be released: live modules and optimizers."""

from __future__ import annotations

import gc
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from tenure.capture.heap.roles import optimizer_type
from tenure.release.storage_refs import addresses_of
from tenure.release.unloading.slots import Slot, slots_of, table_of


@dataclass(frozen=True)
class Scan:
    """Live modules and optimizers, with the name that each module goes by from its outermost parent."""

    modules: tuple[tuple[nn.Module, str], ...]
    optimizers: tuple[Any, ...]


def scan_heap() -> Scan:
    """All modules and optimizers that the collector knows, garbage that waits for it included.

    Costs one look at every object, about a third of a `gc.collect()`.
    """
    kinds = _Kinds()
    found: dict[int, list[Any]] = {_MODULE: [], _OPTIMIZER: []}
    for item in gc.get_objects():
        kind = kinds[type(item)]
        if kind:
            found[kind].append(item)
    return Scan(tuple(_named(found[_MODULE])), tuple(found[_OPTIMIZER]))


_MODULE, _OPTIMIZER = 1, 2


class _Kinds(dict[type, int]):
    """0 for types that are neither; each type is asked once."""

    def __missing__(self, cls: type) -> int:
        optimizer = optimizer_type()
        is_optimizer = optimizer is not None and issubclass(cls, optimizer)
        self[cls] = kind = _MODULE if issubclass(cls, nn.Module) else _OPTIMIZER if is_optimizer else 0
        return kind


def _named(modules: list[nn.Module]) -> list[tuple[nn.Module, str]]:
    """Each module with its way from an outermost one: `Decoder.head`."""
    above: dict[int, tuple[nn.Module, str]] = {}
    for module in modules:
        for key, child in table_of(module, "_modules").items():
            above.setdefault(id(child), (module, key))
    return [(module, _name(module, above)) for module in modules]


def _name(module: nn.Module, above: Mapping[int, tuple[nn.Module, str]]) -> str:
    keys: list[str] = []
    seen = {id(module)}
    while id(module) in above and id(above[id(module)][0]) not in seen:
        module, key = above[id(module)]
        seen.add(id(module))
        keys.append(key)
    return ".".join((type(module).__name__, *reversed(keys)))


def shared_with_others(scan: Scan, mine: Collection[int], own: Collection[int]) -> dict[int, Slot]:
    """Parameters and buffers of modules outside of `own` (ids) that lie in storages of `mine` (addresses), one per
    storage, by its address."""
    found: dict[int, Slot] = {}
    for module, name in scan.modules:
        if id(module) not in own:
            for slot in slots_of([(module, name)]):
                for address in addresses_of(slot.tensor):
                    if address in mine:
                        found.setdefault(address, slot)
    return found


def lent_modules(scan: Scan, own: Collection[int], roots: Collection[int]) -> dict[int, str]:
    """Modules of `own` (ids), none of `roots`, that a module outside of it has among its submodules, by id, and as
    what: `Decoder.embedding`."""
    found: dict[int, str] = {}
    for module, name in scan.modules:
        if id(module) not in own:
            for key, child in table_of(module, "_modules").items():
                if id(child) in own and id(child) not in roots:
                    found.setdefault(id(child), f"{name}.{key}")
    return found


def optimizers_of(scan: Scan, parameters: Collection[int], known: Collection[int]) -> list[tuple[Any, int]]:
    """Live optimizers that train some of the parameters (ids), and how many; not those whose groups are `known`
    (`groups_of`): a trainer's wrapper around an optimizer has the very groups of that."""
    found: dict[int, tuple[Any, int]] = {}
    for optimizer in scan.optimizers:
        groups = groups_of(optimizer)
        if groups not in known and groups not in found:
            count = sum(id(item) in parameters for item in parameters_of(optimizer))
            if count:
                found[groups] = (optimizer, count)
    return list(found.values())


def groups_of(optimizer: Any) -> int:
    """What two optimizers have in common that are one: the id of their list of groups."""
    return id(getattr(optimizer, "param_groups", optimizer))


def parameters_of(optimizer: Any) -> list[Any]:
    """All tensors in an optimizer's groups."""
    groups = getattr(optimizer, "param_groups", None) or []
    return [item for group in groups for item in group.get("params", ())]
