"""A function of torch's that is ours while we record: put in its place, and put back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Replaced:
    """An attribute of a class or module, replaced by what `make(original)` gives, from now on.

    Where somebody else has replaced it since, it stays theirs.
    """

    def __init__(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        self._owner, self._name = owner, name
        self._original = vars(owner)[name]
        self._replacement = make(self._original)
        self._closed = False
        self.resume()

    def suspend(self) -> None:
        """Leave the owner as it was found, until `resume`."""
        if vars(self._owner).get(self._name) is self._replacement:
            setattr(self._owner, self._name, self._original)

    def resume(self) -> None:
        """Watch again."""
        if not self._closed and vars(self._owner).get(self._name) is self._original:
            setattr(self._owner, self._name, self._replacement)

    def close(self) -> None:
        """Leave the owner as it was found, for good."""
        self._closed = True
        self.suspend()
