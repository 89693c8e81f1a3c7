"""What the recording of one process tells, read once: where suspects are looked for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tenure.analysis.growth.trend import FEWEST_POINTS, WARM_UP_STEP
from tenure.analysis.heap.groups import Searched, search
from tenure.analysis.heap.host_part import tensor_part
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.own_types import with_own_types
from tenure.errors import RecordingError
from tenure.model.heap import Census
from tenure.model.profile import StepProfile
from tenure.model.recording import (
    COMPILES,
    EVALUATION,
    EVALUATION_BACKWARD,
    EVALUATION_RETURNED,
    EVALUATION_UNUSUAL,
    PEAK,
    UNUSUAL_BACKWARD,
    Recording,
    Step,
    is_within_step,
)
from tenure.model.source import SourceFile
from tenure.parts import Parts
from tenure.store.profile_file import read_profile
from tenure.store.recording_file import read_census, read_sources

LOOKED_AT_SHARE = 0.66
LEAST_SEEN_SHARE = 0.25
"""Of a run's steps: where no census came later than that, none has seen what its counters do."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A recording with its censuses, sources and profiles; what cannot be read is left out."""

    recording: Recording
    censuses: tuple[Census, ...]
    sources: dict[str, SourceFile]
    profiles: tuple[StepProfile, ...]
    parts: Parts = field(default_factory=Parts)
    """What is done with it, each part by itself."""

    @cached_property
    def between_steps(self) -> tuple[Census, ...]:
        """The censuses but those at a profiled step's peak, where memory ran out, and within evaluations."""
        return tuple(census for census in self.censuses if _is_between_steps(census))

    @cached_property
    def evaluations(self) -> tuple[tuple[Census, ...], ...]:
        """The censuses within each evaluation that was looked into, in the order of the model's calls."""
        inside = [
            census
            for census in self.of_tensors
            if census.moment.startswith(EVALUATION)
            and not census.moment.startswith((EVALUATION_RETURNED, EVALUATION_UNUSUAL))
        ]
        steps = sorted({census.step for census in inside})
        return tuple(tuple(census for census in inside if census.step == step) for step in steps)

    @cached_property
    def returned(self) -> tuple[Census, ...]:
        """The censuses as a call of an evaluation has given back a graph, which no backward pass of its step went
        through; of a step that did not end that is not known."""
        ended = {row.step for row in self.recording.steps if not row.counters.get(EVALUATION_BACKWARD)}
        return tuple(
            census
            for census in self.of_tensors
            if census.moment.startswith(EVALUATION_RETURNED) and census.step + 1 in ended
        )

    @cached_property
    def unusual(self) -> tuple[Census, ...]:
        """The same of calls in training mode, beyond those of any step before."""
        first = {row.step: row.counters.get(UNUSUAL_BACKWARD, math.inf) for row in self.recording.steps}
        return tuple(
            census
            for census in self.of_tensors
            if census.moment.startswith(EVALUATION_UNUSUAL)
            and int(census.moment.removeprefix(EVALUATION_UNUSUAL)) < first.get(census.step + 1, 0)
        )

    @cached_property
    def of_tensors(self) -> tuple[Census, ...]:
        """All censuses without what leads to memory of the host alone."""
        return tuple(tensor_part(census) for census in self.censuses)

    @cached_property
    def of_tensors_between_steps(self) -> tuple[Census, ...]:
        """The same of those between steps."""
        return tuple(census for census in self.of_tensors if _is_between_steps(census))

    @cached_property
    def searched(self) -> tuple[Searched, ...]:
        """The same with their shortest paths."""
        return tuple(search(census) for census in self.of_tensors_between_steps)

    @cached_property
    def peaks(self) -> tuple[Replay, ...]:
        """Each profile with the census at its peak, where one was taken; nothing is replayed before it is asked for."""
        at = {census.step: census for census in self.of_tensors if census.moment == PEAK}
        return tuple(Replay(profile, at[profile.step]) for profile in self.profiles if profile.step in at)

    @property
    def looked_until(self) -> int | None:
        """The step of the last census where less than two thirds of the steps came before it, else None.

        The schedule's steps are never further apart, but censuses may have used up what they may cost.
        """
        last = max((census.step for census in self.between_steps), default=0)
        steps = max((step.step for step in self.recording.steps), default=0)
        return last if last and last < LOOKED_AT_SHARE * steps else None

    @property
    def steps_seen(self) -> tuple[Step, ...]:
        """The rows of steps that censuses tell of: what a counter does later nobody has looked into."""
        until = self.looked_until
        return tuple(s for s in self.recording.steps if until is None or LOOKED_AT_SHARE * s.step <= until)

    @property
    def excludes_tensors(self) -> bool:
        """Whether there are censuses enough to say that no tensor accounts for what a counter grows by: as many of one
        moment as growth of a group needs, the last of them in what counts of the run."""
        late = [census for census in self.between_steps if census.step > WARM_UP_STEP]
        most = max(Counter(census.moment for census in late).values(), default=0)
        last = max((step.step for step in self.recording.steps), default=0)
        return most >= FEWEST_POINTS and max(census.step for census in late) >= LEAST_SEEN_SHARE * last

    @property
    def compiles(self) -> bool:
        """Whether the program compiled code, from within which modules may have been called unseen."""
        return any(note.text == COMPILES for note in self.recording.notes)

    @property
    def processes_here(self) -> int:
        """Ranks of one machine, as launchers say it."""
        said = str(self.recording.process.get("environment", {}).get("LOCAL_WORLD_SIZE", ""))
        return int(said) if said.isdigit() else 1


def read_evidence(recording: Recording) -> Evidence:
    """All of it; costs what reading the files costs."""
    sources = {source.path: source for source in read_sources(recording)}
    return Evidence(
        recording,
        censuses=tuple(with_own_types(_read_censuses(recording), sources.values())),
        sources=sources,
        profiles=tuple(_read_profiles(recording)),
    )


def _is_between_steps(census: Census) -> bool:
    return not is_within_step(census.moment)


def _read_censuses(recording: Recording) -> Iterable[Census]:
    for entry in recording.censuses:
        with suppress(RecordingError):
            yield read_census(recording, entry)


def _read_profiles(recording: Recording) -> Iterable[StepProfile]:
    for entry in recording.profiles:
        with suppress(RecordingError):
            yield read_profile(Path(recording.path) / entry.file)
