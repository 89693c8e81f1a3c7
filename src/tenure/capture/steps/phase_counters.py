"""Counters at the ends of a step's phases: into the forward, after it, after backward, and after calls that evaluate.

They are read where the program passes anyway: a root module's call begins or ends, an optimizer begins. Which of the
calls come before backward nobody says, so what lies between a forward's end and the optimizer is backward's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tenure.capture.steps.call_cost import may_spend
from tenure.capture.steps.census_steps import is_geometric
from tenure.model.step_phases import BACKWARD, BETWEEN_STEPS, EVALUATION, FORWARD, NAMES_IN_PHASES, PEAK, PHASE_COUNTERS

READING_SECONDS = 30e-6
"""Of one reading on the host among torch's operations, whose data is in the caches then; 9 in a row of readings."""
DEVICE_READING_SECONDS = 70e-6
"""With an allocator's counters; 21 in a row of readings (H200, torch 2.11)."""


@dataclass
class PhaseCounters:
    """Asked at each end of a phase of a step that was begun, given back at the step's end.

    Of several forwards, and of several optimizers, the most that was read. The allocator's peak, which is that since
    the program's start, is given back only for the phase in which it rose. Each reading costs some ten microseconds;
    steps are left out where all of them together took more than a thousandth of the run.
    """

    read: Callable[[], Mapping[str, int]]
    wanted: bool = False
    """Whether this step's phases are read."""
    seconds: float = 0.0
    """Of all readings so far, reckoned from their number, for what is looked at must not depend on the machine."""
    found: dict[str, int] = field(default_factory=dict)
    """What was read since the last step's end, by the names of `NAMES_IN_PHASES`."""
    _peak: int | None = None
    """The allocator's, when it was read last in this step."""
    _num_forwards: int = 0
    _num_evaluations: int = 0

    def begin_step(self, step: int, *, elapsed: float, watched: bool) -> None:
        """The step after `step` begins; `watched` says whether calls of modules are told in it."""
        self.wanted = watched and may_spend(self.seconds, step, elapsed=elapsed)
        self._num_forwards = self._num_evaluations = 0
        self._peak = None

    def enter_forward(self) -> None:
        """A root forward begins: the first tells what lies between steps."""
        self._num_forwards += 1
        if self._num_forwards == 1:
            self._take(BETWEEN_STEPS)

    def leave_forward(self, *, evaluates: bool) -> None:
        """A root forward is over; those in evaluation mode are read at calls 1, 2, 3, 4, 6, 8, 12, ..."""
        if evaluates:
            self._num_evaluations += 1
            if is_geometric(self._num_evaluations):
                self._take(EVALUATION)
        else:
            self._take(FORWARD)

    def enter_optimizer(self) -> None:
        """An optimizer's step begins."""
        self._take(BACKWARD)

    def end_step(self) -> dict[str, int]:
        """`forward_rss_bytes` and the like: hands over what was found."""
        found, self.found = self.found, {}
        return found

    def _take(self, phase: str) -> None:
        if not self.wanted:
            return
        counters = self.read()
        self.seconds += READING_SECONDS if len(counters) == 1 else DEVICE_READING_SECONDS
        for name in PHASE_COUNTERS:
            if name in counters:
                key = NAMES_IN_PHASES[phase, name]
                self.found[key] = max(self.found.get(key, 0), counters[name])
        peak = counters.get(PEAK)
        if peak is not None:
            if self._peak is not None and peak > self._peak:
                self.found[NAMES_IN_PHASES[phase, PEAK]] = peak
            self._peak = peak
