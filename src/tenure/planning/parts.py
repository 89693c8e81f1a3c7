"""To which part of a step each operation of a stream belongs."""

from __future__ import annotations

from collections.abc import Iterable

from tenure.model.plan import Part
from tenure.model.profile import Phase, StepProfile

_OF_PHASE: dict[Phase | None, Part] = {
    Phase.FORWARD: Part.FORWARD,
    Phase.BACKWARD: Part.BACKWARD,
    Phase.OPTIMIZER: Part.OPTIMIZER,
}
_MARKS = "profiler."
"""Operations that mark stretches for torch's profiler and make nothing."""


def parts_of(profile: StepProfile) -> list[Part]:
    """One for each operation.

    What lies outside of modules, backward and optimizers belongs to forward where a backward pass comes before the next
    module is called (losses, and models without modules), and between two calls of modules of a program that trains.
    Else it lies between steps. A mark belongs to the forward or backward that it stands in or behind, whose memory is
    there, else between steps.
    """
    phases = _without_marks(profile)
    trains = Phase.BACKWARD in phases
    following = _nearest(reversed(phases), (Phase.FORWARD, Phase.BACKWARD))[::-1]
    before = _nearest(phases, (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER))
    found = []
    for phase, last, coming in zip(phases, before, following, strict=True):
        if phase in _OF_PHASE:
            found.append(_OF_PHASE[phase])
        elif phase is None and last is not Phase.FORWARD:
            found.append(Part.BACKWARD if last is Phase.BACKWARD else Part.BETWEEN)
        else:
            is_inside = trains and last is Phase.FORWARD and coming is Phase.FORWARD
            found.append(Part.FORWARD if is_inside or coming is Phase.BACKWARD else Part.BETWEEN)
    return found


def _without_marks(profile: StepProfile) -> list[Phase | None]:
    phases, names = profile.operations.phase.tolist(), profile.operations.name.tolist()
    return [
        None if profile.text(name).startswith(_MARKS) else Phase(phase)
        for phase, name in zip(phases, names, strict=True)
    ]


def _nearest(phases: Iterable[Phase | None], wanted: tuple[Phase, ...]) -> list[Phase | None]:
    """For each the last of the wanted ones so far."""
    found: list[Phase | None] = []
    last: Phase | None = None
    for phase in phases:
        last = phase if phase in wanted else last
        found.append(last)
    return found
