"""What a retention path tells beyond its text: facts that rules tell causes apart by, and that findings show."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.ctx_facts import ctx_facts
from tenure.analysis.heap.graph import Graph
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.hook_functions import called_by_hooks
from tenure.analysis.heap.wording import is_table_of_callbacks
from tenure.model.heap import GRAPH_CONTINUES, Ints, NodeKind, ReferenceKind
from tenure.model.suspect import NODE_HOOK, SUSPENDED_TYPES

ALLOCATED_AT_LEAST = 512
"""What devices round storages up to: less than this beyond a view is no other tensor's memory."""
MOST_KEYS = 4
"""Keys of a growing dict that are kept as examples: its newest."""
FEWEST_THAT_RISE = 5
_PARTS = (ReferenceKind.INDEX, ReferenceKind.ITEM, ReferenceKind.ATTRIBUTE)
_REFILLED = ("list", "collections.deque")
"""Their elements come by several statements, those of a tuple by one."""
_AVERAGES = ("LerpBackward0", "LerpBackward1")
_SUMS, _WEIGHTED = ("AddBackward0", "SubBackward0"), ("MulBackward0", "DivBackward0")
_NUMBER = re.compile(r"\d+")
_ONE_NUMBER = re.compile(r"\d+|'[^\d']*\d+[^\d']*'")


def path_facts(view: View, path: Sequence[int], graph_nodes: Ints, many: Collection[int]) -> dict[str, object]:
    """Facts by name, only those that hold:

    - what `ctx_facts` says of a custom Function's ctx on the path,
    - `graph_continues`: the census stopped inside a larger graph,
    - `kept_shape`: shape of the tensor by which the path enters a graph,
    - `kept_pins_bytes`: bytes of that tensor's storage that no view of it shows,
    - `node_hook`: the function that is called, where the path starts at hooks of an autograd node,
    - `kept_average`: that tensor was averaged last, by `lerp` or as a sum of parts with weights; no running sum,
    - `graphs_beside`: labels of what else carries a graph in the tuple, list, dict or object that has that tensor,
    - `fills_running`: what grows is filled by a suspended generator or coroutine, which therefore still runs,
    - `keys`: the newest keys of the dict among `many`; `keys_count_up`: all of them are the numbers n, n+1, n+2, ...,
      or a text with these; and else `keys_rise`: a number in them is larger in each than in the one before, as that of
      a step.
    """
    facts = ctx_facts(view, path, graph_nodes) | _dict_facts(view.graph, many)
    if _is_inside_suspended(view.graph, path, many):
        facts["fills_running"] = True
    if len(graph_nodes) and bool(np.any(view.census.nodes.flags[graph_nodes] & GRAPH_CONTINUES)):
        facts["graph_continues"] = True
    beside = _graphs_beside(view.graph, path, many)
    if beside:
        facts["graphs_beside"] = beside
    row = _kept_storage(view.graph, path)
    shape = view.census.text(int(view.census.storages.shape[row])) if row >= 0 else ""
    if shape:
        facts["kept_shape"] = shape
        pinned = int(view.census.storages.bytes[row] - view.census.storages.view_bytes[row])
        if pinned >= ALLOCATED_AT_LEAST:
            facts["kept_pins_bytes"] = pinned
    if function := _called_by_node(view.graph, path):
        facts[NODE_HOOK] = function
    if _is_average(view.graph, path):
        facts["kept_average"] = True
    return facts


def _is_inside_suspended(graph: Graph, path: Sequence[int], many: Collection[int]) -> bool:
    """Whether the container that grows lies below a variable of a suspended function."""
    references = graph.census.references
    suspended = False
    for reference in path:
        source = int(references.source[reference])
        suspended = suspended or (
            references.kind[reference] == ReferenceKind.LOCAL
            and graph.type_names[source].rpartition(".")[2] in SUSPENDED_TYPES
        )
        if suspended and source in many:
            return True
    return False


def _graphs_beside(graph: Graph, path: Sequence[int], many: Collection[int]) -> list[str]:
    """Labels of the tensors with a graph that one entry of what grows, or a (named) tuple, has beside the one by which
    the path enters its graph; none where that one is the entry itself, or a variable."""
    references = graph.census.references
    at = next((at for at, each in enumerate(path) if references.kind[each] == ReferenceKind.GRAD_FN), 0)
    owner = int(references.source[path[at - 1]]) if at else -1
    if owner < 0 or owner in many or references.kind[path[at - 1]] not in _PARTS:
        return []
    entry = any(int(references.source[each]) in many for each in path[: at - 1])
    entry |= references.kind[path[at - 1]] == ReferenceKind.INDEX and graph.type_names[owner] not in _REFILLED
    others = (each for each in graph.references_from(owner) if each != path[at - 1] and references.kind[each] in _PARTS)
    return (
        [graph.labels[each] for each in others if _carries_graph(graph, int(references.target[each]))] if entry else []
    )


def _carries_graph(graph: Graph, node: int) -> bool:
    kinds = graph.census.references.kind
    is_tensor = graph.census.nodes.kind[node] == NodeKind.TENSOR
    return bool(is_tensor) and any(kinds[each] == ReferenceKind.GRAD_FN for each in graph.references_from(node))


def _kept_storage(graph: Graph, path: Sequence[int]) -> int:
    """Row of the storage of the tensor by which the path enters a graph; -1 where it enters none."""
    census = graph.census
    for reference in path:
        if census.references.kind[reference] == ReferenceKind.GRAD_FN:
            tensor = int(census.references.source[reference])
            for own in graph.references_from(tensor):
                if census.references.kind[own] == ReferenceKind.STORAGE:
                    return int(graph.storage_row[int(census.references.target[own])])
            return -1
    return -1


def _called_by_node(graph: Graph, path: Sequence[int]) -> str:
    references = graph.census.references
    if not path or not is_table_of_callbacks(graph, int(references.source[path[0]])):
        return ""
    return called_by_hooks(graph, int(references.target[path[0]]))


def _is_average(graph: Graph, path: Sequence[int]) -> bool:
    references = graph.census.references
    enters = next((each for each in path if references.kind[each] == ReferenceKind.GRAD_FN), -1)
    if enters < 0:
        return False
    last = int(references.target[enters])
    if graph.type_names[last] in _AVERAGES:
        return True
    parts = {graph.type_names[int(references.target[each])] for each in graph.references_from(last)}
    return graph.type_names[last] in _SUMS and not parts.isdisjoint(_WEIGHTED) and parts.isdisjoint(_SUMS)


def _dict_facts(graph: Graph, many: Collection[int]) -> dict[str, object]:
    kinds = graph.census.references.kind
    for container in sorted(many):
        items = [r for r in graph.references_from(container) if kinds[r] == ReferenceKind.ITEM]
        if items:
            keys = [graph.labels[r] for r in items]
            counts_up = _count_up(keys)
            rise = {"keys_rise": True} if not counts_up and _rise(keys) else {}
            return {"keys": keys[-MOST_KEYS:], "keys_count_up": counts_up} | rise
    return {}


def _count_up(keys: Sequence[str]) -> bool:
    """Whether keys are numbers, or one text with a number in it, `'step-041'`, and leave none out."""
    if len({_NUMBER.sub("", key) for key in keys}) != 1 or not all(_ONE_NUMBER.fullmatch(key) for key in keys):
        return False
    numbers = sorted(int(_NUMBER.findall(key)[0]) for key in keys)
    return len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1


def _rise(keys: Sequence[str]) -> bool:
    """Whether keys of each form have a number, at the same place, that rises from one to the next: `0`, `5`, `10`, or
    `'step 0'`, `'step 5'`. A few may rise by chance."""
    forms: dict[tuple[str, int], list[list[int]]] = {}
    for key in keys:
        numbers = [int(number) for number in _NUMBER.findall(key)]
        forms.setdefault((_NUMBER.sub("", key), len(numbers)), []).append(numbers)
    return bool(forms) and all(len(each) >= FEWEST_THAT_RISE and _any_place_rises(each) for each in forms.values())


def _any_place_rises(numbers: Sequence[Sequence[int]]) -> bool:
    return any(all(one < later for one, later in pairwise(place)) for place in zip(*numbers, strict=True))
