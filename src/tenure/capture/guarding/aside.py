"""Runs something of ours in a thread of its own: no mode, hook or `no_grad` of the program is in force there."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def run_aside(work: Callable[[], T]) -> T | None:
    """What `work` gives back, or None where it raised because torch is not as expected. Other threads may run."""
    found: list[T] = []

    def attempt() -> None:
        try:
            found.append(work())
        except (AttributeError, RuntimeError, TypeError, ValueError):
            pass

    thread = threading.Thread(target=attempt, name="tenure")
    thread.start()
    thread.join()
    return found[0] if found else None
