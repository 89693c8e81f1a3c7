"""Whether the bytes of a run follow what runs with smaller sizes predict, in what changes with the size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.allocator.lives_played import PlayedLives
from tenure.allocator.settings import AllocatorSettings
from tenure.errors import UsageError
from tenure.model.heap import Ints
from tenure.model.plan import TOLERANCE
from tenure.model.stream import StepStream
from tenure.model.units import format_bytes
from tenure.planning.on_cuda import bytes_on_cuda
from tenure.planning.parts import parts_of
from tenure.planning.predict import play_rows
from tenure.planning.size_model import SizeModel
from tenure.planning.step_noise import bytes_in_use, noise_in_use, place_of_noise

_LEAST_PART = 0.1
"""Of what all grows by: a part of a step that grows less counts as growing so much."""


def check_model(model: SizeModel, checked: tuple[int, ...], stream: StepStream, *, wanted: str) -> tuple[int, int]:
    """The peaks in use that the model predicts for the sizes `checked` and that their stream has.

    UsageError where at some operation the two differ by more than `TOLERANCE` of what the part of the step has grown by
    since the smallest sizes, or where a size changes nothing. What does not grow has no say in it: a large model would
    hide everything else.
    """
    what = " ".join(f"{axis.option} {size}" for axis, size in zip(model.axes, checked, strict=True))
    if stream.profile.num_operations != model.stream.profile.num_operations:
        raise UsageError(f"no {wanted}: with {what} the steps run other operations than with smaller ones")
    smallest = model.bytes.reshape(-1, model.bytes.shape[-1])[0]
    before, predicted = (bytes_in_use(model.stream, model.rows, each) for each in (smallest, model.bytes_at(*checked)))
    rows = np.flatnonzero(stream.owners.on_device == 1).tolist()
    found = bytes_in_use(stream, rows, bytes_on_cuda(stream)[0][rows])
    over = np.abs(found - predicted) - TOLERANCE * _growth(stream, found - before)
    worst = int(over.argmax())
    if over[worst] > 0:
        told, was, least = (format_bytes(int(each[worst])) for each in (predicted, found, before))
        raise UsageError(
            f"no {wanted}: for {what} smaller ones predict {told} in use at an operation of "
            f"{parts_of(stream.profile)[worst].value} where {was} were, and {least} with the smallest"
        )
    for number, axis in enumerate(model.axes):
        if not model.changes_along(number):
            raise UsageError(f"no {wanted}: {axis.option} changes nothing of what the steps need")
    return int(model.played_at(*checked).active.max()), int(_as_it_was(stream, model.settings).active.max())


def _growth(stream: StepStream, grown: Ints) -> Ints:
    """For each operation the most that its part of the step has grown by, and at least a share of all."""
    parts = np.array([part.value for part in parts_of(stream.profile)])
    size = np.abs(grown)
    found = np.full(len(size), int(size.max() * _LEAST_PART), dtype=np.int64)
    for part in set(parts.tolist()):
        found[parts == part] = np.maximum(found[parts == part], size[parts == part].max())
    return found


def refuse_noise(
    sizes: Sequence[tuple[int, ...]], streams: Sequence[StepStream], settings: AllocatorSettings, *, wanted: str
) -> None:
    """UsageError, with the peaks that are known, where two steps of one size differ by more than `TOLERANCE` of what
    their peak grows by from the first of these streams to the last."""
    peaks = [int(_as_it_was(stream, settings).active.max()) for stream in streams]
    noise = [noise_in_use(stream) for stream in streams]
    worst = int(np.argmax(noise))
    if noise[worst] <= TOLERANCE * abs(peaks[-1] - peaks[0]):
        return
    known = ", ".join(f"{_told(at)}: {format_bytes(peak)}" for at, peak in zip(sizes, peaks, strict=True))
    raise UsageError(
        f"no {wanted}: sizes depend on values or on the data. With {_told(sizes[worst])} two steps that run the same "
        f"operations differ by {format_bytes(noise[worst])} in use{_where(streams[worst])}, so that other sizes do not "
        f"follow. Known are the peaks in use of the runs: {known}"
    )


def _told(sizes: tuple[int, ...]) -> str:
    return " and ".join(map(str, sizes))


def _where(stream: StepStream) -> str:
    place = place_of_noise(stream)
    return f", from {place} on" if place else ""


def _as_it_was(stream: StepStream, settings: AllocatorSettings) -> PlayedLives:
    rows = np.flatnonzero(stream.owners.on_device == 1).tolist()
    sizes = bytes_on_cuda(stream)[0]
    return play_rows(stream, rows, [max(int(sizes[row]), 1) for row in rows], settings, None)
