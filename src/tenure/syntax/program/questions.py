"""Questions whose answers lead to further questions, and round in rings: each is asked a few times and then known."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

Answer = TypeVar("Answer")
_MOST_ROUNDS = 3


class Questions(Generic[Answer]):
    """`nothing` is the answer to a question that leads back to itself, and to one that is asked `deepest` deep.

    Where a ring was met, all that the outermost question asked is asked once more with the answers so far, until they
    stay or three rounds are over. Costs so many evaluations of each question, ever.
    """

    def __init__(self, nothing: Answer, deepest: int) -> None:
        self._nothing = nothing
        self._deepest = deepest
        self._known: dict[Hashable, Answer] = {}
        self._now: dict[Hashable, Answer] = {}
        self._before: dict[Hashable, Answer] = {}
        self._asked: set[Hashable] = set()
        self._met_ring = False

    @property
    def is_asked(self) -> bool:
        """Whether a question is being answered."""
        return bool(self._asked)

    def answer(self, key: Hashable, find: Callable[..., Answer], *given: Any) -> Answer:
        """What `find` gives of `given`, for a question that `key` names."""
        for answers in (self._known, self._now):
            if key in answers:
                return answers[key]
        if key in self._asked:
            self._met_ring = True
            return self._before.get(key, self._nothing)
        if len(self._asked) >= self._deepest:
            return self._nothing
        found = self._find(key, find, given)
        return found if self._asked else self._repeat(key, find, given, found)

    def _find(self, key: Hashable, find: Callable[..., Answer], given: tuple[Any, ...]) -> Answer:
        self._asked.add(key)
        try:
            found = self._now[key] = find(*given)
        finally:
            self._asked.discard(key)
        return found

    def _repeat(self, key: Hashable, find: Callable[..., Answer], given: tuple[Any, ...], found: Answer) -> Answer:
        try:
            for _ in range(_MOST_ROUNDS):
                if not self._met_ring or self._now == self._before:
                    break
                self._met_ring = False
                self._before, self._now = self._now, {}
                found = self._find(key, find, given)
            self._known.update(self._now)
        finally:
            self._now, self._before, self._met_ring = {}, {}, False
        return found
