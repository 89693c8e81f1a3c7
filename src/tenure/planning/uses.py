"""What each storage of a stream is for."""

from __future__ import annotations

from tenure.model.plan import Part, Use
from tenure.model.profile import ALIVE, BEFORE
from tenure.model.stream import Owner, StepStream

_OF_OWNER = {
    Owner.PARAMETER: Use.PARAMETER,
    Owner.BUFFER: Use.BUFFER,
    Owner.OPTIMIZER_STATE: Use.OPTIMIZER_STATE,
    Owner.GRADIENT: Use.GRADIENT,
}


def uses_of(stream: StepStream, parts: list[Part]) -> list[Use]:
    """One for each storage, by its owner, by the graphs that keep it, and by where it is born, used and freed."""
    storages = stream.profile.storages
    columns = (
        stream.owners.owner.tolist(),
        storages.birth.tolist(),
        storages.last_use.tolist(),
        storages.death.tolist(),
        (stream.owners.kept_to >= 0).tolist(),
    )
    found = []
    for owner, birth, last_use, death, is_kept in zip(*columns, strict=True):
        if owner != Owner.NONE:
            found.append(_OF_OWNER[Owner(owner)])
            continue
        made_in = Part.BETWEEN if birth == BEFORE else parts[birth]
        used_in = Part.BETWEEN if last_use < 0 else parts[last_use]
        if is_kept:
            found.append(Use.INPUT if made_in is Part.BETWEEN else Use.ACTIVATION)
        elif made_in is Part.BETWEEN and used_in in (Part.FORWARD, Part.BACKWARD):
            found.append(Use.INPUT)
        elif birth == BEFORE:
            found.append(Use.OTHER)
        elif made_in is Part.FORWARD and _outlives_forward(birth, death, stream.graph_reads):
            found.append(Use.OUTPUT)
        else:
            found.append(Use.TEMPORARY)
    return found


def _outlives_forward(birth: int, death: int, graph_reads: tuple[int, ...]) -> bool:
    """Whether it is alive where the next backward pass begins."""
    begins = next((read for read in graph_reads if read >= birth), None)
    return begins is not None and (death == ALIVE or death >= begins)
