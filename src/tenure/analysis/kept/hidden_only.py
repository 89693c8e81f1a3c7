"""Memory that only a hidden root, a hook of the interpreter or a kept exception holds: no running function, global or
class of the program leads to it any more, but through the frame of a function that has ended."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.carriers import drop_the_carrier
from tenure.analysis.heap.graph import Bools, Graph, reach
from tenure.analysis.heap.groups import View, fingerprint_of, in_program_order, root_key, series_of_rows
from tenure.analysis.heap.held_group import Group, cut_of
from tenure.analysis.heap.wording import finished_frames
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import LITTLE_OF_ALL, Suspect

FEWEST_CENSUSES = 3
"""In so many censuses, and at least in two steps, the same memory must hang on the same root alone."""
LEAST_BYTES = 256 << 10
LEAST_SHARE = 0.01
NOTABLE_SHARE = 0.05
"""Of all that is alive: an exit handler's object may be there for its handler, and so little is no news."""
_WITH_HOOKS = ("sys", "threading")
_IN_USE = ("autocast weight cache",)
"""Torch's own caches under a hidden root: used by the next forward, and known to nobody else."""


def find_hidden_only(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": storages that hang on a signal handler, an exit handler, `sys.excepthook`, a
    thread's data or a kept exception's frames and on nothing else, in all of the last censuses. What grows there is
    found as growth."""
    ordered = in_program_order(views)
    late = ordered[-FEWEST_CENSUSES:]
    if len(late) < FEWEST_CENSUSES or len({view.census.step for view in late}) < 2:
        return ()
    found = [_by_root(view) for view in late]
    suspects = []
    for key in sorted(found[-1]):
        if not all(key in each for each in found):
            continue
        held = [each[key] for each in found]
        lasting = set.intersection(*(_addresses(view, nodes) for view, nodes in zip(late, held, strict=True)))
        nodes = held[-1][np.isin(_address_of(late[-1], held[-1]), sorted(lasting))]
        if _matters(late[-1], nodes):
            suspects.append(_suspect(ordered, late[-1], key, nodes))
    return tuple(suspects)


def _by_root(view: View) -> dict[str, Ints]:
    """Storages that only hidden roots, hooks of the interpreter and frames of functions that have ended reach, by the
    root of their path."""
    graph, kinds = view.graph, view.census.nodes.kind
    hidden = graph.roots[kinds[graph.roots] == NodeKind.HIDDEN]
    unseen = finished_frames(graph)[view.census.references.target] | _interpreter_hooks(graph)
    if not len(hidden) and not unseen.any():
        return {}
    elsewhere = reach(graph, np.setdiff1d(graph.roots, hidden), without=unseen)
    storages = view.census.storages
    only = storages.node[~elsewhere[storages.node] & (storages.role != Role.INPUT)]
    found: dict[str, list[int]] = {}
    for node in only.tolist():
        root = _root_of(view, node)
        if root >= 0 and not _is_used(view, root):
            found.setdefault(root_key(graph, root), []).append(node)
    return {key: np.array(nodes, dtype=np.int64) for key, nodes in found.items()}


def _interpreter_hooks(graph: Graph) -> Bools:
    """Per reference: `sys.excepthook` or its like, which calls a function of the program."""
    census, references = graph.census, graph.census.references
    labels = [number for number, text in enumerate(census.strings) if text.endswith("hook")]
    found = (references.kind == ReferenceKind.GLOBAL) & np.isin(references.label, labels)
    for reference in np.flatnonzero(found).tolist():
        name = census.text(int(census.nodes.name[references.source[reference]]))
        found[reference] = name in _WITH_HOOKS and graph.library[references.source[reference]]
    return np.asarray(found, dtype=bool)


def _root_of(view: View, node: int) -> int:
    sources, parents = view.census.references.source, view.paths.parent
    if not view.paths.held_by_root(node):
        return -1
    while parents[node] >= 0:
        node = int(sources[parents[node]])
    return node


def _is_used(view: View, root: int) -> bool:
    return view.census.text(int(view.census.nodes.name[root])).startswith(_IN_USE)


def _address_of(view: View, storages: Ints) -> Ints:
    """Addresses of the objects by which storages are held: a storage has none of its own."""
    parents = view.paths.parent[storages]
    found: Ints = view.census.nodes.address[view.census.references.source[parents]]
    return found


def _addresses(view: View, storages: Ints) -> set[int]:
    return set(_address_of(view, storages).tolist())


def _matters(view: View, nodes: Ints) -> bool:
    size = int(view.graph.bytes_of_node[nodes].sum())
    return size >= LEAST_BYTES and size >= LEAST_SHARE * int(view.census.storages.bytes.sum())


def _suspect(views: Sequence[View], last: View, key: str, nodes: Ints) -> Suspect:
    addresses = _addresses(last, nodes)
    rows = [_weight(view, addresses) for view in views]
    series = series_of_rows(last.census.moment, views, rows)
    little = int(last.graph.bytes_of_node[nodes].sum()) < NOTABLE_SHARE * int(last.census.storages.bytes.sum())
    return assemble_suspect(
        Group(last, nodes, nodes, cut=drop_the_carrier(last, cut_of(Group(last, nodes, nodes)), nodes)),
        symptom="survivor",
        measured=Measured(series=series, facts={"only_root": key} | ({LITTLE_OF_ALL: True} if little else {})),
        fingerprint=fingerprint_of(f"hidden only {key}"),
    )


def _weight(view: View, addresses: set[int]) -> tuple[int, int]:
    storages = view.census.storages.node
    storages = storages[view.paths.parent[storages] >= 0]
    mine = storages[np.isin(_address_of(view, storages), sorted(addresses))]
    return int(view.graph.bytes_of_node[mine].sum()), len(mine)
