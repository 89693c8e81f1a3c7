"""What a profile and a census at its peak saw of a service in whose slot a tensor rests."""

from __future__ import annotations

from dataclasses import replace

from heaps import census
from profiles import profile
from tenure.model.heap import Census

ALIVE, BEFORE = -1, -1
LOGITS, BRIEF, WEIGHTS, BATCH, KEPT, OTHER = 100, 200, 300, 400, 500, 600
FRAME = "Service.run(serve.py:20)"
MODEL = (f"{FRAME}.model -> __main__.Net#n -> ._parameters dict#p -> ['weight'] parameter 2MiB", WEIGHTS)
RESULT = (f"{FRAME}.logits -> tensor 4MiB", LOGITS)
INCOMING = f"{FRAME}.self -> __main__.Slot#s -> .incoming dict -> ['weight'] tensor 3MiB"
SLOT = "self.incoming"

# Steps of five operations; at the third (2 and 7) memory peaks. The weights and a batch are used in both steps.
STORAGES = (
    (90, 4, 0, 1, 3),
    (LOGITS, 4, 5, 6, 8),
    (91, 3, 2, 2, 2),
    (BRIEF, 3, 7, 7, 7),
    (WEIGHTS, 2, BEFORE, 9, ALIVE),
    (BATCH, 1, BEFORE, 6, ALIVE),
)
TOUCHED = profile(*STORAGES)


def seen(*paths: tuple[str, int], step: int, moment: str = "forward-entry") -> Census:
    """Paths to one storage each, with the storage's address."""
    made = census("\n".join(path for path, _ in paths), step=step, moment=moment)
    address = made.nodes.address.copy()
    address[made.storages.node] = [place for _, place in paths]
    return replace(made, nodes=replace(made.nodes, address=address))
