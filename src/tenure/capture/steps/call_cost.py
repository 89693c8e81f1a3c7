"""What watching module calls costs, and in which steps that is little enough to do it.

Nobody knows beforehand in which steps a module will be used: an evaluation comes every eighteen steps, a teacher every
seventh. So calls are watched in every step where that costs next to nothing, else in a share of the steps spread so
that no period of the program's is met always at the same place, or never.
"""

from __future__ import annotations

from dataclasses import dataclass

CALL_SECONDS = 3e-6
"""Of one call of any module with the hooks there: two Python calls, and torch's longer way to them."""
ROOT_CALL_SECONDS = 75e-6
"""Of one call of a root module: its frames are looked at, its inputs measured, and the program's next operations find
less of theirs in the caches."""
INSTALL_SECONDS = 10e-6
FREE_SECONDS = 0.075
"""So much in all is free: programs of seconds are watched in each of their steps."""
SHARE = 0.001
"""Of the run's time, beyond that."""
GOLDEN = 0.6180339887498949
"""The fractional parts of its multiples are spread evenly, whichever steps a program favours (Weyl's sequence)."""


@dataclass
class CallCost:
    """Counts what the hooks did; seconds are reckoned from the counts, for a clock would cost more than the call."""

    num_installed: int = 0
    num_calls: int = 0
    num_root_calls: int = 0

    @property
    def seconds(self) -> float:
        """What all of it took, by the constants of this file."""
        calls = CALL_SECONDS * self.num_calls + ROOT_CALL_SECONDS * self.num_root_calls
        return calls + INSTALL_SECONDS * self.num_installed

    def allows(self, step: int, *, elapsed: float) -> bool:
        """Whether to watch the calls after `step`, `elapsed` seconds into the run."""
        return may_spend(self.seconds, step, elapsed=elapsed)

    def next_allowed(self, step: int, last: int, *, elapsed: float, per_step: float) -> int:
        """The first step after `step` that `allows`, if it comes before `last`, else `last`; from `elapsed` on each
        step takes `per_step` seconds."""
        spent, most = self.seconds, SHARE * (elapsed + (last - step) * per_step)
        if spent > FREE_SECONDS + most:
            return last
        share = 1.0 if spent <= FREE_SECONDS else most / spent
        for near in range(step + 1, last):
            if near * GOLDEN % 1 < share and may_spend(spent, near, elapsed=elapsed + (near - step) * per_step):
                return near
        return last


def may_spend(spent: float, step: int, *, elapsed: float) -> bool:
    """Whether what took `spent` seconds so far may be done in the step after `step`: in each until then, later in a
    share of them."""
    allowed = FREE_SECONDS + SHARE * elapsed
    return spent <= allowed and (spent <= FREE_SECONDS or step * GOLDEN % 1 < (allowed - FREE_SECONDS) / spent)
