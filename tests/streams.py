"""Memory streams of two steps in a few lines, on top of `profiles`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tenure.model.profile import StepProfile
from tenure.model.stream import Owner, StepStream, StorageOwners


def stream(
    made: StepProfile,
    owners: Sequence[Owner] | None = None,
    *,
    names: Sequence[str] | None = None,
    modules: Sequence[str] | None = None,
    kept_at: Sequence[int] | None = None,
    on_device: Sequence[int] | None = None,
    met_bytes: Sequence[int] | None = None,
    graph_reads: tuple[int, ...] = (),
    operations: Sequence[str] | None = None,
    notes: tuple[str, ...] = (),
    flops: Sequence[int] | None = None,
) -> StepStream:
    """A profile with owners, names and modules for each of its storages, and names of its operations."""
    size = len(made.storages.bytes)
    strings = {text: number for number, text in enumerate(made.strings)}

    def column(texts: Sequence[str] | None, length: int) -> np.ndarray:
        found = [strings.setdefault(text, len(strings)) for text in texts or ()]
        return np.array(found or [-1] * length, dtype=np.int64)

    of_modules, of_names = column(modules, size), column(names, size)
    called = column(operations, made.num_operations)
    if operations is not None:
        made = replace(made, operations=replace(made.operations, name=called))
    kept = np.array(kept_at if kept_at is not None else [-1] * size, dtype=np.int64)
    return StepStream(
        replace(made, strings=tuple(strings)),
        modules=np.full(made.num_operations, -1),
        owners=StorageOwners(
            owner=np.array(owners if owners is not None else [Owner.NONE] * size, dtype=np.int64),
            name=of_names,
            module=of_modules,
            kept_from=kept,
            kept_to=kept,
            on_device=np.array(on_device if on_device is not None else [1] * size, dtype=np.int64),
            met_bytes=np.array(met_bytes if met_bytes is not None else made.storages.bytes, dtype=np.int64),
        ),
        graph_reads=graph_reads,
        notes=notes,
        flops=np.array(flops if flops is not None else [0] * made.num_operations, dtype=np.int64),
    )
