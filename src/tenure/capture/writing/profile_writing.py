"""What a step's profile asks of the recording: a census at the peak, a place to write to, and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tenure.capture.profile.step_profile import StepProfiler
from tenure.capture.steps.known_optimizers import KnownOptimizers
from tenure.capture.writing.census_writing import CensusWriter
from tenure.capture.writing.journal import Journal

if TYPE_CHECKING:
    from tenure.model.heap import Census
    from tenure.model.profile import StepProfile
    from tenure.model.stream import StepStream


class ProfileOfRecording:
    """A step profiler whose results go into the recording.

    `on_pause` is told of seconds of ours that are no part of the step, `on_cost` of those that are.

    `ignore` are the recorder's own objects, which are no one's owners; `current_step` gives the steps counted so far,
    `period` how many make one turn of the program. `as_stream` asks for the memory stream of the steps instead.
    """

    def __init__(
        self,
        journal: Journal,
        censuses: CensusWriter,
        optimizers: KnownOptimizers,
        *,
        ignore: Sequence[object],
        current_step: Callable[[], int],
        on_pause: Callable[[float], None],
        on_cost: Callable[[float], None],
        is_busy: Callable[[], bool],
        period: Callable[[], int],
        as_stream: bool = False,
    ) -> None:
        self.profiler = StepProfiler(
            take_census=self._take_census,
            write=self._write,
            note=self._note,
            is_busy=is_busy,
            period=period,
            write_stream=self._write_stream if as_stream else None,
        )
        self._journal = journal
        self._censuses = censuses
        self._optimizers = optimizers
        self._ignore = ignore
        self._current_step = current_step
        self._on_pause = on_pause
        self._on_cost = on_cost

    def _take_census(self, step: int) -> Census:
        census, spent = self._censuses.take_peak(step, self._optimizers.live(), ignore=self._ignore)
        self._on_pause(spent)
        return census

    def _write(self, profile: StepProfile, census: Census | None) -> None:
        self._on_cost(profile.seconds)
        if census is not None:
            self._journal.write_census(census)
        self._journal.write_profile(profile)

    def _write_stream(self, stream: StepStream) -> None:
        self._on_cost(stream.profile.seconds)
        self._journal.write_stream(stream)

    def _note(self, text: str) -> None:
        self._journal.write_note("info", text, step=self._current_step())
