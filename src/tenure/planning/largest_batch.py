"""The largest batch that a device holds: sizes of storages over the batch's, from three that ran, checked by one more.

Each storage's bytes are a polynomial of the batch size, of degree two at most: parameters do not change, activations
grow with it, a matrix of all pairs with its square. The lives of another batch are played with the sizes that it gives.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.allocator.lives_played import PlayedLives
from tenure.allocator.settings import AllocatorSettings, parse_settings
from tenure.errors import UsageError
from tenure.model.heap import Ints
from tenure.model.plan import LargestBatch, Plan
from tenure.model.profile import BEFORE
from tenure.model.stream import StepStream
from tenure.model.units import format_bytes
from tenure.planning.on_cuda import bytes_on_cuda
from tenure.planning.predict import play_rows

MOST = 1 << 22
TOLERANCE = 0.02
"""By so much what is in use may differ at any operation of the batch that checks."""

Key = tuple[int, int, int, str, int]
"""Birth, death, owner, the name of what was there before, and which of several alike."""


@dataclass(frozen=True)
class _Model:
    """The lives of the largest batch that was run, and each one's bytes at three sizes."""

    stream: StepStream
    rows: list[int]
    sizes: tuple[int, int, int]
    bytes: tuple[Ints, Ints, Ints]
    settings: AllocatorSettings

    def played_at(self, size: int) -> PlayedLives:
        """What a batch of this size comes to."""
        return play_rows(self.stream, self.rows, self.bytes_at(size).tolist(), self.settings, None)

    def active_at(self, size: int) -> int:
        """Its peak in use."""
        return int(self.played_at(size).active.max())

    def reserved_at(self, size: int) -> int:
        """Its peak reserved."""
        return int(self.played_at(size).reserved.max())

    def bytes_at(self, size: int) -> Ints:
        """Of each storage, by the polynomial through the three."""
        total = np.zeros(len(self.rows))
        for at, known in zip(self.sizes, self.bytes, strict=True):
            others = [other for other in self.sizes if other != at]
            weight = np.prod([(size - other) / (at - other) for other in others])
            total += weight * known
        return np.maximum(np.rint(total), 1).astype(np.int64)


def find_largest_batch(
    streams: Sequence[tuple[int, StepStream]], plan: Plan, *, device_bytes: int, option: str
) -> LargestBatch:
    """From four streams with their batch sizes, of which the last one checks.

    The least of the answer is where what is reserved still fits, with the larger constants; above the most not even
    what is in use does, with the smaller ones. UsageError where the steps differ otherwise than in their storages'
    bytes, where the fourth is not what the others predict, or where no batch size is found to matter.
    """
    settings = parse_settings(plan.settings)
    *known, (checked, last) = streams
    model = _model_of(known, settings, option)
    found, predicted = _play_as_it_was(last, settings), model.played_at(checked)
    _check(found, predicted, f"{option} {checked}")
    if not any((one != other).any() for one, other in pairwise(model.bytes)):
        raise UsageError(f"no largest batch: {option} changes nothing of what the steps need")
    least = sum(each.least_bytes or 0 for each in plan.constants)
    most = sum(each.most_bytes or 0 for each in plan.constants)
    return LargestBatch(
        option=option,
        least=_largest(lambda size: model.reserved_at(size) + most <= device_bytes),
        most=_largest(lambda size: model.active_at(size) + least <= device_bytes),
        sizes=model.sizes,
        checked=checked,
        predicted_bytes=int(predicted.active.max()),
        found_bytes=int(found.active.max()),
    )


def _model_of(known: Sequence[tuple[int, StepStream]], settings: AllocatorSettings, option: str) -> _Model:
    names = [_names(stream) for _, stream in known]
    tables = [_rows_by_key(stream) for _, stream in known]
    if any(each != names[0] for each in names) or any(table.keys() != tables[0].keys() for table in tables):
        counts = " and ".join(str(len(each)) for each in dict.fromkeys(names))
        raise UsageError(
            f"no largest batch: with another {option} the steps run other operations ({counts}), or keep other "
            "storages: random control flow, or steps that end early"
        )
    sizes = [bytes_on_cuda(stream)[0] for _, stream in known]
    keys = sorted(tables[2], key=lambda key: tables[2][key])
    rows = [tables[2][key] for key in keys]
    first, second, third = (
        np.array([size[table[key]] for key in keys], dtype=np.int64) for size, table in zip(sizes, tables, strict=True)
    )
    batches = (known[0][0], known[1][0], known[2][0])
    return _Model(known[2][1], rows, batches, (first, second, third), settings)


def _names(stream: StepStream) -> tuple[str, ...]:
    return tuple(map(stream.profile.text, stream.profile.operations.name.tolist()))


def _rows_by_key(stream: StepStream) -> dict[Key, int]:
    """Storages that would lie on the device, by what they have in common with those of another batch."""
    storages, owners = stream.profile.storages, stream.owners
    counts: defaultdict[tuple[int, int, int, str], int] = defaultdict(int)
    found: dict[Key, int] = {}
    for row in np.flatnonzero(owners.on_device == 1).tolist():
        name = stream.profile.text(int(owners.name[row])) if storages.birth[row] == BEFORE else ""
        key = (int(storages.birth[row]), int(storages.death[row]), int(owners.owner[row]), name)
        found[(*key, counts[key])] = row
        counts[key] += 1
    return found


def _play_as_it_was(stream: StepStream, settings: AllocatorSettings) -> PlayedLives:
    rows = np.flatnonzero(stream.owners.on_device == 1).tolist()
    sizes = bytes_on_cuda(stream)[0]
    return play_rows(stream, rows, [max(int(sizes[row]), 1) for row in rows], settings, None)


def _check(found: PlayedLives, predicted: PlayedLives, what: str) -> None:
    if len(found.active) != len(predicted.active):
        raise UsageError(f"no largest batch: with {what} the steps run other operations than with smaller ones")
    off = np.abs(found.active - predicted.active) / np.maximum(found.active, 1)
    worst = int(off.argmax())
    if off[worst] > TOLERANCE:
        told, was = (format_bytes(int(played.active[worst])) for played in (predicted, found))
        raise UsageError(
            f"no largest batch: for {what} smaller ones predict {told} in use at an operation where {was} were"
        )


def _largest(fits: Callable[[int], bool]) -> int:
    """The largest size that fits, 0 where none does; what is needed grows with the size."""
    low, high = 0, 1
    while high <= MOST and fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
