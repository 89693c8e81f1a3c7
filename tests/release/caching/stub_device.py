"""A CUDA device that is none, for what can be told without one: streams, events and pinned memory, all on the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch


@dataclass
class Event:
    stream: Stream

    def query(self) -> bool:
        return not self.stream.is_busy


@dataclass
class Stream:
    is_busy: bool = False

    def query(self) -> bool:
        return not self.is_busy

    def record_event(self) -> Event:
        return Event(self)


@dataclass
class StubDevice:
    """What is asked of `torch.cuda`, and answers to it. Starts when it is first used."""

    monkeypatch: pytest.MonkeyPatch
    is_started: bool = False
    is_capturing: bool = False
    stream: Stream = field(default_factory=Stream)
    asked: list[str] = field(default_factory=list)
    pinned: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        make, of_cuda = torch.empty, self.monkeypatch.setattr

        def empty(*args: Any, pin_memory: bool = False, **named: Any) -> torch.Tensor:
            made: torch.Tensor = make(*args, **named)
            if pin_memory:
                self.pinned.add(made.data_ptr())
            return made

        of_cuda(torch, "empty", empty)
        of_cuda(torch.Tensor, "is_pinned", lambda tensor: tensor.data_ptr() in self.pinned)
        answers: dict[str, Callable[..., Any]] = {
            "is_initialized": lambda: self.is_started,
            "is_available": lambda: True,
            "init": self._start,
            "device_count": lambda: 1,
            "current_device": lambda: 0,
            "current_stream": lambda device=None: self.stream,
            "is_current_stream_capturing": lambda: self.is_capturing,
        }
        for name, answer in answers.items():
            of_cuda(torch.cuda, name, self._noting(name, answer))

    def _noting(self, name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            self.asked.append(name)
            return answer(*args)

        return noted

    def _start(self) -> None:
        self.is_started = True

    @contextmanager
    def captured(self) -> Iterator[None]:
        self.is_capturing = True
        yield
        self.is_capturing = False
