"""Which of the program's own functions ran as a census was taken."""

from __future__ import annotations

import numpy as np

from tenure.model.heap import NAMED_BY_LIBRARY, Census, NodeKind


def running_functions(census: Census) -> tuple[tuple[str, int, str], ...]:
    """File, line and name of each, innermost first."""
    nodes = census.nodes
    is_own = (nodes.kind == NodeKind.FRAME) & ((nodes.flags & NAMED_BY_LIBRARY) == 0)
    return tuple(
        (census.text(int(nodes.file[at])), int(nodes.line[at]), census.text(int(nodes.name[at])))
        for at in np.flatnonzero(is_own).tolist()
    )
