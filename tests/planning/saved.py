"""What graphs keep at the end of a forward: by a plan, by a census, and by saved-tensor hooks."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from planning.models import Step
from tenure.analysis.heap.kept_by_graphs import kept_by_graphs
from tenure.capture.heap.census import take_census
from tenure.capture.monitor import Monitor
from tenure.capture.options import MonitorOptions
from tenure.model.heap import Census, Role
from tenure.model.plan import Plan
from tenure.model.stream import StepStream
from tenure.planning.predict import predict
from tenure.store.stream_file import read_stream

OWNED = (Role.PARAMETER, Role.BUFFER, Role.GRADIENT, Role.OPTIMIZER_STATE)
STEPS = 4
WATCHED = 3


@contextmanager
def without_dynamo() -> Iterator[None]:
    """As `tenure plan` runs programs: compiled functions run as they were written."""
    before = os.environ.get("TORCHDYNAMO_DISABLE")
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    try:
        yield
    finally:
        del os.environ["TORCHDYNAMO_DISABLE"]
        if before is not None:
            os.environ["TORCHDYNAMO_DISABLE"] = before


def planned(make: Callable[[], Step], folder: Path) -> Plan:
    """The plan of four steps."""
    return predict(recorded(make, folder))


def recorded(make: Callable[[], Step], folder: Path) -> StepStream:
    """The stream of the second and third of four steps."""
    gc.collect()
    torch.manual_seed(0)
    options = MonitorOptions(profile_step=2, experiment_step=0, census_at=(), budget_percent=100.0, plans=True)
    folder.mkdir(exist_ok=True)
    with without_dynamo():
        step = make()
        monitor = Monitor(lambda: folder, options=options)
        try:
            for _ in range(STEPS):
                step(_do_nothing)
        finally:
            monitor.close()
    return read_stream(folder / "stream-000003.npz")


def found_by_census(make: Callable[[], Step]) -> int:
    """Bytes of storages that graphs lead to at the last end of forward of the third step, owners' left out."""
    found: list[int] = []
    gc.collect()
    left_by_others = _storages_of(take_census(step=0, moment="peak"))

    def look() -> None:
        census = take_census(step=1, moment="peak")
        modules = {id(item) for item in gc.get_objects() if issubclass(type(item), torch.nn.Module)}
        storages = census.storages
        rows = [row for row in kept_by_graphs(census, modules) if Role(int(storages.role[row])) not in OWNED]
        found.append(
            sum(
                int(storages.bytes[row])
                for row in rows
                if not _stays_on_host(census, row) and census.nodes.address[storages.node[row]] not in left_by_others
            )
        )

    _train(make, look)
    return found[-1]


def _storages_of(census: Census) -> set[int]:
    return set(census.nodes.address[census.storages.node].tolist())


def _stays_on_host(census: Census, row: int) -> bool:
    """A number that a graph keeps, or what a checkpoint keeps of the host's random state: no part of a plan."""
    dtype, shape = (census.text(int(column[row])) for column in (census.storages.dtype, census.storages.shape))
    size = int(census.storages.bytes[row])
    return (dtype in ("float64", "int64") and shape == "[]") or (
        dtype == "uint8" and size == torch.get_rng_state().nbytes
    )


def seen_by_hooks(make: Callable[[], Step]) -> int:
    """Bytes of storages that operations saved and nodes still hold there, parameters' and buffers' left out."""
    found: list[int] = []
    packed: list[weakref.ref[_Packed]] = []

    def pack(tensor: torch.Tensor) -> _Packed:
        made = _Packed(tensor)
        packed.append(weakref.ref(made))
        return made

    def look() -> None:
        owned = {
            tensor.untyped_storage()._cdata
            for item in gc.get_objects()
            if issubclass(type(item), torch.nn.Module)
            for tensor in (*item.parameters(), *item.buffers())
        }
        alive = [made.tensor for reference in packed if (made := reference()) is not None]
        storages = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in alive}
        found.append(sum(size for address, size in storages.items() if address not in owned))

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda made: made.tensor):
        _train(make, look)
    return found[-1]


class _Packed:
    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor.detach()


def _train(make: Callable[[], Step], look: Callable[[], None]) -> None:
    gc.collect()
    torch.manual_seed(0)
    step = make()
    for number in range(1, WATCHED + 1):
        step(look if number == WATCHED else _do_nothing)
    del step
    gc.collect()


def _do_nothing(*_: Any) -> None:
    pass
