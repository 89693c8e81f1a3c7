"""To which part of a step each operation of a stream belongs."""

from __future__ import annotations

from tenure.model.plan import Part
from tenure.model.profile import Phase, StepProfile

_OF_PHASE = {Phase.FORWARD: Part.FORWARD, Phase.BACKWARD: Part.BACKWARD, Phase.OPTIMIZER: Part.OPTIMIZER}
_MARKS = "profiler."
"""Operations that mark stretches for torch's profiler and make nothing."""


def parts_of(profile: StepProfile) -> list[Part]:
    """One for each operation.

    What lies outside of modules, backward and optimizers belongs to forward where a backward pass comes before the next
    module is called: losses, and models without modules. Else it lies between steps.
    """
    phases = [Phase(phase) for phase in profile.operations.phase.tolist()]
    names = [profile.text(name) for name in profile.operations.name.tolist()]
    found: list[Part] = []
    following: Phase | None = None
    for phase, name in zip(reversed(phases), reversed(names), strict=True):
        if name.startswith(_MARKS):
            found.append(Part.BETWEEN)
            continue
        if phase is Phase.OTHER:
            found.append(Part.FORWARD if following is Phase.BACKWARD else Part.BETWEEN)
            continue
        if phase in (Phase.FORWARD, Phase.BACKWARD):
            following = phase
        found.append(_OF_PHASE[phase])
    return found[::-1]
