"""The request that is being answered, for all who must name it."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Iterator

import torch


@dataclass
class Request:
    number: int
    rows: torch.Tensor
    trail: list[torch.Tensor] = field(default_factory=list)


_answering: ContextVar[Request | None] = ContextVar("answering", default=None)


@contextmanager
def answering(number: int, rows: torch.Tensor) -> Iterator[Request]:
    token = _answering.set(Request(number, rows))
    try:
        yield _answering.get()
    finally:
        _answering.reset(token)


def trace(features: torch.Tensor) -> torch.Tensor:
    request = _answering.get()
    if request is not None:
        request.trail.append(features)
    return features
