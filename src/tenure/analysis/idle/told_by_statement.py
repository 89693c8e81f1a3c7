"""What a statement of the program has at the peak, and no name holds: suspects without a path."""

from __future__ import annotations

from tenure.analysis.heap.groups import fingerprint_of
from tenure.analysis.heap.storage_facts import bytes_by_role, identities, storage_rows
from tenure.analysis.idle.step_replay import Replay
from tenure.model.heap import Ints
from tenure.model.recording import PEAK
from tenure.model.suspect import HoldingReference, Series, Suspect


def told_by_statement(
    replay: Replay, nodes: Ints, holder: HoldingReference, *, drop: int, basis: str, name: str
) -> Suspect:
    """The suspect of symptom "peak" for storages `nodes`, told by its `holder`'s statements; `name` tells it apart from
    others of its cause. Nothing is to be dropped, and no fact says yet what it is."""
    view = replay.view
    size, step = int(view.graph.bytes_of_node[nodes].sum()), view.census.step
    return Suspect(
        key=0,
        symptom="peak",
        path=(),
        path_text=(),
        holder=holder,
        cut=(),
        retained_bytes=size,
        num_objects=len(nodes),
        num_graph_nodes=0,
        device=replay.device,
        bytes_by_role=bytes_by_role(view, storage_rows(view, nodes)),
        first_step=step,
        last_step=step,
        series=Series(PEAK, (step,), (size,), (len(nodes),), (0,)),
        growth_bytes_per_step=None,
        growth_objects_per_step=None,
        fingerprint=fingerprint_of(name),
        storages=identities(view, nodes),
        storages_at=step,
        peak_bytes=replay.peak_bytes,
        peak_drop_bytes=drop,
        peak_basis=basis,
    )
