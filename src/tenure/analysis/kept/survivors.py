"""Modules that were let go and live on: a name for them is gone, the memory is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect, told_by_holder
from tenure.analysis.heap.carriers import (
    by_an_attribute,
    by_the_functions_name,
    by_the_librarys_table,
    drop_the_carrier,
    with_parts,
)
from tenure.analysis.heap.cuts import LARGEST_CUT
from tenure.analysis.heap.graph import PASSING_BY, reach
from tenure.analysis.heap.groups import View, fingerprint_of, in_program_order, series_of_nodes
from tenure.analysis.heap.held_group import Group, cut_of, out_of_library_tables
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.library_tables import elements_of_library_tables
from tenure.analysis.heap.modules import all_tensors
from tenure.analysis.kept.named_modules import (
    NamedModule,
    carriers_of,
    named_modules,
)
from tenure.analysis.kept.releases import Release, final_releases, same_module
from tenure.model.heap import Ints, Role
from tenure.model.suspect import Suspect

_WEIGHTS = (Role.PARAMETER, Role.BUFFER)


def find_survivors(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": modules that lost the name they went by while something else keeps them.

    An attribute or a variable set to None or deleted, while its owner lives on, says that the module was to go,
    whatever other names remain; so does an optimizer that gave way to another which took only the rest of its
    modules over. A variable that went with its function says nothing. A module that moved to a new name, that is
    called again, that an optimizer still has or that became part of another module is in use. A variable's list of
    modules counts where it was emptied at once and nothing has any of them by name. Of a module that only
    another object of the program has a name for (a pipeline's, a session's) that object's names are looked at too.
    """
    ordered = in_program_order(views)
    if len(ordered) < 2:
        return ()
    found = [named_modules(view) for view in ordered]
    carriers = [carriers_of(view, modules) for view, modules in zip(ordered, found, strict=True)]
    last, suspects = ordered[-1], []
    for address, release in final_releases(ordered, found):
        nodes = _alive_parameters(last, release)
        if len(nodes) and not _is_in_use(last, same_module(found[-1], address, release.type_name), nodes, found[-1]):
            suspects.append(_suspect(ordered, last, release, nodes))
    for address, release in final_releases(ordered, carriers):
        nodes = _alive_parameters(last, release)
        others = {at: each for at, each in found[-1].items() if {name.owner for name in each.bindings} != {address}}
        mine = carriers[-1].get(address)
        if len(nodes) and mine is not None and not _is_in_use(last, mine, nodes, others | carriers[-1]):
            suspects.append(_suspect(ordered, last, release, nodes, carrier=mine.node))
    return tuple(suspects)


def _alive_parameters(view: View, release: Release) -> Ints:
    """Storages of those of its parameters that are still there: in the memory that they had, be it for a view of it
    alone, or moved to other. What else than weights has a tensor of their address and size, but other memory, came
    after them."""
    graph, roles = view.graph, view.census.storages.role
    moved = {(address, size) for address, size, _ in release.parameters}
    same = {identity for _, _, identity in release.parameters}
    alive = [
        node
        for address, size, node in all_tensors(graph)
        if graph.identity_of_storage[node] in same
        or ((address, size) in moved and roles[graph.storage_row[node]] in _WEIGHTS)
    ]
    nodes = np.array(sorted(set(alive)), dtype=np.int64)
    return nodes[[view.paths.held_by_root(node) for node in nodes.tolist()]] if len(nodes) else nodes


def _is_in_use(view: View, mine: NamedModule | None, nodes: Ints, modules: dict[int, NamedModule]) -> bool:
    """Another module than the released one contains the parameters, or an optimizer updates them for that one, which is
    still there."""
    others = (module for module in modules.values() if module is not mine and _has_name(module))
    if any(_reaches(view, module.node, nodes) for module in others):
        return True
    return mine is not None and bool(mine.optimizers & _optimizers_at_hand(view))


def _optimizers_at_hand(view: View) -> set[int]:
    """Addresses of objects to which more leads than elements of tables that a library's objects have: nobody gets at
    one of those to step it."""
    hidden = elements_of_library_tables(view.graph)
    return set(view.census.nodes.address[reach(view.graph, view.graph.roots, without=hidden)].tolist())


def _has_name(module: NamedModule) -> bool:
    return bool(module.bindings)


def _reaches(view: View, module: int, nodes: Ints) -> bool:
    below = reach(view.graph, np.array([module]), without=np.isin(view.census.references.kind, PASSING_BY))
    return bool(below[nodes].any())


def _suspect(
    views: Sequence[View], last: View, release: Release, nodes: Ints, *, carrier: int | None = None
) -> Suspect:
    """`carrier`: the object that went by the released name, and is to go whole, unless it is held in more places than
    what it carries, as a member of an enumeration is."""
    alive = [_alive_parameters(view, release) for view in views]
    series = series_of_nodes(last.census.moment, views, alive)
    group = Group(last, nodes, nodes)
    if carrier is not None:
        whole = dataclasses.replace(group, targets=np.array([carrier]))
        group = min((whole, group), key=lambda each: len(cut_of(each)) or LARGEST_CUT)
    in_tables = out_of_library_tables(last, nodes) if carrier is None else ()
    held_by = in_tables or by_the_functions_name(last, cut_of(group))
    cut = in_tables or _by_the_carrier(last, held_by, nodes, release)
    found = assemble_suspect(
        dataclasses.replace(group, cut=cut),
        symptom="survivor",
        measured=Measured(
            series=series,
            facts={"released": release.name, "released_step": release.step, "module": release.type_name},
        ),
        fingerprint=fingerprint_of(f"survivor {release.type_name} {release.name}"),
    )
    if in_tables:
        return told_by_holder(by_the_librarys_table(found))
    return told_by_holder(by_an_attribute(with_parts(found, last, held_by)))


def _by_the_carrier(view: View, held_by: tuple[Droppable, ...], nodes: Ints, release: Release) -> tuple[Droppable, ...]:
    """What is dropped, by the object's name that has it; not that of one whose own attribute was let go: it stays for
    what else it does."""
    cut = drop_the_carrier(view, held_by, nodes)
    carriers = view.census.nodes.address[[view.census.references.target[dropped.reference] for dropped in cut]]
    releases_itself = {binding.owner for binding in release.gone if binding.is_attribute}
    return held_by if cut != held_by and releases_itself & set(carriers.tolist()) else cut
