"""Fields of the program's own objects that none of its statements reads: of a rollout the logits, where the
log-probabilities are used.

Another part of the object is in use, so that the object as a whole is, too; what its field holds is of no use to
anybody who asks for fields by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from tenure.analysis.heap.graph import is_builtin_type, object_of
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.wording import attribute_name
from tenure.analysis.sites.class_search import class_family
from tenure.model.heap import Ints, NodeKind
from tenure.model.source import SourceFile
from tenure.syntax.text.field_reads import may_read_field


def find_unread_fields(
    view: View,
    resting: Iterable[int],
    path_to: Callable[[int], Sequence[int]],
    sources: Mapping[str, SourceFile],
) -> dict[tuple[int, ...], Ints]:
    """Storages that rest, by the reference of the innermost object's field that leads to each, where the object's class
    and its bases are the program's and no file of the program reads a field of that name, but while the object is
    made."""
    held = by_field(view, resting, path_to)
    return {held_by: nodes for held_by, nodes in held.items() if _is_unread(view, held_by[0], sources)}


def by_field(
    view: View, resting: Iterable[int], path_to: Callable[[int], Sequence[int]]
) -> dict[tuple[int, ...], Ints]:
    """Storages by the reference of the innermost object's field that leads to each, where one does."""
    found: dict[int, list[int]] = {}
    for node in resting:
        reference = _field(view, path_to(node))
        if reference >= 0:
            found.setdefault(reference, []).append(node)
    return {(reference,): np.array(sorted(nodes), dtype=np.int64) for reference, nodes in found.items()}


def _field(view: View, path: Sequence[int]) -> int:
    """The last reference of a path by an attribute of an object of some class; -1 where a variable comes later."""
    references, kinds = view.census.references, view.census.nodes.kind
    for reference in reversed(path):
        source = int(references.source[reference])
        if kinds[source] in (NodeKind.TENSOR, NodeKind.STORAGE):
            continue
        if kinds[source] != NodeKind.OBJECT:
            return -1
        if attribute_name(view.graph, reference):
            return reference
        if not is_builtin_type(view.graph.type_names[source]):
            return -1
    return -1


def _is_unread(view: View, reference: int, sources: Mapping[str, SourceFile]) -> bool:
    owner = object_of(view.graph, int(view.census.references.source[reference]))
    family = class_family(view.graph.type_names[owner], sources)
    if not family or any(sources[path].origin != "yours" for path, _ in family):
        return False
    name = attribute_name(view.graph, reference)
    made_by = {path: frozenset(name for there, name in family if there == path) for path, _ in family}
    return not any(
        may_read_field(source, name, made_by=made_by.get(path, frozenset()))
        for path, source in sources.items()
        if source.origin == "yours"
    )
