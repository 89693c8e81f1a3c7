from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import pytest

from tenure.capture.guarding.handlers import is_from_signal_handler


def ring(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("the program's own")


class Bell:
    def ring(self, number: int, frame: FrameType | None) -> None:
        ring(number, frame)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        ring(number, frame)


@pytest.fixture(autouse=True)
def handler_restored() -> Iterator[None]:
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("handler", [ring, Bell().ring, Bell(), partial(ring)])
def test_an_exception_of_an_installed_handler_is_known_whatever_kind_of_callable_it_is(
    handler: Callable[..., Any],
) -> None:
    signal.signal(signal.SIGUSR1, handler)

    with pytest.raises(TimeoutError) as raised:
        os.kill(os.getpid(), signal.SIGUSR1)

    assert is_from_signal_handler(raised.value)


def test_the_same_exception_of_an_ordinary_call_is_not_taken_for_a_handlers() -> None:
    with pytest.raises(TimeoutError) as raised:
        ring(signal.SIGUSR1, None)

    assert not is_from_signal_handler(raised.value)
