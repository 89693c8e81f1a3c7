"""Parts of a diagnosis: where one of them fails, which is ours to mend, the others are told all the same."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class Parts:
    """Runs them; `failures` has a line for each that failed. Where `strict` is set the first failure is raised."""

    strict = False

    def __init__(self) -> None:
        self.failures: list[str] = []

    def take(self, otherwise: T, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`work(...)`, or `otherwise` where that fails."""
        try:
            return work(*args, **kwargs)
        except Exception as error:
            if self.strict:
                raise
            self.failures.append(_in_one_line(error))
            return otherwise

    def found(self, find: Callable[P, Iterable[T]], *args: P.args, **kwargs: P.kwargs) -> tuple[T, ...]:
        """All that `find(...)` finds; nothing where that fails."""
        return self.take((), lambda: tuple(find(*args, **kwargs)))

    def changed(self, value: T, change: Callable[Concatenate[T, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`change(value, ...)`, or the value as it is where that fails."""
        return self.take(value, change, value, *args, **kwargs)

    def each(
        self, change: Callable[Concatenate[T, P], T], values: Iterable[T], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[T, ...]:
        """Each of the values changed, or as it is where that fails."""
        return tuple(self.changed(value, change, *args, **kwargs) for value in values)


class _StrictParts(Parts):
    strict = True


STRICT = _StrictParts()


def _in_one_line(error: Exception) -> str:
    *_, frame = traceback.extract_tb(error.__traceback__)
    text = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {text} ({Path(frame.filename).name}:{frame.lineno} in {frame.name})"
