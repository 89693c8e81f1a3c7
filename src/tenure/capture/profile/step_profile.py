"""Profiles two ordinary steps and, at the peak of the second, takes a census: who keeps what is idle there?

The first step tells at which operation most memory is alive. Where the second comes to the same operation (name, place
and count), a census is taken from inside the program. Both steps are watched as one, so that what the first leaves
behind is seen to be used or not.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from tenure.capture.guarding.handlers import is_from_signal_handler
from tenure.capture.steps.schedule import Schedule

if TYPE_CHECKING:
    from tenure.capture.profile.op_watch import Operation, OpWatch
    from tenure.capture.profile.stream_watch import StreamWatch
    from tenure.model.heap import Census
    from tenure.model.profile import StepProfile
    from tenure.model.stream import StepStream

EARLIEST_STEP = 5
"""Optimizer state, caches and buffers are made in the first steps."""
WATCH_SECONDS = 3.0
"""So much our own code may take within the two steps."""
PEAKS_ALIKE = 0.75
"""Of the first step's peak, without what no operation touched: a second one below it is of another kind of step."""
_NEVER = -1


def choose_step(schedule: Schedule, *, after: int = 0, warm_up: int = EARLIEST_STEP) -> int:
    """The first of the two steps: the earliest after warm-up that does not end with a planned census.

    `after` counts the steps before the phase that warms up. 0, for none, where the user has named the steps to look
    at.
    """
    if schedule.steps is not None:
        return 0
    earliest = after + warm_up
    return next(step for step in range(earliest, earliest + 1000) if not schedule.is_planned(step))


class StepProfiler:
    """Begins at the planned step's forward entry, ends at that of the step after the next. One profile for each plan.

    `take_census` takes one of moment "peak" for a step; `write` stores what was found; `note` tells why nothing was.
    `period` gives how many steps make one turn of the program, where single calls are counted: a turn stands for each
    of the two steps then. With `write_stream` the steps are watched for what owns their memory too, however long that
    takes, and no census is taken at the peak.
    """

    def __init__(
        self,
        *,
        take_census: Callable[[int], Census],
        write: Callable[[StepProfile, Census | None], None],
        note: Callable[[str], None],
        is_busy: Callable[[], bool],
        period: Callable[[], int] = lambda: 1,
        write_stream: Callable[[StepStream], None] | None = None,
    ) -> None:
        self._write_stream = write_stream
        self._step = 0
        self._period = period
        self._turn = self._least_turn = 1
        self._take_census = take_census
        self._write = write
        self._note = note
        self._is_busy = is_busy
        self._watch: OpWatch | None = None
        self._thread = 0
        self._second = _NEVER
        self._target: Operation | None = None
        self._to_come = 0
        self._census: Census | None = None
        self._census_op = _NEVER
        self._done = True
        self._refused: str | None = None
        self.steps_differed = False
        """The operation at the peak of the first did not come again in the second, when two were watched last, or came
        where much less memory is alive: in another call of the same function. Or one of them called no root module."""

    def plan(self, step: int, *, turn: int = 1) -> None:
        """Profile this step and the next, or from it on twice `turn` steps; 0 for none, which holds until this is
        called."""
        self._step, self._least_turn = step, turn
        self.steps_differed = False
        self._done = step <= 0
        self._turn = 1
        self._second = self._census_op = _NEVER
        self._target = self._census = None

    @property
    def is_over(self) -> bool:
        """Whether the planned steps were profiled, or given up, and nothing of the watching is left."""
        return self._step > 0 and self._done and self._watch is None

    @property
    def has_not_begun(self) -> bool:
        """Whether the planned steps are still to come."""
        return self._step > 0 and not self._done and self._watch is None

    def wants_entry(self, steps: int) -> bool:
        """Whether, after so many steps, the next root forward's entry begins, parts or ends the profile.

        Or takes the mode off that could not be taken off before.
        """
        if self._done:
            return self._watch is not None
        return steps in (self._step - 1, *self._ends_of_turns)

    def find_entry(self, steps: int, last: int) -> int:
        """The first number of steps above `steps` and below `last` after which something may be wanted; else `last`."""
        if self._watch is not None:
            return steps + 1
        if self._done:
            return last
        return min((near for near in (self._step - 1, *self._ends_of_turns) if steps < near < last), default=last)

    @property
    def _ends_of_turns(self) -> tuple[int, int]:
        """The steps that end the first and the second part."""
        return self._step - 1 + self._turn, self._step - 1 + 2 * self._turn

    def enter_forward(self, steps: int) -> None:
        """A root forward is being entered, after so many steps. Raises OSError where nothing can be written."""
        if self._watch is not None and not self._done and self._thread == threading.get_ident():
            self._watch.see_again()
        if self._done:
            self._leave()
        elif self._watch is None and steps == self._step - 1:
            self._begin()
        elif self._watch is not None and steps == self._ends_of_turns[0] and self._second == _NEVER:
            self._part()
        elif self._watch is not None and steps >= self._ends_of_turns[1]:
            self._finish(steps)

    def stop(self, why: str, *, steps: int = 0) -> None:
        """Watch no longer, or never begin; where `steps` says that both steps are over, keep what was found."""
        if self._watch is None and not self._done:
            self._refused = why
        elif not self._done and steps >= self._ends_of_turns[1]:
            self._finish(steps)
        elif not self._done:
            self._give_up(why)
        self._leave()

    def abandon(self) -> None:
        """Watch no longer where the first of the two steps was begun, and keep nothing; nothing is noted."""
        if self._watch is not None:
            self._done, self._census = True, None
        self._leave()

    def _begin(self) -> None:
        if self._refused is not None:
            self._give_up(self._refused)
            return
        self._turn = max(self._period(), self._least_turn)
        self._thread = threading.get_ident()
        self._watch = self._make_watch()
        self._watch.begin()
        self._check()

    def _make_watch(self) -> OpWatch:
        from tenure.capture.profile.op_watch import OpWatch

        if self._write_stream is None:
            return OpWatch(seconds=WATCH_SECONDS, is_busy=self._is_busy)
        from tenure.capture.profile.stream_watch import StreamWatch

        return StreamWatch(
            seconds=math.inf, is_busy=self._is_busy, read_graphs=lambda: self._take_census(self._ends_of_turns[1])
        )

    def _part(self) -> None:
        """The first step is over: find its peak, and wait for the same operation in the second."""
        if not self._check():
            return
        watch = self._watch
        assert watch is not None
        self._second = watch.num_operations
        if self._write_stream is not None:
            return
        watch.uses.clear()
        first = _profile_of(watch, step=self._step, second=0, census_op=_NEVER)
        alive = first.bytes_alive(first.main_device())
        if not len(alive):
            self._give_up("no operation was seen in the step")
            return
        peak = int(alive.argmax())
        self._target = watch.operation(peak)
        self._to_come = sum(watch.operation(number) == self._target for number in range(peak + 1))
        watch.after = self._after_operation

    def _after_operation(self, number: int) -> None:
        watch = self._watch
        if watch is None or watch.operation(number) != self._target:
            return
        self._to_come -= 1
        if self._to_come:
            return
        watch.after = None
        try:
            self._census = self._take_census(self._ends_of_turns[1])
            self._census_op = number
        except Exception as error:
            if is_from_signal_handler(error):
                raise
            self._note(f"no census at the step's peak: {type(error).__name__}: {error}")

    def _finish(self, steps: int) -> None:
        if not self._check():
            return
        watch = self._watch
        if watch is None or self._second == _NEVER or steps > self._ends_of_turns[1]:
            self._give_up("no root module was called in the step")
            self.steps_differed = True
            return
        self._done = True
        profile = _profile_of(watch, step=self._ends_of_turns[1], second=self._second, census_op=self._census_op)
        if self._write_stream is not None:
            stream = cast("StreamWatch", watch).finish(profile)
            self._leave()
            self._write_stream(stream)
            return
        self._leave()
        self.steps_differed = self._census is None or _is_much_lower_in_second(profile)
        if self._census is None:
            first, second = self._ends_of_turns
            self._note(f"steps {first} and {second} differ: the operation at the peak did not come again")
        census, self._census = self._census, None
        self._write(profile, census)

    def _check(self) -> bool:
        """Whether the watching goes on undisturbed; where not, it is given up."""
        why = self._watch.stopped if self._watch is not None else None
        if why is None and self._watch is not None and self._thread != threading.get_ident():
            why = "steps run on several threads"
        if why is not None:
            self._give_up(why)
        return why is None

    def _give_up(self, why: str) -> None:
        self._done = True
        self._census = None
        self._note(f"step {self._step} was not profiled: {why}")
        self._leave()

    def _leave(self) -> None:
        """Take the mode off, or try again at the next occasion."""
        if self._watch is None:
            return
        if self._thread == threading.get_ident():
            if self._watch.end():
                self._watch = None
        elif self._watch.stopped is None:
            self._watch.stopped = "ended"


def _is_much_lower_in_second(profile: StepProfile) -> bool:
    """Of what operations made or used: what only was there, as rings are until the collector runs, says nothing."""
    import numpy as np

    from tenure.model.profile import BEFORE

    untouched = profile.storages.last_use == BEFORE
    counted = np.where(untouched, BEFORE, profile.num_operations)
    alive = profile.bytes_alive(profile.main_device(), freed_after=counted)
    first, second = (int(part.max(initial=0)) for part in (alive[: profile.second], alive[profile.second :]))
    return second < PEAKS_ALIKE * first


def _profile_of(watch: OpWatch, *, step: int, second: int, census_op: int) -> StepProfile:
    """The columns so far. NumPy is imported here, where a census has imported it already."""
    import numpy as np

    from tenure.model.profile import Operations, ProfiledStorages, Sites, StepProfile, Uses

    strings: dict[str, int] = {}

    def numbers(values: Any) -> Any:
        return np.array(list(values), dtype=np.int64)

    def texts(values: Any) -> Any:
        return numbers(strings.setdefault(value, len(strings)) for value in values)

    places = list(watch.site_numbers)
    operations = Operations(texts(watch.names), numbers(watch.sites), numbers(map(int, watch.phases)))
    sites = Sites(texts(s[0] for s in places), numbers(s[1] for s in places), texts(s[2] for s in places))
    storages = ProfiledStorages(
        address=numbers(watch.addresses),
        bytes=numbers(watch.sizes),
        device=texts(watch.devices),
        dtype=texts(watch.dtypes),
        shape=texts(watch.shapes),
        birth=numbers(watch.births),
        last_use=numbers(watch.last_uses),
        death=numbers(watch.deaths),
    )
    return StepProfile(
        step,
        second,
        census_op,
        round(watch.own_seconds, 6),
        tuple(strings),
        operations,
        sites,
        storages,
        Uses(numbers(operation for operation, _ in watch.uses), numbers(storage for _, storage in watch.uses)),
    )
