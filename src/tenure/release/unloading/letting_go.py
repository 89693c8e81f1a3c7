"""What has a share in released modules lets go of it: pipelines, caches, lists, optimizers, averaged copies."""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from tenure.capture.tensors.nested import instance_dict
from tenure.release.commit import Changes
from tenure.release.cut_graph import without_graph
from tenure.release.storage_refs import addresses_of
from tenure.release.unloading.slots import Slot
from tenure.release.unloading.wanted import below, contents, holds_tensors, is_container, is_optimizer, members

_DEEPEST = 4


class LettingGo:
    """Has holders lose their references to what is in `gone` (ids), and to tensors that lie in its memory
    (`addresses`); results in `tied` (ids) lose their graphs. `did` says what was lost, in short pieces."""

    def __init__(
        self, changes: Changes, gone: Collection[int], addresses: Collection[int] = (), tied: Collection[int] = ()
    ) -> None:
        self._changes = changes
        self._gone = gone
        self._addresses = addresses
        self._tied = tied
        self._seen: set[int] = set()
        self.did: list[str] = []

    def skip(self, containers: Collection[int]) -> None:
        """Leave these containers (ids) alone: they are dealt with."""
        self._seen.update(containers)

    def clear(self, holder: Any, name: str, *, whole: bool) -> None:
        """Attributes become None; lists and dicts lose the entries. `whole`: so does all else that has tensors."""
        if id(holder) in self._seen:
            return
        self._seen.add(id(holder))
        if is_container(holder):
            self._clear_container(holder, name, whole=whole)
            return
        for key, value in list(members(holder)):
            where = f"{name}.{key}"
            if self._leads_to_gone(value) or (whole and not is_container(value) and holds_tensors(value)):
                self._unset(holder, key, value, None)
                self.did.append(f"unset `{where}`")
            elif id(value) in self._tied:
                self._unset(holder, key, value, without_graph(value))
                self.did.append(f"cut the graph off `{where}`")
            elif is_container(value) and id(value) not in self._seen:
                self._seen.add(id(value))
                self._clear_container(value, where, whole=whole)

    def _clear_container(self, container: Any, name: str, *, whole: bool, depth: int = 0) -> None:
        before = len(container)
        if isinstance(container, dict):
            kept: Any = {
                k: v for k, v in dict.items(container) if not self._goes(v, whole) and not self._goes(k, False)
            }
        elif isinstance(container, list | set | deque):
            kept = [item for item in container if not self._goes(item, whole)]
        else:
            return
        num_cut = self._cut_graphs(kept)
        if len(kept) < before or num_cut:
            self._changes.replace_contents(container, kept)
        if len(kept) < before:
            lost = before - len(kept)
            self.did.append(f"took {lost} {'entry' if lost == 1 else 'entries'} from `{name}`")
        if num_cut:
            self.did.append(f"cut the graphs off {num_cut} {'result' if num_cut == 1 else 'results'} in `{name}`")
        for item in contents(container):
            if depth < _DEEPEST and is_container(item) and id(item) not in self._seen:
                self._seen.add(id(item))
                self._clear_container(item, f"{name}[*]", whole=whole, depth=depth + 1)

    def _cut_graphs(self, kept: Any) -> int:
        """Results of the modules that stay keep their values alone; how many there were."""
        places = kept.items() if isinstance(kept, dict) else enumerate(kept)
        found = [(key, item) for key, item in places if id(item) in self._tied]
        for key, item in found:
            kept[key] = without_graph(item)
        return len(found)

    def _goes(self, item: Any, whole: bool) -> bool:
        return self._leads_to_gone(item) or self._is_made_around(item) or (whole and holds_tensors(item))

    def _leads_to_gone(self, item: Any) -> bool:
        """Whether it is what goes, or a method or partial of it."""
        if isinstance(item, types.MethodType):
            return id(item.__self__) in self._gone
        if isinstance(item, functools.partial):
            return any(id(each) in self._gone for each in (item.func, *item.args, *item.keywords.values()))
        return id(item) in self._gone or self._lies_in_what_goes(item)

    def _lies_in_what_goes(self, item: Any) -> bool:
        """A view of its memory: an entry of a `state_dict`, a slice of a weight."""
        return isinstance(item, torch.Tensor) and any(each in self._addresses for each in addresses_of(item))

    def _is_made_around(self, item: Any) -> bool:
        """Whether an element of a container (a pair of name and module, a hook's object) has what goes and leads to
        no other memory. An attribute that has such an object keeps it: it may have duties of its own."""
        if isinstance(item, torch.Tensor | nn.Module | type) or is_optimizer(item) or isinstance(item, list | dict):
            return False
        found = [id(each) in self._gone for each in below(item) if isinstance(each, torch.Tensor | nn.Module)]
        return bool(found) and all(found)

    def _unset(self, holder: Any, key: str, value: Any, instead: Any) -> None:
        """As an assignment would, so that a pipeline's own records follow; past its `__setattr__` where that fails."""

        def put(new: Any) -> None:
            try:
                setattr(holder, key, new)
            except Exception:
                object.__setattr__(holder, key, new)

        self._changes.add(lambda: put(instead), lambda: put(value))


def forget_parameters(changes: Changes, optimizer: Any, parameters: Collection[int]) -> None:
    """Take parameters (ids) and their state from an optimizer.

    Its groups stay, also where they are empty then: schedulers count them.
    """
    state = optimizer.state
    if any(id(key) in parameters for key in state):
        changes.replace_contents(state, {key: value for key, value in state.items() if id(key) not in parameters})
    for group in optimizer.param_groups:
        kept = [item for item in group["params"] if id(item) not in parameters]
        if len(kept) < len(group["params"]):
            changes.replace_contents(group["params"], kept)


def state_tensors(optimizer: Any, parameters: Collection[int]) -> Iterator[torch.Tensor]:
    """Tensors of the state that an optimizer keeps for these parameters (ids), in lists of it too."""
    for key, entry in optimizer.state.items():
        if id(key) in parameters:
            yield from (item for item in below(entry) if isinstance(item, torch.Tensor))


def averaged_copies(holder: Any, slots: Sequence[Slot]) -> Iterator[tuple[str, Any, list[torch.Tensor]]]:
    """Attributes of an object (EMA, say) that copy the modules' tensors one by one: name, container and copies.

    Known by their shapes: a list as long as the parameters are many, those that learn, or parameters and buffers
    together, shape by shape; or a dict by their names.
    """
    if is_container(holder) or is_optimizer(holder):
        return
    for key, value in list((instance_dict(holder) or {}).items()):
        items = list(contents_of_copies(value))
        if items and _copies_all(value, items, slots):
            yield key, value, items


def contents_of_copies(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a list, or of a dict by name, that holds nothing but tensors; else nothing."""
    items = list(dict.values(value)) if isinstance(value, dict) else value if isinstance(value, list | tuple) else []
    if items and all(isinstance(item, torch.Tensor) for item in items):
        yield from items


def _copies_all(value: Any, items: Sequence[torch.Tensor], slots: Sequence[Slot]) -> bool:
    unique = list({id(slot.tensor): slot for slot in slots}.values())
    parameters = [slot for slot in unique if slot.table == "_parameters"]
    learning = [slot for slot in parameters if slot.tensor.requires_grad]
    own = {id(slot.tensor) for slot in slots}
    if any(id(item) in own for item in items):
        return False  # the tensors themselves: no copies
    if isinstance(value, dict):
        shapes = {slot.name.partition(".")[2]: slot.tensor.shape for slot in slots}
        return all(shapes.get(key) == item.shape for key, item in dict.items(value))
    found = [item.shape for item in items]
    return any(found == [slot.tensor.shape for slot in some] for some in (parameters, learning, unique) if some)
