"""What happened in a trace: each block's life and role, in which phase of which step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tenure.allocator.lifetimes import Lives, lives_of
from tenure.allocator.phases import Phases, Stretch, annotated, phases_of
from tenure.allocator.replay import Replay
from tenure.allocator.roles import roles_of
from tenure.allocator.steps import Steps, steps_of
from tenure.allocator.torch_frames import Phase
from tenure.model.allocator import Action, Snapshot
from tenure.model.heap import Ints


@dataclass(frozen=True)
class Story:
    """One device's trace. `role` has a `BlockRole` for each row of `lives`."""

    lives: Lives
    phases: Phases
    steps: Steps
    role: Ints
    annotated: tuple[Stretch, ...]

    def phase_at(self, event: int) -> Phase:
        """The phase of an event; UNKNOWN before the first."""
        return Phase(int(self.phases.phase[event])) if event >= 0 else Phase.UNKNOWN

    def step_at(self, event: int) -> int:
        """The step that an event lies in."""
        return int(self.steps.of(np.array([event]))[0])

    def annotation_at(self, event: int) -> str:
        """The innermost stretch with a name that an event lies in; "" where none does."""
        inside = [each for each in self.annotated if each.first <= event < each.last]
        return min(inside, key=lambda each: each.last - each.first).name if inside else ""


def story_of(snapshot: Snapshot, replay: Replay) -> Story:
    """Cost: two to five microseconds per event."""
    lives = lives_of(snapshot, replay.device, replay.earlier)
    phases = phases_of(snapshot, replay.device)
    steps = steps_of(snapshot, replay.device, phases, lives)
    events = snapshot.traces.get(replay.device)
    is_error = np.zeros(0, dtype=np.bool_) if events is None else events.action == Action.OOM
    errors = np.flatnonzero(is_error)
    role = roles_of(snapshot, lives, phases, steps, errors)
    return Story(lives, phases, steps, role, annotated(snapshot, replay.device))
