"""Keep going when a batch of position reports is unusable."""

import functools
import logging
from collections import Counter

log = logging.getLogger("recovery")


class ReportGap(Exception):
    """Too few positions were received."""


class Recovery:
    def __init__(self, tries=3):
        self.tries = tries
        self.errors = Counter()
        self.last_error = None

    def guard(self, function):
        """Try again with a fresh batch; the last resort is None."""

        @functools.wraps(function)
        def guarded(source, *args):
            for attempt in range(self.tries):
                try:
                    return function(next(source), *args)
                except ReportGap as error:
                    self.errors[type(error).__name__] += 1
                    self.last_error = f"{error} (attempt {attempt + 1})"
                    log.debug("skipped", exc_info=error)
            return None

        return guarded


class RunningAverages:
    """Averages since the last read-out; tensors may be handed in."""

    def __init__(self):
        self.totals = {}
        self.count = 0

    def add(self, **values):
        self.count += 1
        for name, value in values.items():
            value = value.detach() if hasattr(value, "detach") else value
            self.totals[name] = self.totals.get(name, 0.0) + value

    def read(self):
        means = {name: float(total) / self.count for name, total in self.totals.items()}
        self.totals.clear()
        self.count = 0
        return means
