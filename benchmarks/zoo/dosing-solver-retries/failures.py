from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    level: int
    error: Exception
    before: "Failure | None"


class Trail:
    """The last failure, and by way of it those before."""

    def __init__(self):
        self.last = None

    def add(self, level, error):
        self.last = Failure(level, error, self.last)

    def __iter__(self):
        failure = self.last
        while failure is not None:
            yield failure
            failure = failure.before

    def summary(self):
        levels = [failure.level for failure in self]
        return {level: levels.count(level) for level in sorted(set(levels))}
