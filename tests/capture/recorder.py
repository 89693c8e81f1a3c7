"""A recorder on a temporary folder, with a stand-in for the census that notes when it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import numpy as np

from tenure.capture.monitor import Monitor
from tenure.capture.options import MonitorOptions
from tenure.model.heap import Census, Nodes, References, Storages


def empty_census(step: int = 1, moment: str = "step-end", strings: tuple[str, ...] = ()) -> Census:
    def column_of(table: type, length: int = 0) -> dict[str, np.ndarray]:
        return {field.name: np.zeros(length, dtype=np.int64) for field in fields(table)}

    return Census(
        step=step,
        moment=moment,
        seconds=0.0,
        num_objects=0,
        strings=strings,
        nodes=Nodes(**column_of(Nodes, len(strings))),
        references=References(**column_of(References)),
        storages=Storages(**column_of(Storages)),
    )


class CensusLog:
    """Gives back empty censuses and keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, str]] = []
        self.inputs: list[object] = []
        self.num_optimizers: list[int] = []

    def __call__(
        self,
        *,
        step: int,
        moment: str,
        inputs: object = None,
        optimizers: Sequence[object] = (),
        ignore: Sequence[object] = (),
    ) -> Census:
        self.calls.append((step, moment))
        self.inputs.append(inputs)
        self.num_optimizers.append(len(optimizers))
        return empty_census(step, moment)


@contextmanager
def recording(folder: Path, census: object = None, **options: object) -> Iterator[Monitor]:
    folder.mkdir(exist_ok=True)
    monitor = Monitor(
        lambda: folder,
        options=MonitorOptions(**options),  # type: ignore[arg-type]
        take_census=census or CensusLog(),  # type: ignore[arg-type]
    )
    try:
        yield monitor
    finally:
        monitor.close()
