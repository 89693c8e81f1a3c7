"""What a graph that grows keeps out of sight: inputs of a checkpoint, what functions given to it refer to.

A node owns what hooks on its saved tensors need, and no census is shown that. Such tensors have an owner in C++ alone
and come with the graph's nodes, so many bytes for so many nodes: they are the graph's, and told with it.
So are those that grow on, as fast as a graph did, from where it was too deep for the censuses to go through.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from statistics import median

from tenure.analysis.growth.trend import WARM_UP_STEP
from tenure.model.suspect import GRAPH_GOES_ON, Series, Suspect

OUT_OF_SIGHT = "out_of_sight_bytes_per_step"
"""Name of the fact: how many of the bytes per step no census saw the graph hold."""
FEWEST_PAIRS = 3
IN_STEP_WITHIN = 0.1
"""So far may the bytes per node gained between two censuses be from their median."""
_TENSORS = ("torch.Tensor", "torch.nn.parameter.Parameter")


def told_with_graphs(suspects: Iterable[Suspect]) -> tuple[Suspect, ...]:
    """The suspects; where tensors out of sight grow in step with one graph, and with no other, they are told as its.

    Needs suspects of one statement joined: the graphs of two values that one line keeps are one.
    """
    found = list(suspects)
    for unseen in [suspect for suspect in found if _are_saved(suspect)]:
        graphs = [at for at, other in enumerate(found) if _is_in_step(unseen, other)]
        if len(graphs) == 1:
            found[graphs[0]] = _with(found[graphs[0]], unseen)
            found.remove(unseen)
    for unseen in [suspect for suspect in found if "unseen_owners" in suspect.facts]:
        graphs = [at for at, other in enumerate(found) if _goes_on_as(unseen, other)]
        if len(graphs) == 1:
            found[graphs[0]] = _holding_both(found[graphs[0]], unseen)
            found.remove(unseen)
    return tuple(found)


def _goes_on_as(unseen: Suspect, graph: Suspect) -> bool:
    """Whether what nobody is seen to hold gains as much per step as the graph did, and was not there until the last
    census that saw the graph's end."""
    if GRAPH_GOES_ON not in graph.facts or unseen.holder.kind != "unknown" or graph.device != unseen.device:
        return False
    columns = zip(unseen.series.steps, unseen.series.bytes, strict=True)
    rate, other = graph.growth_bytes_per_step or 0, unseen.growth_bytes_per_step or 0
    began_later = all(step > graph.series.steps[-1] for step, size in columns if size)
    return began_later and abs(rate - other) <= IN_STEP_WITHIN * rate


def _are_saved(unseen: Suspect) -> bool:
    """Tensors and nodes of graphs, owned straight by C++: a graph saves them, as it saves no list or object."""
    held = unseen.facts.get("they_hold")
    if not isinstance(held, dict) or sum(held.values()) != unseen.facts.get("unseen_owners"):
        return False
    return all(name in _TENSORS or name.rstrip("0123456789").endswith("Backward") for name in held)


def _is_in_step(unseen: Suspect, graph: Suspect) -> bool:
    """Whether bytes out of sight and nodes of the graph are gained at one ratio, in all censuses after warm-up."""
    if not (graph.through_graph and graph.symptom == "growth" and graph.path and graph.device == unseen.device):
        return False
    if graph.holder.kind == "unknown" or graph.series.steps != unseen.series.steps:
        return False
    columns = zip(graph.series.steps, graph.series.graph_nodes, unseen.series.bytes, strict=True)
    late = [(nodes, size) for step, nodes, size in columns if step > WARM_UP_STEP]
    gained = [(after[0] - before[0], after[1] - before[1]) for before, after in pairwise(late)]
    if len(gained) < FEWEST_PAIRS or any(nodes <= 0 or size <= 0 for nodes, size in gained):
        return False
    ratios = [size / nodes for nodes, size in gained]
    return all(abs(ratio - median(ratios)) <= IN_STEP_WITHIN * median(ratios) for ratio in ratios)


def _with(graph: Suspect, unseen: Suspect) -> Suspect:
    return replace(
        _holding_both(graph, unseen),
        series=_summed(graph.series, unseen.series),
        growth_bytes_per_step=(graph.growth_bytes_per_step or 0) + (unseen.growth_bytes_per_step or 0),
        facts={**graph.facts, OUT_OF_SIGHT: unseen.growth_bytes_per_step},
    )


def _holding_both(graph: Suspect, unseen: Suspect) -> Suspect:
    new = unseen.storages - graph.storages
    roles = {**graph.bytes_by_role}
    for role, size in unseen.bytes_by_role.items():
        roles[role] = roles.get(role, 0) + size
    return replace(
        graph,
        retained_bytes=graph.retained_bytes + sum(size for _, size in new),
        bytes_by_role=dict(sorted(roles.items(), key=lambda item: -item[1])),
        storages=graph.storages | new,
        storages_at=max(graph.storages_at, unseen.storages_at),
        last_step=max(graph.last_step, unseen.last_step),
    )


def _summed(one: Series, other: Series) -> Series:
    """The series with the other's bytes; its objects stay those that the censuses saw the graph hold."""
    return replace(one, bytes=tuple(map(sum, zip(one.bytes, other.bytes, strict=True))))
