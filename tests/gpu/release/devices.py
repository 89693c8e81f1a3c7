"""Memory of the current device: taken by the MiB, and as torch counts it; and what must not wait for the device."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from tenure.release.outcome import ByDevice, DeviceBytes

MIB = 1 << 20
DEVICE = "cuda:0"
_LONG = 2_000_000_000
"""Cycles: a second or so."""


def taken(mebibytes: int) -> torch.Tensor:
    """Memory of the device. From 10 MiB on an even number of them has a segment of its own, which it fills."""
    return torch.empty(mebibytes * MIB, dtype=torch.uint8, device="cuda")


def floats(mebibytes: int, **options: Any) -> torch.Tensor:
    return torch.zeros(mebibytes * MIB // 4, device="cuda", **options)


def counted() -> tuple[int, int]:
    """What torch's allocator has given out, and what it has reserved."""
    return torch.cuda.memory_allocated(), torch.cuda.memory_reserved()


def row_of(outcome: ByDevice) -> DeviceBytes:
    """What an outcome says of the device."""
    (row,) = (each for each in outcome.devices if each.device == DEVICE)
    return row


@contextmanager
def no_synchronisation() -> Iterator[None]:
    """An operation that torch knows to wait for the device raises."""
    before = torch.cuda.get_sync_debug_mode()
    _set_mode("error")
    try:
        yield
    finally:
        _set_mode(before)


def does_not_wait(act: Callable[[], Any]) -> bool:
    """Whether a call is over before the device is that has work for a second. It is made once before, so that kernels
    are loaded; it must not start more than some hundred of them, for which there would be no room in the queue."""
    act()
    torch.cuda.synchronize()
    done = torch.cuda.Event()
    with no_synchronisation():
        torch.cuda._sleep(_LONG)
        done.record()
        act()
        is_over = done.query()
    torch.cuda.synchronize()
    return not is_over


def _set_mode(mode: str | int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says that it does not know all
        torch.cuda.set_sync_debug_mode(mode)
