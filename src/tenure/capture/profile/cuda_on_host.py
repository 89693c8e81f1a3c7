"""Answers what a program asks of CUDA itself where there is none: waiting has nothing to wait for, events no times.

Only what does not decide how the program goes on is answered. Whether there is a device, its name, its capability and
its free memory stay as torch tells them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch

from tenure.capture.profile.moves_as_on_cuda import ON_HOST
from tenure.capture.profile.run_notes import note_of_run

_DO_NOTHING = (
    "set_device", "synchronize", "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
    "ipc_collect", "set_per_process_memory_fraction",
)  # fmt: skip


class _Stream:
    """A stream or an event of the host, where everything has run when it is asked."""

    def __init__(self, *args: Any, **named: Any) -> None:
        note_of_run(ON_HOST)

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self, *_: Any) -> None:
        """As all of these: at once."""

    record = synchronize = wait_stream = wait_event = wait

    def record_event(self, event: Any = None) -> Any:
        """One that has come."""
        return _Stream() if event is None else event

    def query(self) -> bool:
        """Whether it is over."""
        return True

    def elapsed_time(self, _: Any) -> float:
        """In milliseconds."""
        return 0.0


def answer_for_cuda() -> None:
    """For the rest of this process; not where there is a device."""
    if torch.cuda.device_count():
        return
    for name in _DO_NOTHING:
        if hasattr(torch.cuda, name):
            setattr(torch.cuda, name, _doing_nothing(getattr(torch.cuda, name)))
    torch.cuda.current_device = lambda: 0
    torch.cuda.Stream = torch.cuda.Event = _Stream
    torch.cuda.current_stream = torch.cuda.default_stream = _Stream
    torch.cuda.stream = lambda stream: nullcontext(stream)
    torch.cuda.device.__enter__ = lambda self: None
    torch.cuda.device.__exit__ = lambda self, *_: False
    torch.Tensor.record_stream = lambda self, stream: None
    torch.load = _reading(torch.load)


def _doing_nothing(function: Callable[..., Any]) -> Callable[..., None]:
    @functools.wraps(function)
    def do_nothing(*args: Any, **named: Any) -> None:
        note_of_run(ON_HOST)

    return do_nothing


def _reading(read: Callable[..., Any]) -> Callable[..., Any]:
    """Of files whose tensors are asked for on CUDA."""

    @functools.wraps(read)
    def load(f: Any, map_location: Any = None, *args: Any, **named: Any) -> Any:
        is_cuda = isinstance(map_location, (str, torch.device)) and torch.device(map_location).type == "cuda"
        return read(f, "cpu" if is_cuda else map_location, *args, **named)

    return load
