"""Set bad batches aside without stopping the run."""

from __future__ import annotations

import traceback
from collections import Counter
from types import TracebackType


class BadReading(ValueError):
    """A sensor delivered something that cannot be."""


class Quarantine:
    """Context manager: swallows BadReading, lets everything else through."""

    def __init__(self) -> None:
        self.cases: list[tuple[str, TracebackType]] = []

    def __enter__(self) -> Quarantine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if kind is None or not issubclass(kind, BadReading):
            return False
        self.admit(str(error), trace)
        return True

    def admit(self, why: str, trace: TracebackType) -> None:
        self.cases.append((why, trace))

    def where(self, case: int) -> str:
        last = traceback.extract_tb(self.cases[case][1])[-1]
        return f"{last.name}:{last.lineno}"

    def report(self) -> str:
        reasons = Counter(why for why, _ in self.cases)
        return ", ".join(f"{why} x{count}" for why, count in reasons.most_common())
