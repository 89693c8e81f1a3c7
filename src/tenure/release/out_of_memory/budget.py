"""A memory limit without a device: counts the bytes of live tensors and raises torch's own error beyond it.

A dispatch mode sees what each operation makes; storages tell by weak references when they die. Kernels' workspaces
and an allocator's rounding and fragmentation are not in the count: a real device holds a little less.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tenure.capture.tensors.storage_serials import storages_tell_their_death
from tenure.capture.tensors.storages import bytes_of, storage_id_of
from tenure.errors import UsageError
from tenure.model.units import format_bytes
from tenure.release.storage_refs import live_tensors


class TensorBudget:
    """`with TensorBudget(2 << 30) as budget:` raises torch.OutOfMemoryError in the operation that passes the limit.

    What lives at the beginning counts; `peak_bytes` is the most that lived at once. Watches one thread (on the CPU
    autograd works in it) and costs some microseconds per operation, and one look at all objects to begin with.
    """

    def __init__(self, limit_bytes: int | None = None) -> None:
        self.limit_bytes = limit_bytes
        self.live_bytes = 0
        self.peak_bytes = 0
        self._alive: dict[int, _Death] = {}
        self._mode = _CountingMode()
        self._mode.budget = self

    def __enter__(self) -> TensorBudget:
        _check_that_deaths_are_told()
        for tensor in live_tensors():
            self._add(tensor)
        self.peak_bytes = self.live_bytes
        self._mode.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._mode.__exit__(None, None, None)
        self._alive.clear()

    def take(self, results: list[torch.Tensor]) -> int:
        """Count what an operation gave back; by how many bytes it is too much, 0 where it fits."""
        for tensor in results:
            self._add(tensor)
        self.peak_bytes = max(self.peak_bytes, self.live_bytes)
        return 0 if self.limit_bytes is None else max(0, self.live_bytes - self.limit_bytes)

    def _add(self, tensor: torch.Tensor) -> None:
        try:
            address = storage_id_of(tensor)
        except RuntimeError:
            return
        if address in self._alive:
            return
        size = bytes_of(tensor)
        if size:
            self._alive[address] = _Death(tensor.untyped_storage(), self._note_death, address, size)
            self.live_bytes += size

    def _note_death(self, reference: _Death) -> None:
        if self._alive.get(reference.address) is reference:
            del self._alive[reference.address]
            self.live_bytes -= reference.size


class _Death(weakref.ref):  # type: ignore[type-arg]
    """A weak reference to a storage that knows its address and size."""

    __slots__ = ("address", "size")
    address: int
    size: int

    def __new__(cls, storage: Any, callback: Any, address: int, size: int) -> _Death:
        made = super().__new__(cls, storage, callback)
        made.address, made.size = address, size
        return made

    def __init__(self, storage: Any, callback: Any, address: int, size: int) -> None:
        super().__init__(storage, callback)  # type: ignore[call-arg]


class _CountingMode(TorchDispatchMode):  # type: ignore[misc]
    """Runs each operation as it would have run, then has its results counted."""

    budget: TensorBudget
    supports_higher_order_operators = True


def _dispatch(mode: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    result = function(*args, **(kwargs or {}))
    found: list[torch.Tensor] = []
    _collect(result, found)
    excess = mode.budget.take(found)
    if excess:
        budget, asked = mode.budget, sum(each.nbytes for each in found)
        del result, found, args, kwargs  # the traceback keeps this frame
        raise torch.OutOfMemoryError(
            f"simulated: {function} tried to allocate {format_bytes(asked)}, which is {format_bytes(excess)} beyond "
            f"the limit of {format_bytes(budget.limit_bytes)}"
        )
    return result


# Set here and not in the class's body, where torch would wrap it so that its first call loads all of dynamo.
_CountingMode.__torch_dispatch__ = _dispatch


def _collect(value: Any, found: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect(each, found)


def _check_that_deaths_are_told() -> None:
    if not storages_tell_their_death():
        raise UsageError(
            f"a simulated limit needs a torch whose storages tell when they die; {torch.__version__} does not: "
            "use a newer one, or a device"
        )
