"""Roles, phases and numbers of the allocator's blocks as they stand in a sentence."""

from __future__ import annotations

from tenure.allocator.roles import BlockRole
from tenure.allocator.torch_frames import Phase

PHASES = {
    Phase.UNKNOWN: "an unknown phase",
    Phase.OUTSIDE: "outside of forward, backward and optimizer",
    Phase.FORWARD: "forward",
    Phase.BACKWARD: "backward",
    Phase.OPTIMIZER: "the optimizer's step",
    Phase.ZERO_GRAD: "zero_grad",
}


def phase_text(phase: Phase) -> str:
    """`in backward`, `outside of forward, backward and optimizer`; "" where it is unknown."""
    if phase is Phase.UNKNOWN:
        return ""
    return PHASES[phase] if phase is Phase.OUTSIDE else f"in {PHASES[phase]}"


def born_text(phase: Phase | None, *, comma: bool = False) -> str:
    """`born in forward`, `from before the trace`; "" where the phase is unknown."""
    text = "from before the trace" if phase is None else f"born {phase_text(phase)}" if phase else ""
    return f", {text}" if comma and text else text


def phase_name(phase: Phase) -> str | None:
    """For `--json`; None where it is unknown."""
    return None if phase is Phase.UNKNOWN else phase.name.lower()


def role_text(role: BlockRole) -> str:
    """`optimizer state`."""
    return role.name.lower().replace("_", " ")


def blocks_text(number: int) -> str:
    """`1 block`, `1,200 blocks`."""
    return "1 block" if number == 1 else f"{number:,} blocks"
