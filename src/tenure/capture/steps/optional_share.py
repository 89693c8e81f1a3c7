"""How much of the run's time may go into what a step can do without: calls of modules watched, readings within steps.

The bounds are 2 % of a step of 5 ms and 0.3 % of one of 50 ms, all hooks together: 94 microseconds and a thousandth.
What every step needs comes first, and takes twice as long on one machine as on another; so it is measured, and the
rest goes by what is left.
"""

from __future__ import annotations

from tenure.capture.steps.call_cost import SHARE

STEP_SECONDS = 38e-6
STEP_SHARE = 0.00075
"""So much all hooks may take by their own clock: so many seconds of each step, and this share of it. Less than half of
the bounds, for nearly as much again goes where that clock does not run: torch's ways to the hooks, and the program's
next operations, which find less of theirs in the caches."""
OPTIONAL_SHARE = 2 * SHARE
"""What watching and reading are given where they cost what they are reckoned at, and the rest of the hooks is cheap."""
LEAST = 0.05
"""Of that, whatever the machine: a long run sees a little of everything."""


FIRST_GUESS = 18e-6
"""Of what every step needs: a slow machine shows after some dozens of windows, and not by the first steps."""


class Typical:
    """Near the median of the values told, by a twentieth towards each: a few out of all proportion do not move it."""

    def __init__(self, first: float) -> None:
        self.value = first

    def take(self, value: float) -> None:
        """One more."""
        self.value *= 1.05 if value > self.value else 1 / 1.05


class OptionalShare:
    """Told at the end of each window of steps, all of them alike, what the hooks took; `counted_seconds` is the run's
    time as far as it counts for what is optional: all of it on a fast machine, a part of it on a slow one.

    Costs of single steps are medians of clock times, which a machine with other work hardly changes.
    """

    def __init__(self) -> None:
        self.counted_seconds = 0.0
        self._plain = Typical(FIRST_GUESS)
        self._price = Typical(1.0)
        self._step_seconds = 0.0

    def take(self, *, steps: int, seconds: float, own_seconds: float, reckoned_seconds: float) -> None:
        """So many steps took `seconds`, the hooks of them `own_seconds`, censuses left out; `reckoned_seconds` of that
        is what the optional was reckoned at."""
        self._step_seconds = seconds / steps
        self.counted_seconds += steps * self.counted_per_step
        if reckoned_seconds <= 0:
            self._plain.take(own_seconds / steps)
        else:
            self._price.take((own_seconds - steps * self._plain.value) / reckoned_seconds)

    @property
    def factor(self) -> float:
        """Of what is optional, the part that there is room for: 1 for all, never below `LEAST`."""
        wanted = OPTIONAL_SHARE * self._step_seconds * max(1.0, self._price.value)
        return min(1.0, max(LEAST, self._left / wanted)) if wanted > 0 else 1.0

    @property
    def counted_per_step(self) -> float:
        """Seconds that a step like the last ones adds to `counted_seconds`."""
        return self._step_seconds * self.factor

    @property
    def is_overdrawn(self) -> bool:
        """Whether what every step needs takes more by itself than all hooks may."""
        return self._left < 0

    @property
    def _left(self) -> float:
        return STEP_SECONDS + STEP_SHARE * self._step_seconds - self._plain.value
