"""Graphs of an evaluation: the model is in evaluation mode, autograd records its calls, and no backward pass comes.

A lazy `map` that is made under `no_grad` and read outside of it is the documented case: each window of a volume adds
its activations to the graph of the stitched output.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenure.analysis.growth.evaluation_growth import LEAST_BYTES, LEAST_SHARE, is_much
from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, series_of_rows, view_census
from tenure.analysis.heap.held_group import Group, cut_of
from tenure.analysis.heap.running import running_functions
from tenure.analysis.heap.saved_by_graphs import saved_by_graphs_alone
from tenure.model.heap import Census, Ints
from tenure.model.recording import EVALUATION_WITH_GRAPH
from tenure.model.suspect import EVALUATED_WITH_GRAPH, RETURNED, RUNNING, Suspect


def find_evaluated_with_graph(evaluations: Sequence[Sequence[Census]]) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "peak": what the graphs of an evaluation save at the call before which they save
    most, in the last evaluation whose calls were recorded.

    Costs a search of each census within that evaluation.
    """
    for censuses in reversed(evaluations):
        views = [view_census(each, Shapes()) for each in censuses if each.moment.startswith(EVALUATION_WITH_GRAPH)]
        if views:
            suspect = _suspect(*_where_most_is_saved(views))
            return () if suspect is None else (suspect,)
    return ()


def find_returned_with_graph(returned: Sequence[Census]) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "peak": what the graph saves that a call of an evaluation gives back, of the call
    where that is most: it may be gone before the next one, and belongs to the evaluation's peak all the same.

    Costs a search of each census.
    """
    views = [view_census(each, Shapes()) for each in returned if running_functions(each)]
    if not views:
        return ()
    view, nodes = _where_most_is_saved(views)
    least = max(LEAST_BYTES, LEAST_SHARE * int(view.census.storages.bytes.sum()))
    suspect = _suspect(view, nodes) if int(view.graph.bytes_of_node[nodes].sum()) >= least else None
    return () if suspect is None else (replace(suspect, facts=suspect.facts | {RETURNED: True}),)


def find_unusual_with_graph(unusual: Sequence[Census]) -> tuple[Suspect, ...]:
    """The same of a model that was left in training mode.

    Costs a search of each census.
    """
    found = find_returned_with_graph(unusual)
    return tuple(replace(suspect, facts=suspect.facts | {EVALUATED_WITH_GRAPH: "training"}) for suspect in found)


def _where_most_is_saved(views: Sequence[View]) -> tuple[View, Ints]:
    """The view in which graphs save most, with the storages."""
    saved = ((view, saved_by_graphs_alone(view)) for view in views)
    return max(saved, key=lambda each: int(each[0].graph.bytes_of_node[each[1]].sum()))


def _suspect(view: View, nodes: Ints) -> Suspect | None:
    size = int(view.graph.bytes_of_node[nodes].sum())
    if not is_much(size, view):
        return None
    group = Group(view, nodes, nodes)
    group = replace(group, cut=cut_of(group), freed=nodes)
    series = series_of_rows(view.census.moment, [view], [(size, len(nodes))])
    measured = Measured(
        series=series, facts={EVALUATED_WITH_GRAPH: "evaluation", RUNNING: running_functions(view.census)}
    )
    suspect = assemble_suspect(group, symptom="peak", measured=measured, fingerprint="")
    held = f"{suspect.holder.scope_function} {suspect.holder.owner_type} {suspect.holder.name}"
    return replace(suspect, fingerprint=fingerprint_of(f"evaluated with graph {held}"), drops=())
