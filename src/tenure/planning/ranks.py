"""What is not known of a step where one rank of several was run alone."""

from __future__ import annotations

import numpy as np

from tenure.model.stream import StepStream

NO_COLLECTIVES = (
    "collectives did nothing: sizes are those of one rank, values are wrong, and so is what the program decides by them"
)
NO_GROUP = "no collective ran in the two steps: this rank was planned as if it were alone"
OTHER_STREAMS = (
    "FSDP gathers and reduces on streams of its own, whose memory torch's allocator keeps apart: what is reserved is "
    "played as of one stream, and may be more"
)
_COLLECTIVES = ("c10d.", "_c10d_functional.")
_FSDP = "fsdp."


def unknown_of_ranks(stream: StepStream, world_size: int | None) -> list[str]:
    """Notes on a plan of the first of `world_size` ranks; none where the program ran as it is."""
    seen = {stream.profile.text(position) for position in np.unique(stream.profile.operations.name).tolist()}
    found = [OTHER_STREAMS] if any(name.startswith(_FSDP) for name in seen) else []
    if world_size is None:
        return found
    return [NO_COLLECTIVES if any(name.startswith(_COLLECTIVES) for name in seen) else NO_GROUP, *found]
