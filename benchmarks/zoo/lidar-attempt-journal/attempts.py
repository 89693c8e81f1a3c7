import time
from dataclasses import dataclass, field
from functools import wraps


class Overfull(Exception):
    """More points than there is room for."""


@dataclass
class Attempt:
    number: int
    room: int
    error: Exception | None = None
    seconds: float = 0.0


@dataclass
class Journal:
    attempts: list = field(default_factory=list)

    def failures(self):
        return sum(attempt.error is not None for attempt in self.attempts)


def with_more_room(journal, start=48, most=4):
    """Calls again with twice the room until the points fit."""

    def decorate(function):
        @wraps(function)
        def call(*args):
            for number in range(most):
                attempt = Attempt(number, start << number)
                journal.attempts.append(attempt)
                began = time.perf_counter()
                try:
                    return function(*args, room=attempt.room)
                except Overfull as error:
                    attempt.error = error
                finally:
                    attempt.seconds = time.perf_counter() - began
            raise attempt.error

        return call

    return decorate
