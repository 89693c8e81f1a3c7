"""Sizes of a program's storages over those of its input: polynomials through what a few runs had, checked by one more.

Each storage's bytes are a polynomial of the batch size, of the length, or of both: parameters do not change,
activations grow with it, a matrix of all pairs with its square. The lives of other sizes are played with the bytes that
it gives. Degree: one less than the sizes of each axis that ran.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tenure.allocator.lives_played import PlayedLives
from tenure.allocator.settings import AllocatorSettings
from tenure.errors import UsageError
from tenure.model.heap import Ints
from tenure.model.profile import BEFORE
from tenure.model.stream import StepStream
from tenure.model.units import format_bytes
from tenure.planning.on_cuda import bytes_on_cuda
from tenure.planning.predict import play_rows

MOST = 1 << 40
"""No program has a size as large: what fits is found by doubling, whatever the device."""
TOLERANCE = 0.02
"""By so much what is in use may differ at any operation of the run that checks."""
TOLERANCE_OF_CHANGE = 0.1
LEAST_CHANGE = 64 << 10
"""And by so much of what the size has changed there, from so many bytes on: beside large parameters sizes that depend
on values, as of rows that a step chooses, would pass for a model of them."""
_HALVE_EVERY = 3

Key = tuple[int, int, int, str, int]
"""Birth, death, owner, the name of what was there before, and which of several alike."""


@dataclass(frozen=True)
class Axis:
    """An option of the program that takes a size, and the sizes that it was run with."""

    option: str
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class SizeModel:
    """The lives of the largest run, and each one's bytes at all sizes that ran: an array with a dimension for each of
    `axes`, and storages last."""

    axes: tuple[Axis, ...]
    stream: StepStream
    rows: list[int]
    bytes: Ints
    settings: AllocatorSettings

    def played_at(self, *sizes: int) -> PlayedLives:
        """What a run with these sizes, one for each axis, comes to."""
        return play_rows(self.stream, self.rows, self.bytes_at(*sizes).tolist(), self.settings, None)

    def active_at(self, *sizes: int) -> int:
        """Its peak in use."""
        return int(self.played_at(*sizes).active.max())

    def reserved_at(self, *sizes: int) -> int:
        """Its peak reserved."""
        return int(self.played_at(*sizes).reserved.max())

    def bytes_at(self, *sizes: int) -> Ints:
        """Of each storage, at least 1."""
        values = self.bytes.astype(np.float64)
        for axis, size in zip(self.axes, sizes, strict=True):
            values = _polynomial(axis.sizes, values, size)
        return np.maximum(np.rint(values), 1).astype(np.int64)

    def changes_along(self, axis: int) -> bool:
        """Whether some storage's bytes differ between sizes of one axis."""
        return bool(np.diff(self.bytes, axis=axis).any())


def _polynomial(points: Sequence[int], values: NDArray[np.float64], at: int) -> NDArray[np.float64]:
    """The value at `at` of the polynomials through `values`, by differences: what does not change stays exactly so."""
    differences, factor = values, 1.0
    result: NDArray[np.float64] = values[0].copy()
    for order in range(1, len(points)):
        widths = np.array([points[number + order] - points[number] for number in range(len(points) - order)])
        differences = np.diff(differences, axis=0) / widths.reshape(-1, *[1] * (values.ndim - 1))
        factor *= at - points[order - 1]
        result += factor * differences[0]
    return result


def model_of(
    axes: Sequence[Axis], streams: Sequence[StepStream], settings: AllocatorSettings, *, wanted: str
) -> SizeModel:
    """From the streams of all combinations of sizes, in the order of `itertools.product`.

    UsageError where they differ otherwise than in their storages' bytes, or where two steps of one run differ in these,
    as rows that a step chooses do; it begins with `wanted`, what is not found.
    """
    names = [_names(stream) for stream in streams]
    tables = [_rows_by_key(stream) for stream in streams]
    if any(each != names[0] for each in names) or any(table.keys() != tables[0].keys() for table in tables):
        counts = " and ".join(str(len(each)) for each in dict.fromkeys(names))
        options = " or ".join(axis.option for axis in axes)
        raise UsageError(
            f"no {wanted}: with another {options} the steps run other operations ({counts}), or keep other storages: "
            "random control flow, loops over the input, or steps that end early"
        )
    keys = sorted(tables[-1], key=lambda key: tables[-1][key])
    sizes = [bytes_on_cuda(stream)[0] for stream in streams]
    found = [size[[table[key] for key in keys]] for size, table in zip(sizes, tables, strict=True)]
    apart, change = max(map(_between_steps, streams)), int(np.abs(found[-1] - found[0]).sum())
    if apart > TOLERANCE * change:
        raise UsageError(
            f"no {wanted}: two steps with the same sizes differ by {format_bytes(apart)} in what the same operations "
            f"make, where other sizes change {format_bytes(change)}: sizes depend on values, as of rows that a step "
            "chooses"
        )
    shape = (*(len(axis.sizes) for axis in axes), len(keys))
    rows = [tables[-1][key] for key in keys]
    return SizeModel(tuple(axes), streams[-1], rows, np.array(found, dtype=np.int64).reshape(shape), settings)


def sizes_of(axes: Sequence[Axis]) -> list[tuple[int, ...]]:
    """All combinations, in the order in which `model_of` wants their streams."""
    return list(product(*(axis.sizes for axis in axes)))


def _between_steps(stream: StepStream) -> int:
    """By how many bytes what the operations of one step make differs from what those of the other do, where both run
    the same; of an operation that makes as much in number."""
    names, second = _names(stream), stream.profile.second
    if names[:second] != names[second:]:
        return 0
    made: tuple[defaultdict[int, list[int]], ...] = (defaultdict(list), defaultdict(list))
    sizes, births = bytes_on_cuda(stream)[0], stream.profile.storages.birth
    for row in np.flatnonzero((stream.owners.on_device == 1) & (births != BEFORE)).tolist():
        step, operation = divmod(int(births[row]), second)
        made[step][operation].append(int(sizes[row]))
    alike = [at for at in made[0] if len(made[0][at]) == len(made[1][at])]
    return sum(abs(one - other) for at in alike for one, other in zip(made[0][at], made[1][at], strict=True))


def _names(stream: StepStream) -> tuple[str, ...]:
    return tuple(map(stream.profile.text, stream.profile.operations.name.tolist()))


def _rows_by_key(stream: StepStream) -> dict[Key, int]:
    """Storages that would lie on the device, by what they have in common with those of another size."""
    storages, owners = stream.profile.storages, stream.owners
    counts: defaultdict[tuple[int, int, int, str], int] = defaultdict(int)
    found: dict[Key, int] = {}
    for row in np.flatnonzero(owners.on_device == 1).tolist():
        name = stream.profile.text(int(owners.name[row])) if storages.birth[row] == BEFORE else ""
        key = (int(storages.birth[row]), int(storages.death[row]), int(owners.owner[row]), name)
        found[(*key, counts[key])] = row
        counts[key] += 1
    return found


def check_model(model: SizeModel, checked: tuple[int, ...], stream: StepStream, *, wanted: str) -> tuple[int, int]:
    """The peaks in use that the model predicts for the sizes `checked` and that their stream has.

    UsageError where at some operation the two differ by more than `TOLERANCE`, or by more than `TOLERANCE_OF_CHANGE` of
    what is there beyond the smallest sizes, or where a size changes nothing.
    """
    found, predicted = _play_as_it_was(stream, model.settings), model.played_at(*checked)
    smallest = model.played_at(*(axis.sizes[0] for axis in model.axes))
    what = " ".join(f"{axis.option} {size}" for axis, size in zip(model.axes, checked, strict=True))
    if len(found.active) != len(predicted.active):
        raise UsageError(f"no {wanted}: with {what} the steps run other operations than with smaller ones")
    allowed = np.minimum(
        TOLERANCE * found.active,
        np.maximum(TOLERANCE_OF_CHANGE * np.abs(predicted.active - smallest.active), LEAST_CHANGE),
    )
    off = np.abs(found.active - predicted.active) / np.maximum(allowed, 1)
    worst = int(off.argmax())
    if off[worst] > 1:
        told, was = (format_bytes(int(played.active[worst])) for played in (predicted, found))
        raise UsageError(f"no {wanted}: for {what} smaller ones predict {told} in use at an operation where {was} were")
    for number, axis in enumerate(model.axes):
        if not model.changes_along(number):
            raise UsageError(f"no {wanted}: {axis.option} changes nothing of what the steps need")
    return int(predicted.active.max()), int(found.active.max())


def _play_as_it_was(stream: StepStream, settings: AllocatorSettings) -> PlayedLives:
    rows = np.flatnonzero(stream.owners.on_device == 1).tolist()
    sizes = bytes_on_cuda(stream)[0]
    return play_rows(stream, rows, [max(int(sizes[row]), 1) for row in rows], settings, None)


def largest_within(needed: Callable[[int], int], limit: int, start: int) -> int:
    """The largest size whose bytes are within the limit, 0 where none is; what is needed grows with the size.

    Begins at `start` and goes where the line through the last two tries points, so that a few tries do.
    """
    low, high, size = 0, MOST + 1, start
    tried: list[tuple[int, int]] = []
    while high - low > 1:
        tried.append((size, needed(size)))
        low, high = (size, high) if tried[-1][1] <= limit else (low, size)
        middle = 2 * low if high > MOST else (low + high) // 2
        aimed = _by_line(tried, limit) if len(tried) % _HALVE_EVERY else None
        size = min(max(middle if aimed is None else aimed, low + 1), high - 1)
    return low


def _by_line(tried: Sequence[tuple[int, int]], limit: int) -> int | None:
    if len(tried) < 2:
        return None
    (before, bytes_before), (last, bytes_last) = tried[-2:]
    if bytes_last == bytes_before:
        return None
    return last + (limit - bytes_last) * (last - before) // (bytes_last - bytes_before)
