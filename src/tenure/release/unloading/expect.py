"""`with tenure.expect_freed(obj): del obj`: an assertion that something really goes, with the path of what holds it."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

import torch
from torch import nn

from tenure.capture.heap.autograd import is_leaf
from tenure.errors import ReleaseError, StillHeldError
from tenure.release.commit import ONE_AT_A_TIME
from tenure.release.device_bytes import Reading, compare, read_device_bytes
from tenure.release.outcome import Outcome, describe_outcome
from tenure.release.storage_refs import StorageRef, StorageRefs, collect_until_gone, live_tensors
from tenure.release.unloading.slots import modules_below, slots_of
from tenure.release.unloading.wanted import below, is_container, name_of
from tenure.release.verify import Verification


def expect_freed(*objects: Any, collect: bool = True) -> ExpectFreed:
    """A context manager at whose end `objects` and the memory of their tensors must be gone.

    Raises StillHeldError, an AssertionError, with the path of what still holds on and what to drop. An exception of
    the block is left alone and nothing is checked: its traceback holds the block's variables. With `collect` garbage
    is collected first; without it a ring of references counts as held. Of lists and dicts, which cannot be watched
    themselves, the modules and tensors inside are.

    Raises ReleaseError for what cannot be watched. Costs a weak reference per storage, two looks at all objects of the
    process (a third of a collection each), a collection where something is left at the end, and then a census.
    """
    return ExpectFreed(objects, collect=collect)


class ExpectFreed:
    """A block at whose end something must be gone; `outcome` says what came back. Holds nothing but weakly."""

    def __init__(self, objects: Iterable[Any], *, collect: bool = True) -> None:
        self.outcome: Outcome | None = None
        self._collect = collect
        self._before = read_device_bytes()
        self._objects: list[weakref.ref[Any]] = []
        self._storages = StorageRefs()
        names = []
        for item in objects:
            names.append(name_of(item))
            self._watch(item)
        if not names:
            raise ReleaseError("expect_freed() was given nothing; pass what is to be freed")
        self._name = ", ".join(dict.fromkeys(names))

    def __enter__(self) -> ExpectFreed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.check()

    def check(self) -> Outcome:
        """What is gone by now; StillHeldError where anything is left, and `outcome` says the same."""
        with ONE_AT_A_TIME:
            self.outcome, is_held = look_whether_gone(
                self._objects, tuple(self._storages), self._name, self._before, collect=self._collect
            )
        if is_held:
            raise StillHeldError(_who_holds(self.outcome))
        return self.outcome

    def _watch(self, item: Any) -> None:
        if not is_container(item):
            self._objects.append(_weak(item))
        found = 0
        for part in below(item):
            if isinstance(part, nn.Module):
                self._watch_module(part)
            elif isinstance(part, torch.Tensor):
                self._storages.add(part, _tensor_name(part))
            if part is not item and isinstance(part, nn.Module | torch.Tensor):
                self._objects.append(weakref.ref(part))
                found += 1
        if is_container(item) and not found:
            raise ReleaseError(f"expect_freed() cannot watch {name_of(item)}: it holds no module and no tensor")

    def _watch_module(self, module: nn.Module) -> None:
        for slot in slots_of(modules_below([module]).values()):
            self._storages.add(slot.tensor, f"`{slot.name}`")
            if is_leaf(slot.tensor) and slot.tensor.grad is not None:
                self._storages.add(slot.tensor.grad, f"the gradient of `{slot.name}`")


class NothingLeft:
    """A block at whose end no tensor memory may be left that was not there at its beginning."""

    def __init__(self) -> None:
        gc.collect()
        self._before = _all_storages()
        self._bytes_before = read_device_bytes()

    def check(self) -> None:
        """StillHeldError where memory is left."""
        gc.collect()
        left = _all_storages()
        left.leave_out(list(self._before.by_address))
        if left.by_address:
            name = "what was made in the test"
            outcome, is_held = look_whether_gone([], tuple(left), name, self._bytes_before, collect=True)
            if is_held:
                raise StillHeldError(_who_holds(outcome))


def look_whether_gone(
    objects: Iterable[weakref.ref[Any]],
    storages: tuple[StorageRef, ...],
    name: str,
    before: Mapping[str, Reading],
    *,
    collect: bool,
) -> tuple[Outcome, bool]:
    """What of it is gone and who holds the rest, and whether anything is left.

    Of objects, those without memory are told too.
    """
    started = time.perf_counter()
    objects = list(objects)
    if collect and _is_left(objects, storages):
        collect_until_gone(storages)
    devices = compare(before, read_device_bytes(), storages)
    if not _is_left(objects, storages):
        return Outcome(f"{name}: all of it was freed", devices, seconds=time.perf_counter() - started), False
    verification = Verification()
    survivors = verification.survivors(storages, collected=collect)
    names = verification.names_of(_ids(objects), inside=_ids(objects))
    notes = () if survivors or names else ("it leads to no tensor any more, and only what leads to one is followed",)
    outcome = Outcome(
        what=f"{name}: expected to be freed, and still held",
        devices=devices,
        survivors=survivors,
        still_bound=names,
        notes=(*notes, *verification.notes),
        seconds=time.perf_counter() - started,
    )
    return outcome, True


def _who_holds(outcome: Outcome) -> str:
    return "\n".join(describe_outcome(replace(outcome, devices=())))


def _all_storages() -> StorageRefs:
    found = StorageRefs()
    for tensor in live_tensors():
        found.add(tensor, _tensor_name(tensor))
    return found


def _is_left(objects: Iterable[weakref.ref[Any]], storages: Iterable[StorageRef]) -> bool:
    return any(reference() is not None for reference in objects) or any(storage.is_alive for storage in storages)


def _ids(objects: Iterable[weakref.ref[Any]]) -> set[int]:
    return {id(item) for reference in objects if (item := reference()) is not None}


def _tensor_name(tensor: torch.Tensor) -> str:
    return f"a {type(tensor).__name__} {list(tensor.shape)} {str(tensor.dtype).removeprefix('torch.')}"


def _weak(item: Any) -> weakref.ref[Any]:
    try:
        return weakref.ref(item)
    except TypeError:
        raise ReleaseError(
            f"expect_freed() cannot watch a {type(item).__name__}: Python makes no weak references to it; "
            "pass the modules or tensors that it holds"
        ) from None
