import functools
import traceback
from dataclasses import dataclass


@dataclass
class Attempt:
    step: int
    error: Exception
    where: str


class Retry:
    """Tries a step again with smaller pieces when it fails; keeps what went wrong for the final report."""

    def __init__(self, attempts=3, expected=(FloatingPointError,)):
        self.attempts, self.expected = attempts, expected
        self.journal = []
        self.last_error = None

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(owner, *args):
            for number in range(self.attempts):
                try:
                    return function(owner, *args, pieces=2**number)
                except self.expected as error:
                    where = traceback.extract_tb(error.__traceback__)[-1].name
                    self.last_error = error.with_traceback(None)
                    self.journal.append(Attempt(owner.steps, self.last_error, where))
            raise self.last_error

        return wrapped


retry = Retry()
