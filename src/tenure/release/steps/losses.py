"""`tenure.LossMeter`: last, mean and max of a loss without a list, a graph or a wait.

Sum, weight, maximum and last value lie in one small tensor on the loss's own device and are brought up to date in
place. At a log that tensor is copied, on CUDA into pinned memory and without waiting: the values can be read when the
copy has arrived, at the latest two logs later. Ranks are gathered in the same moment and at no other.
"""

from __future__ import annotations

import functools
import math
import weakref
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import torch

from tenure.errors import UsageError
from tenure.release.cut_graph import carries_graph
from tenure.release.device_bytes import compare_storages
from tenure.release.held import TensorRef, who_holds_tensors
from tenure.release.outcome import ByDevice, DeviceBytes, Survivor
from tenure.release.storage_refs import StorageRefs

_SUM, _WEIGHT, _MAX, _LAST, _STEPS = range(5)
_WIDTH = 5
_NUM_SLOTS = 2
_NUMBERS = frozenset((int, float))


@dataclass(frozen=True)
class LossValues:
    """Last, mean and maximum over the steps since the log before; false and all None while nothing has arrived.

    The mean is over weights, and with several ranks over all of them; `last` is then the mean of their last values.
    `num_steps` counts the updates in this window, of the rank that had most, `through_step` all updates up to its end.
    """

    last: float | None = None
    mean: float | None = None
    max: float | None = None
    num_steps: int = 0
    through_step: int = 0
    num_ranks: int = 1

    def __bool__(self) -> bool:
        return self.num_steps > 0

    def __str__(self) -> str:
        if not self:
            return "loss: no value has arrived yet"
        ranks = f" on {self.num_ranks} ranks" if self.num_ranks > 1 else ""
        return (
            f"loss {self.last:.4f} (mean {self.mean:.4f}, max {self.max:.4f} over {self.num_steps} steps{ranks}, "
            f"to step {self.through_step})"
        )


@dataclass(frozen=True)
class MeterOutcome(ByDevice):
    """What a meter has taken, `num_cut` of them with a graph that it did not keep, and what it keeps itself: nothing
    before the first update, and `devices` since, the same after any number of them."""

    num_updates: int = 0
    num_logs: int = 0
    num_cut: int = 0
    devices: tuple[DeviceBytes, ...] = ()
    _last_loss: tuple[TensorRef, ...] = field(default=(), compare=False, repr=False)

    @functools.cached_property
    def survivors(self) -> tuple[Survivor, ...]:
        """Who holds the last loss that came with a graph, as long as it lives and has it; () otherwise.

        Costs a census, one to two collections, where it does, and nothing elsewhere.
        """
        return who_holds_tensors(self._last_loss)


@dataclass
class _Copy:
    """One window on its way to the host: where it lands, and how to know that it has."""

    landing: torch.Tensor
    event: Any = None
    through_step: int = 0

    @property
    def has_arrived(self) -> bool:
        return self.event is None or bool(self.event.query())

    def wait(self) -> None:
        if self.event is not None:
            self.event.synchronize()


class LossMeter:
    """`meter.update(loss)` in each step, `print(meter.log())` every k steps, or never.

    `update` keeps no graph and waits for nothing; memory is the same after a million steps as after one. With
    `reduce=True` (the default) and torch.distributed initialised, `log()` and `read()` gather all ranks: every rank
    has to call them at the same steps, one that had no loss as well. A NaN stays visible: mean and max of its window
    are NaN.
    """

    def __init__(self, *, reduce: bool = True) -> None:
        self.num_updates = 0
        self._num_cut = 0
        self._last_loss: weakref.ref[torch.Tensor] | None = None
        self._reduce = reduce
        self._logged_through = 0
        self._num_logs = 0
        self._state: torch.Tensor | None = None

    def update(self, loss: torch.Tensor | float, weight: float = 1.0) -> int:
        """Take one step's loss, a tensor of one element or a number; `weight` is its share in the mean (batch size).
        Gives back how many were taken so far.

        Raises UsageError, and takes nothing, for what is no number or a complex one, for a tensor of several elements
        or of another device than the first, and for a weight that is no number from 0 on.
        """
        if type(weight) not in _NUMBERS or not weight >= 0:
            weight = _checked_weight(weight)
        if isinstance(loss, torch.Tensor):
            value = loss.detach()
            if value.dim():
                value = _single(value)
            if value.is_complex():
                raise UsageError(f"LossMeter takes real numbers; a loss of {value.dtype} was given")
            if self._state is None:
                self._begin(value.device)
            elif value.device != self._device:
                raise UsageError(
                    f"this LossMeter is on {self._device}, where its first loss was; a loss on {value.device} was "
                    "given: use one meter per device"
                )
            self._last.copy_(value)  # what follows has one dtype then, and converts nothing
            self._add_last(weight)
            if loss.requires_grad:
                self._num_cut += 1
                self._last_loss = weakref.ref(loss)
        elif not isinstance(loss, Real):
            raise UsageError(f"LossMeter takes a tensor of one element or a number; a {type(loss).__name__} was given")
        else:
            loss = float(loss)
            if self._state is None:
                self._begin(torch.device("cpu"))
            self._last.fill_(loss)
            self._add_last(weight)
        self._window_weight += weight
        self.num_updates += 1
        return self.num_updates

    def _add_last(self, weight: float) -> None:
        if weight == 1:
            self._sum.add_(self._last)
        else:
            self._sum.add_(self._last, alpha=weight)
        torch.maximum(self._max, self._last, out=self._max)

    def log(self) -> LossValues:
        """Start the copy of this window and begin a new one; gives back the newest values that have arrived.

        On the CPU that is this window; on CUDA mostly the one before (empty at the first log). Waits only where the
        copy of two logs ago is still under way, and for other ranks.
        """
        if self._has_news():
            self._start_copy()
        return self._newest()

    def read(self) -> LossValues:
        """The same as `log()`, but waits for this window's values: for the end of an epoch."""
        if self._has_news():
            self._start_copy()
        if self._num_logs:
            self._copies[(self._num_logs - 1) % _NUM_SLOTS].wait()
        return self._newest()

    @property
    def outcome(self) -> MeterOutcome:
        """What was taken so far, and what is kept of it. Some microseconds; waits for nothing."""
        refs = StorageRefs()
        if self._state is not None:
            for tensor in (self._state, self._empty, self._gathered, *(copy.landing for copy in self._copies)):
                refs.add(tensor, "of a LossMeter")
        loss = self._last_loss() if self._last_loss is not None else None
        followed = (("the last loss", weakref.ref(loss)),) if loss is not None and carries_graph(loss) else ()
        return MeterOutcome(
            self.num_updates, self._num_logs, self._num_cut, compare_storages((), refs, ()), _last_loss=followed
        )

    def _has_news(self) -> bool:
        """Whether there is something to copy; with several ranks always, for the others wait for this one."""
        if self._state is None and self._reduce and _num_ranks() > 1:
            self._begin(_device_of_ranks())
        return self._state is not None and (self.num_updates > self._logged_through or len(self._gathered) > 1)

    def _begin(self, device: torch.device) -> None:
        kind = torch.float32 if device.type == "mps" else torch.float64
        with torch.inference_mode(False), torch.no_grad():
            self._empty = torch.zeros(_WIDTH, dtype=kind, device=device)
            self._empty[_MAX].fill_(-math.inf)  # filled in place: values that come from the host are waited for
            self._empty[_LAST].fill_(math.nan)
            state = self._empty.clone()
            self._sum, self._max, self._last = state[_SUM], state[_MAX], state[_LAST]
            self._counts = state[_WEIGHT], state[_STEPS]
            num_ranks = _num_ranks() if self._reduce else 1
            self._gathered = torch.zeros(num_ranks, _WIDTH, dtype=kind, device=device)
            pinned = device.type == "cuda"
            self._copies = [
                _Copy(torch.zeros(num_ranks, _WIDTH, dtype=kind, device="cpu", pin_memory=pinned))
                for _ in range(_NUM_SLOTS)
            ]
        self._device = state.device
        self._window_weight = 0.0
        self._state = state

    def _start_copy(self) -> None:
        assert self._state is not None
        slot = self._copies[self._num_logs % _NUM_SLOTS]
        slot.wait()
        self._counts[0].fill_(self._window_weight)
        self._counts[1].fill_(self.num_updates - self._logged_through)
        _gather(self._gathered, self._state)
        slot.landing.copy_(self._gathered, non_blocking=True)
        self._state.copy_(self._empty)
        if self._device.type == "cuda":
            slot.event = slot.event or torch.cuda.Event()
            slot.event.record(torch.cuda.current_stream(self._device))
        slot.through_step = self._logged_through = self.num_updates
        self._window_weight = 0.0
        self._num_logs += 1

    def _newest(self) -> LossValues:
        for age in range(1, min(self._num_logs, _NUM_SLOTS) + 1):
            slot = self._copies[(self._num_logs - age) % _NUM_SLOTS]
            if slot.has_arrived:
                return _values_of(slot)
        return LossValues()


def _checked_weight(weight: object) -> float:
    """Numbers of other types (NumPy's) too; a tensor would have to be waited for."""
    if isinstance(weight, Real) and float(weight) >= 0:
        return float(weight)
    kind = f"{weight!r}" if isinstance(weight, Real) else f"a {type(weight).__name__}"
    raise UsageError(f"LossMeter: weight is a number from 0 on, as a batch size is; {kind} was given")


def _single(value: torch.Tensor) -> torch.Tensor:
    if value.numel() != 1:
        raise UsageError(
            f"LossMeter takes one number per step; a tensor of shape {list(value.shape)} was given: "
            "reduce it first, as in loss.mean()"
        )
    return value.reshape(())


def _device_of_ranks() -> torch.device:
    """Where ranks exchange tensors: of a rank that has had no loss yet."""
    return torch.device("cuda" if "nccl" in torch.distributed.get_backend() else "cpu")


def _num_ranks() -> int:
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return 1
    return int(distributed.get_world_size())


def _gather(gathered: torch.Tensor, state: torch.Tensor) -> None:
    """Every rank's state, a row each; a copy where there is one rank."""
    if gathered.size(0) > 1:
        torch.distributed.all_gather(list(gathered.unbind()), state)
    else:
        gathered[0].copy_(state)


def _values_of(slot: _Copy) -> LossValues:
    """Read from host memory: nothing waits here."""
    rows = [row for row in slot.landing.tolist() if row[_STEPS]]
    if not rows:
        return LossValues(through_step=slot.through_step)
    weight = sum(row[_WEIGHT] for row in rows)
    total = sum(row[_SUM] for row in rows)
    maxima = [row[_MAX] for row in rows]
    return LossValues(
        last=sum(row[_LAST] for row in rows) / len(rows),
        mean=total / weight if weight else math.nan,
        max=math.nan if any(map(math.isnan, maxima)) else max(maxima),
        num_steps=int(max(row[_STEPS] for row in rows)),
        through_step=slot.through_step,
        num_ranks=len(slot.landing),
    )
