"""`tenure.find_batch_size()`: the largest batch that fits, found by trying, each try cleaned up and watched for leaks.

Doubling until memory runs out, then bisection: for a true limit of L at most 2 * ceil(log2(L + 1)) + 1 tries.
"""

from __future__ import annotations

import gc
import operator
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.system.memory_room import read_memory_fraction
from tenure.errors import UsageError
from tenure.model.units import format_bytes, parse_bytes
from tenure.release.device_bytes import Reading, compare, give_back_cache, read_device_bytes
from tenure.release.out_of_memory.budget import TensorBudget
from tenure.release.out_of_memory.failed_step import clear_failed_frames, is_out_of_memory
from tenure.release.outcome import ByDevice, DeviceBytes, Survivor, describe_survivor
from tenure.release.storage_refs import StorageRefs, addresses_of, live_tensors
from tenure.release.verify import Verification

MOST = 1 << 20
"""Where doubling ends if memory never does: a function that ignores its size would be tried for ever."""
_LEAST_LEFT = 1024


@dataclass(frozen=True)
class Try:
    """One size that was tried. `peak_bytes` is the most that lived during it (None where memory ran out on a device).

    `left_bytes` is what it left behind: of the first try gradients, optimizer state and the like, which are made once;
    of a later one a leak.
    """

    size: int
    fits: bool
    peak_bytes: int | None
    left_bytes: int
    seconds: float
    error: str = ""


@dataclass(frozen=True)
class BatchSizeOutcome(ByDevice):
    """`batch_size` is the largest that fits, 0 where not even 1 does. With `lengths` it counts tokens (or frames) of a
    batch, and `batch_sizes` says how many sequences of each length those are.

    `is_limit` is False where the search ended at `most` and larger ones may fit. `survivors` is what the first try
    that leaked left behind, and who holds it; `devices` has the bytes of tensors before the first try and after the
    last.
    """

    batch_size: int
    unit: str
    tries: tuple[Try, ...]
    limit_bytes: int
    margin: float
    is_limit: bool = True
    batch_sizes: tuple[tuple[int, int], ...] = ()
    survivors: tuple[Survivor, ...] = ()
    devices: tuple[DeviceBytes, ...] = ()

    @property
    def leaks(self) -> tuple[Try, ...]:
        """Tries after the first that fitted and left memory behind; one that failed may have made some gradients."""
        return tuple(each for each in self.tries[1:] if each.fits and each.left_bytes >= _LEAST_LEFT)

    def __str__(self) -> str:
        return "\n".join(_describe(self))


def find_batch_size(
    step: Callable[..., Any],
    *,
    limit: str | int | None = None,
    margin: float = 0.05,
    most: int = MOST,
    lengths: Sequence[int] = (),
) -> BatchSizeOutcome:
    """The largest `n` for which `step(n)`, a forward and backward on a batch of n, fits into memory.

    Without `limit` the current CUDA device is tried for real: a size fits where torch's allocator took no more than
    what is free and this process may take (`torch.cuda.set_per_process_memory_fraction`), less `margin`. With
    `limit="2GiB"` live tensors are counted instead, on any machine, those that live already included. With `lengths`
    the budget is one of tokens or frames: `step(n, length)` is called for the longest, the middle and the shortest of
    them, with as many sequences as the budget allows, and the worst decides.

    `step` really runs, weights change if it steps an optimizer; what it gives back is dropped. Errors other than
    running out of memory pass, and what the failed try held is freed first. On CUDA the cache is emptied between
    tries and the peak counters are reset. Raises UsageError without a device and a limit.
    """
    _check(step, limit, margin, most)
    lengths = _read_lengths(lengths)
    trial = _Trial(step, _room(limit, margin), simulated=limit is not None)
    representative = _representative(lengths)
    unit = max(lengths, default=1)

    def fits(number: int) -> bool:
        if not lengths:
            return trial.run(number, [(number,)])
        tokens = number * unit
        return trial.run(tokens, [(tokens // length, length) for length in representative])

    found, is_limit = _search(fits, max(1, most // unit))
    tokens = found * unit
    return BatchSizeOutcome(
        batch_size=tokens,
        unit="tokens" if lengths else "samples",
        tries=tuple(trial.tries),
        limit_bytes=trial.room_bytes,
        margin=margin,
        is_limit=is_limit,
        batch_sizes=tuple((length, tokens // length) for length in representative),
        survivors=trial.survivors,
        devices=compare(trial.first, trial.last, None),
    )


def _check(step: object, limit: str | int | None, margin: float, most: int) -> None:
    if not callable(step):
        raise UsageError(f"find_batch_size calls step(batch_size); a {type(step).__name__} was given")
    if not (isinstance(margin, int | float) and 0 <= margin < 1):
        raise UsageError(f"margin is a share of memory to leave free, from 0 to below 1; {margin!r} was given")
    if not (isinstance(most, int) and most >= 1):
        raise UsageError(f"most is the largest size to try, a whole number from 1 on; {most!r} was given")
    if limit is None and not torch.cuda.device_count():
        raise UsageError('there is no CUDA device to try on; give a limit to count tensors against: limit="2GiB"')


def _read_lengths(lengths: Iterable[int]) -> tuple[int, ...]:
    """Of a list, array or set of lengths; UsageError where they are none."""
    try:
        found = tuple(map(operator.index, lengths))
    except TypeError:
        found = (0,)
    if min(found, default=1) < 1:
        raise UsageError(f"lengths are numbers of tokens or frames, whole ones from 1 on; {lengths!r} was given")
    return found


def _room(limit: str | int | None, margin: float) -> int:
    """Bytes that a try may use: what already lives counts with a limit; on CUDA it is what is free or ours now, and no
    more than this process was allowed to take."""
    if limit is None:
        gc.collect()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
        allowed = int(read_memory_fraction(torch.cuda) * total)
        return int(min(free + torch.cuda.memory_reserved(), allowed) * (1 - margin))
    try:
        wanted = parse_bytes(limit)
    except ValueError as error:
        raise UsageError(f"limit: {error}") from None
    return int(wanted * (1 - margin))


def _representative(lengths: Sequence[int]) -> list[int]:
    """The longest, the middle and the shortest, each once."""
    ordered = sorted(set(lengths), reverse=True)
    return sorted({ordered[0], ordered[len(ordered) // 2], ordered[-1]}, reverse=True) if ordered else []


def _search(fits: Callable[[int], bool], most: int) -> tuple[int, bool]:
    """The largest number up to `most` that fits, and whether the next one does not."""
    low, high = 0, 1
    while fits(high):
        low = high
        if high >= most:
            return high, False
        high = min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low, True


class _Trial:
    """Tries sizes one after another and notes what each took and left."""

    def __init__(self, step: Callable[..., Any], room_bytes: int, *, simulated: bool) -> None:
        self.tries: list[Try] = []
        self.survivors: tuple[Survivor, ...] = ()
        self.room_bytes = room_bytes
        self._step = step
        self._simulated = simulated
        self.first = self.last = _cleaned_up()
        self._known: set[int] = set()

    def run(self, size: int, calls: list[tuple[int, ...]]) -> bool:
        """Whether all these calls fit; notes one try."""
        start = time.perf_counter()
        peak: int | None = 0
        error = ""
        for call in calls:
            used, error = self._call(call)
            peak = None if used is None or peak is None else max(peak, used)
            if error:
                break
        before, self.last = self.last, _cleaned_up()
        left = _total(self.last) - _total(before)
        self.tries.append(Try(size, not error, peak, left, time.perf_counter() - start, error))
        if not error:
            self._look_for_leaks(left)
        return not error

    def _look_for_leaks(self, left: int) -> None:
        """Who holds what the first leaking try has left; a census, once."""
        known = self._known
        refs, self._known = _find_new(known, f"a tensor made in the try of {self.tries[-1].size:,}")
        if known and left >= _LEAST_LEFT and not self.survivors:
            self.survivors = Verification().survivors(refs)

    def _call(self, call: tuple[int, ...]) -> tuple[int | None, str]:
        """Peak bytes of one call, and why it does not fit."""
        watch = TensorBudget(self.room_bytes) if self._simulated else _Measured()
        try:
            with watch:
                self._step(*call)
        except BaseException as error:
            clear_failed_frames(error)
            if not is_out_of_memory(error):
                _cleaned_up()
                raise
            return watch.peak_bytes, str(error).splitlines()[0] if str(error) else type(error).__name__
        peak = watch.peak_bytes
        if peak is not None and peak > self.room_bytes:
            return peak, f"{format_bytes(peak)} at its peak, beyond the {format_bytes(self.room_bytes)} allowed"
        return peak, ""


class _Measured:
    """What torch's allocator takes from the CUDA device."""

    peak_bytes: int | None = None

    def __enter__(self) -> _Measured:
        torch.cuda.reset_peak_memory_stats()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            torch.cuda.synchronize()
            self.peak_bytes = int(torch.cuda.max_memory_reserved())


def _find_new(known: set[int], name: str) -> tuple[StorageRefs, set[int]]:
    """Weak references to live storages that are not known, and the addresses of all."""
    refs, now = StorageRefs(), set()
    for tensor in live_tensors():
        addresses = addresses_of(tensor)
        now |= addresses
        if known and not addresses <= known:
            refs.add(tensor, name)
    return refs, now


def _cleaned_up() -> dict[str, Reading]:
    """Bytes in tensors when garbage is collected and the cache is empty."""
    gc.collect()
    give_back_cache(("cuda",))
    return read_device_bytes()


def _total(readings: Mapping[str, Reading]) -> int:
    return sum(reading.bytes for reading in readings.values())


def _describe(outcome: BatchSizeOutcome) -> list[str]:
    found = f"{outcome.batch_size:,} {outcome.unit} fit into {format_bytes(outcome.limit_bytes)}"
    if not outcome.batch_size:
        found = f"not even the smallest batch fits into {format_bytes(outcome.limit_bytes)}: {outcome.tries[0].error}"
    elif not outcome.is_limit:
        found += "; larger ones were not tried"
    lines = [f"{found} ({len(outcome.tries)} tries, margin {outcome.margin:.0%})"]
    lines += [f"  {size:,} sequences of {length:,}" for length, size in outcome.batch_sizes]
    for each in outcome.leaks:
        lines.append(f"  the try of {each.size:,} left {format_bytes(each.left_bytes)} behind")
    for survivor in outcome.survivors[:1]:
        lines += describe_survivor(survivor)
    return lines
