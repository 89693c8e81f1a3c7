"""Results as values: a call either gives something or tells why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Found(Generic[T]):
    value: T


@dataclass(frozen=True)
class Missed:
    reason: Exception

    def __str__(self) -> str:
        return str(self.reason)


def attempt(work: Callable[..., T], *args) -> Found[T] | Missed:
    try:
        return Found(work(*args))
    except LookupError as error:
        return Missed(error)
