"""The object that exists to carry a module: a session, a pipeline. A person drops it, not what is inside of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.assemble import describe_reference
from tenure.analysis.heap.cuts import alive_without
from tenure.analysis.heap.graph import GRAPH_REFERENCES, Graph, is_builtin_type, object_of, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.holders import THREAD_LOCAL, Droppable, find_droppable
from tenure.analysis.heap.modules import module_nodes
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import Ints, NodeKind, ReferenceKind
from tenure.model.suspect import Suspect, is_of_optimizers

_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL, ReferenceKind.CELL)
_PLAIN = ("local", "global")


def drop_the_carrier(view: View, cut: tuple[Droppable, ...], nodes: Ints) -> tuple[Droppable, ...]:
    """The cut, by the one name of the object whose attribute it is, where that object holds nothing but `nodes`.

    An object of the program's own class, no module, that one variable or attribute of a thread-local object alone
    names and no method of which runs. As a part of another object it is not told from that object's own duties; but
    one that only a method of its own leads to, given away as a callback, goes by whatever has the callback.
    """
    graph, references = view.graph, view.census.references
    if len(cut) != 1 or cut[0].container >= 0:
        return cut
    owner = object_of(graph, int(references.source[cut[0].reference]))
    names = graph.references_to(owner)
    callback = _callback_to(graph, names)
    names = graph.references_to(callback) if callback >= 0 else names
    if not _is_own_object(view, owner) or len(names) != 1 or graph.labels[names[0]] == "self":
        return cut
    in_thread = graph.type_names[object_of(graph, int(references.source[names[0]]))] == THREAD_LOCAL
    if references.kind[names[0]] not in _VARIABLES and not in_thread and callback < 0:
        return cut
    if not (find_droppable(graph) & graph.user_made)[names[0]] or not _carries_only(view, owner, nodes):
        return cut
    return (Droppable(names[0]),)


def by_the_hook(view: View, cut: tuple[Droppable, ...], nodes: Ints) -> tuple[Droppable, ...]:
    """The cut, by the hook of a module whose bound method leads to all of `nodes` and without which none of them lives:
    it keeps its object, and whatever that has."""
    graph, references = view.graph, view.census.references
    for hook, method in pairwise(path_to(graph, view.paths, int(nodes[0])) if len(nodes) else ()):
        in_table = graph.hook_tables[references.source[hook]]
        if in_table and references.kind[method] == ReferenceKind.SELF:
            return cut if alive_without(graph, [Droppable(hook)])[nodes].any() else (Droppable(hook),)
    return cut


def by_the_functions_name(view: View, cut: tuple[Droppable, ...]) -> tuple[Droppable, ...]:
    """The cut; where it is one closure's variable, by the one attribute that has the function: nobody drops the
    variable of another's closure."""
    graph, references = view.graph, view.census.references
    if len(cut) != 1 or references.kind[cut[0].reference] != ReferenceKind.CELL:
        return cut
    names = graph.references_to(int(references.source[cut[0].reference]))
    named = len(names) == 1 and bool(attribute_name(graph, names[0]))
    return (Droppable(names[0]),) if named and (find_droppable(graph) & graph.user_made)[names[0]] else cut


def by_the_methods_name(suspect: Suspect, view: View, node: int) -> Suspect:
    """The suspect, which is a part of an object that only a bound method leads to, told by who has that method: wanted
    is the method, and the object came with all its parts. `cut` stays: what goes is the part."""
    graph, references = view.graph, view.census.references
    for name, method in pairwise(path_to(graph, view.paths, node)):
        alone = references.kind[method] == ReferenceKind.SELF and _callback_to(graph, _names_of(graph, method)) >= 0
        if alone and (find_droppable(graph) & graph.user_made)[name]:
            return replace(suspect, holder=describe_reference(view, Droppable(name), ()))
    return suspect


def with_parts(suspect: Suspect, view: View, cut: tuple[Droppable, ...]) -> Suspect:
    """The suspect; where it is told by the carrier, with what the `cut` without that would drop as the carrier's field:
    a person whose program still reads the carrier drops this."""
    parts = tuple(describe_reference(view, dropped, ()) for dropped in cut)
    if len(parts) != 1 or suspect.cut != (suspect.holder,) or suspect.holder in parts:
        return suspect
    holder = replace(suspect.holder, fields=(parts,))
    return replace(suspect, holder=holder, cut=(holder,))


def by_an_attribute(suspect: Suspect) -> Suspect:
    """The suspect; where variables and attributes both have it, told by an attribute: the variable of whoever made it
    is plain to see, and goes with its function."""
    others = [each for each in suspect.cut if each.kind not in _PLAIN and not is_of_optimizers(each.owner_type)]
    plain = suspect.holder.kind in _PLAIN and suspect.holder in suspect.cut
    return replace(suspect, holder=others[0]) if plain and others else suspect


def by_the_librarys_table(suspect: Suspect) -> Suspect:
    """The suspect, whose cut is entries of a library's own tables, told by the first of them: code of the library put
    it there, at some call of the program."""
    return replace(suspect, holder=suspect.cut[0], holder_is_yours=False)


def _callback_to(graph: Graph, names: Sequence[int]) -> int:
    """The bound method that alone refers to an object; -1 where there is none, or more."""
    references = graph.census.references
    if len(names) != 1 or references.kind[names[0]] != ReferenceKind.SELF:
        return -1
    return int(references.source[names[0]])


def _names_of(graph: Graph, reference: int) -> Sequence[int]:
    """The references to what one refers to."""
    return graph.references_to(int(graph.census.references.target[reference]))


def _is_own_object(view: View, node: int) -> bool:
    graph = view.graph
    plain = view.census.nodes.kind[node] == NodeKind.OBJECT and not is_builtin_type(graph.type_names[node])
    return bool(plain and not graph.library[node] and node not in module_nodes(graph))


def _carries_only(view: View, owner: int, nodes: Ints) -> bool:
    below = reach(view.graph, np.array([owner]), without=np.isin(view.census.references.kind, GRAPH_REFERENCES))
    storages = view.census.storages.node
    return bool(np.isin(storages[below[storages]], nodes).all())
