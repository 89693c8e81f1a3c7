"""Sizes of a program's storages over those of its input: polynomials through what a few runs had, checked by one more.

Each storage's bytes are a polynomial of the batch size, of the length, or of both: parameters do not change,
activations grow with it, a matrix of all pairs with its square. The lives of other sizes are played with the bytes that
it gives. Along each axis it is a line unless a curve through all sizes that ran comes nearer to the run that checks, by
more than steps of one size differ: a curve through noise is without bounds far from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tenure.allocator.lives_played import PlayedLives
from tenure.allocator.settings import AllocatorSettings
from tenure.errors import UsageError
from tenure.model.heap import Ints
from tenure.model.profile import BEFORE
from tenure.model.stream import StepStream
from tenure.planning.on_cuda import bytes_on_cuda
from tenure.planning.predict import play_rows
from tenure.planning.step_noise import twin_differences

_MOST_BYTES = float(1 << 50)
"""Of one storage at sizes that nobody has."""

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
    `axes`, and storages last. `is_line` says for each axis and storage whether its bytes follow a line; `noise` by how
    many bytes it differed between steps of one size."""

    axes: tuple[Axis, ...]
    stream: StepStream
    rows: list[int]
    keys: list[Key]
    bytes: Ints
    is_line: NDArray[np.bool_]
    noise: Ints
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
        for axis, is_line, size in zip(self.axes, self.is_line, sizes, strict=True):
            values = np.where(is_line, _line(axis.sizes, values, size), _curve(axis.sizes, values, size))
        return np.clip(np.rint(values), 1, _MOST_BYTES).astype(np.int64)

    def changes_along(self, axis: int) -> bool:
        """Whether some storage's bytes differ between sizes of one axis."""
        return bool(np.diff(self.bytes, axis=axis).any())


def _curve(points: Sequence[int], values: NDArray[np.float64], at: int) -> NDArray[np.float64]:
    """The value at `at` of the polynomials through `values`, by differences: what does not change stays exactly so."""
    differences, factor = values, 1.0
    result: NDArray[np.float64] = values[0].copy()
    for order in range(1, len(points)):
        widths = np.array([points[number + order] - points[number] for number in range(len(points) - order)])
        differences = np.diff(differences, axis=0) / widths.reshape(-1, *[1] * (values.ndim - 1))
        factor *= at - points[order - 1]
        result += factor * differences[0]
    return result


def _line(points: Sequence[int], values: NDArray[np.float64], at: int) -> NDArray[np.float64]:
    """The value at `at` of the lines nearest to `values`."""
    offsets = np.array(points) - np.mean(points)
    slopes: NDArray[np.float64] = np.tensordot(offsets, values, axes=1) / (offsets**2).sum()
    found: NDArray[np.float64] = values.mean(axis=0) + slopes * (at - np.mean(points))
    return found


def model_of(
    axes: Sequence[Axis], streams: Sequence[StepStream], settings: AllocatorSettings, *, wanted: str
) -> SizeModel:
    """From the streams of all combinations of sizes, in the order of `itertools.product`; all are curves at first.

    UsageError where they differ otherwise than in their storages' bytes; it begins with `wanted`, what is not found.
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
    rows = [[table[key] for key in keys] for table in tables]
    found = [bytes_on_cuda(stream)[0][chosen] for stream, chosen in zip(streams, rows, strict=True)]
    noise = [np.abs(twin_differences(stream))[chosen] for stream, chosen in zip(streams, rows, strict=True)]
    shape = (*(len(axis.sizes) for axis in axes), len(keys))
    return SizeModel(
        tuple(axes),
        streams[-1],
        rows[-1],
        keys,
        bytes=np.array(found, dtype=np.int64).reshape(shape),
        is_line=np.zeros((len(axes), len(keys)), dtype=np.bool_),
        noise=np.max(noise, axis=0),
        settings=settings,
    )


def simplest(model: SizeModel, checked: tuple[int, ...], stream: StepStream) -> SizeModel:
    """The model with a line for each storage and axis where a curve is no nearer to what the run with the sizes
    `checked` had, but for its noise; and where that run does not have the storage."""
    table, size = _rows_by_key(stream), bytes_on_cuda(stream)[0]
    is_there = np.array([key in table for key in model.keys])
    found = np.array([int(size[table[key]]) if key in table else 0 for key in model.keys])
    choices = np.array(list(product((True, False), repeat=len(model.axes))))
    ways = [np.repeat(choice[:, None], len(model.keys), axis=1) for choice in choices]
    off = np.array([np.abs(replace(model, is_line=way).bytes_at(*checked) - found) for way in ways])
    best = ((off <= off.min(axis=0) + model.noise) | ~is_there).argmax(axis=0)
    return replace(model, is_line=choices[best].T)


def sizes_of(axes: Sequence[Axis]) -> list[tuple[int, ...]]:
    """All combinations, in the order in which `model_of` wants their streams."""
    return list(product(*(axis.sizes for axis in axes)))


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
