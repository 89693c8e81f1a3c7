from dataclasses import dataclass, field
from functools import wraps


@dataclass
class Attempt:
    number: int
    size: int
    reason: Exception


@dataclass
class RetryPolicy:
    """Halves what did not fit, and remembers how often that was so."""

    error: type
    attempts: list = field(default_factory=list)
    calls: int = 0

    def record(self, size, reason):
        self.attempts.append(Attempt(self.calls, size, reason))

    def halving(self, function):
        @wraps(function)
        def wrapper(owner, items, *args, **kwargs):
            self.calls += 1
            try:
                return [function(owner, items, *args, **kwargs)]
            except self.error as error:
                self.record(len(items), error)
            middle = len(items) // 2
            return [
                result
                for half in (items[:middle], items[middle:])
                for result in wrapper(owner, half, *args, **kwargs)
            ]

        return wrapper

    def summary(self):
        kinds = {type(attempt.reason).__name__ for attempt in self.attempts}
        return f"{len(self.attempts)} of {self.calls} attempts split because of {', '.join(sorted(kinds)) or 'nothing'}"
