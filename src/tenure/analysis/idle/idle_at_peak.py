"""What is idle at the peak: alive when most memory is, used for the last time before, and freed only after.

Births, uses and deaths come from a profile of two steps, the names that hold on from a census at the second one's
peak. How far the peak would fall is the profile replayed with each of these freed after its last use.
"""

from __future__ import annotations

import dataclasses
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.fresh_records import fields_of_record, name_of_record
from tenure.analysis.heap.graph import reach
from tenure.analysis.heap.groups import View, fingerprint_of, lie_in_bounded
from tenure.analysis.heap.held_group import Group, belong_together, cut_of
from tenure.analysis.heap.holders import is_element
from tenure.analysis.heap.paths import path_to
from tenure.analysis.idle.owners_on_the_way import Owners, find_owners
from tenure.analysis.idle.peak_figures import Name, names_of
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.weights import is_news, is_worth_a_hint
from tenure.model.heap import Census, Ints, ReferenceKind
from tenure.model.profile import Phase, StepProfile
from tenure.model.recording import PEAK
from tenure.model.source import SourceFile
from tenure.model.suspect import (
    COPIED_TO_GROW,
    DRAWN,
    IN_WINDOW,
    PEAK_NOT_MET,
    WAITS,
    HoldingReference,
    Series,
    Suspect,
)

MOST_BUNDLES = 64
"""Storages that are looked at, of one container all as one."""
BASIS = "replayed the profiled step without it"
BASIS_OF_COPIES = "replayed the profiled step without the old copy"
_IN_TORCH = re.compile(r"(site|dist)-packages[/\\]torch[/\\]")
_TABLES = ("dict", "collections.OrderedDict", "collections.defaultdict")
_IN_OBJECTS = (ReferenceKind.ATTRIBUTE, ReferenceKind.ITEM, ReferenceKind.INDEX, ReferenceKind.MEMBER)
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def find_idle_at_peak(
    replay: Replay, between: Sequence[Census] = (), sources: Mapping[str, SourceFile] = MappingProxyType({})
) -> tuple[Suspect, ...]:
    """Suspects of symptom "peak" whose bytes the peak would fall by, those that matter most first.

    Parameters, buffers, optimizer state, and whatever lasts over both steps or is used again in the next one are
    none. Objects that were there in all censuses `between` the steps before, or that by the text of `sources` were made
    before their function's loop, are no step's own: of them a field is to be dropped. Costs a cut per storage that is
    looked at.
    """
    if not replay.comes_near_peak():
        return ()
    view, meets = replay.view, replay.meets_peak()
    rows = [row for row in replay.idle_rows() if row in replay.node_of_row and row not in replay.lasting]
    rows = [row for row in rows if not (replay.is_handed_on(row) and _is_in_graph(view, [replay.node_of_row[row]]))]
    waits = replay.waits if meets else {}
    rows += [row for row in waits if row in replay.node_of_row and not _is_in_graph(view, [replay.node_of_row[row]])]
    rows = _heaviest_together(view, replay, set(rows))
    found = []
    for group in _groups(view, replay, rows, find_owners(replay, rows, between, sources)):
        members = [replay.row_of_node[node] for node in group.nodes.tolist()]
        in_graph = _is_in_graph(view, group.nodes.tolist())
        drop = replay.drop_without(members, together=_together(view, replay, group) if in_graph else ())
        if is_worth_a_hint(drop, replay.peak_bytes, is_kept=_is_kept(view, group)):
            facts = {
                **_facts(replay, members),
                **({"kept_by_graph": True} if in_graph else {}),
                **({IN_WINDOW: True} if lie_in_bounded(view, group.nodes) else {}),
            }
            found.append(_suspect(view, replay, group, members, drop, facts))
    found += _grown_by_copying(view, replay) if meets else []
    found = [suspect for suspect in found if not _is_work_of_torch(suspect)]
    return tuple(sorted(found, key=lambda suspect: (-(suspect.peak_drop_bytes or 0), suspect.fingerprint)))


def _is_kept(view: View, group: Group) -> bool:
    """Whether all that has to be dropped are objects' attributes and containers' entries, and no variables."""
    kinds = view.census.references.kind
    return all(kinds[each.reference] in _IN_OBJECTS for each in group.cut or ())


def _heaviest_together(view: View, replay: Replay, rows: Iterable[int]) -> list[int]:
    """Of the rows those that weigh something, alone or with what lies in the same container: of a batch's four hundred
    columns none does by itself. The heaviest first, each container's together."""
    bundles: dict[int, list[int]] = {}
    for row in sorted(rows):
        bundles.setdefault(_container_of(view, replay.node_of_row[row]), []).append(row)
    sizes = replay.profile.storages.bytes
    heavy = [bundle for bundle in bundles.values() if replay.weighs(bundle)]
    heavy.sort(key=lambda bundle: (-int(sizes[bundle].sum()), bundle[0]))
    return [row for bundle in heavy[:MOST_BUNDLES] for row in sorted(bundle, key=lambda row: (-int(sizes[row]), row))]


def _container_of(view: View, node: int) -> int:
    """What has a storage's tensor as one of its elements; the storage itself where nothing has."""
    elements = (each for each in path_to(view.graph, view.paths, node)[-2:] if is_element(view.graph, each))
    return next((int(view.census.references.source[each]) for each in elements), node)


def _is_work_of_torch(suspect: Suspect) -> bool:
    """A variable in a running function of torch's own, as an optimizer's step: nobody's to drop."""
    return suspect.holder.kind == "local" and _IN_TORCH.search(suspect.holder.scope_file) is not None


def _is_in_graph(view: View, nodes: Iterable[int]) -> bool:
    """Whether an autograd graph leads to the storages: then they go with it, not one by one."""
    kinds = view.census.references.kind
    return any(
        kinds[reference] == ReferenceKind.GRAD_FN
        for node in nodes
        for reference in path_to(view.graph, view.paths, node)
    )


def _together(view: View, replay: Replay, group: Group) -> list[set[int]]:
    """For each name to drop, the group's rows that it leads to: they stay until the last of them was used."""
    targets = view.census.references.target
    reached = (reach(view.graph, np.array([int(targets[each.reference])])) for each in group.cut or ())
    return [{replay.row_of_node[node] for node in group.nodes.tolist() if nodes[node]} for nodes in reached]


def _groups(view: View, replay: Replay, rows: Sequence[int], owners: Owners) -> list[Group]:
    """Storages whose cuts share a reference, or that variables of one function hold, go in one line; what was there
    before the step, as its batch is, apart from what the step made."""
    groups: list[Group] = []
    fed = {row: (replay.is_from_before(row), row in replay.waits) for row in rows}
    tables: dict[tuple[object, ...], list[int]] = {}
    for row in rows:
        node = replay.node_of_row[row]
        tables.setdefault((_table_of(view, node, owners), *fed[row]), []).append(node)
    for (_, *how), nodes in tables.items():
        group = _with_cut(view, np.array(sorted(nodes), dtype=np.int64), owners)
        if not group.cut:
            continue
        for other in list(groups):
            if tuple(how) == fed[replay.row_of_node[int(other.nodes[0])]] and belong_together(group, other):
                merged = _merged(view, group, other, owners)
                if merged.cut:
                    groups.remove(other)
                    group = merged
        groups.append(group)
    return groups


def _table_of(view: View, node: int, owners: Owners) -> int:
    """The dict nearest to a storage all of whose entries are spent, as that in which hooks note outputs by name: it is
    emptied as a whole. The storage itself where there is none."""
    sources, types = view.census.references.source, view.graph.type_names
    way = (int(sources[reference]) for reference in reversed(path_to(view.graph, view.paths, node)))
    tables = (each for each in way if types[each] in _TABLES and not view.graph.instance_tables[each])
    nearest = next(tables, node)
    return nearest if nearest in owners.spent else node


def _merged(view: View, one: Group, other: Group, owners: Owners) -> Group:
    """Both in one, with a cut of its own; variables of one function stay those that are dropped, for to drop a
    generator that several of its variables weigh on is no advice."""
    nodes = np.union1d(one.nodes, other.nodes)
    if set(one.cut or ()) & set(other.cut or ()):
        return _with_cut(view, nodes, owners)
    return Group(view, nodes, nodes, passing=owners.spent, cut=(*(one.cut or ()), *(other.cut or ())), freed=nodes)


def _with_cut(view: View, nodes: Ints, owners: Owners) -> Group:
    group = Group(view, nodes, nodes, passing=owners.spent, many=owners.lists)
    return dataclasses.replace(group, cut=cut_of(group), freed=nodes)


def _grown_by_copying(view: View, replay: Replay) -> list[Suspect]:
    """What is made larger by concatenation: for a moment the old copy and the new one are both alive."""
    storages, found = replay.profile.storages, []
    sites = replay.profile.sites
    for site, rows in replay.copied_rows().items():
        drop = replay.drop_if_freed({row: int(storages.last_use[row]) - 1 for row in rows})
        seen = [row for row in rows if row in replay.node_of_row and row not in replay.lasting]
        if not seen or not is_news(drop, replay.peak_bytes):
            continue
        nodes = np.array(sorted(replay.node_of_row[row] for row in seen), dtype=np.int64)
        statement = (replay.profile.text(int(sites.file[site])), int(sites.line[site]))
        facts = {**_facts(replay, seen), COPIED_TO_GROW: statement}
        kept = _kept_beside_variables(view, nodes)
        made = _suspect(view, replay, Group(view, kept, kept, cut=(), freed=nodes), seen, drop, facts)
        found.append(dataclasses.replace(made, peak_basis=BASIS_OF_COPIES))
    return found


def _kept_beside_variables(view: View, nodes: Ints) -> Ints:
    """Of storages those that no variable stands for, where they are most of the bytes: a loop that copies one after the
    other has the one of its turn in a variable."""
    kinds, sizes = view.census.references.kind, view.graph.bytes_of_node
    to_tensor = {node: path_to(view.graph, view.paths, node)[:-1] for node in nodes.tolist()}
    kept = [node for node, path in to_tensor.items() if path and kinds[path[-1]] != ReferenceKind.LOCAL]
    return np.array(kept, dtype=np.int64) if 2 * int(sizes[kept].sum()) > int(sizes[nodes].sum()) else nodes


def _suspect(
    view: View, replay: Replay, group: Group, members: Sequence[int], drop: int, facts: dict[str, object]
) -> Suspect:
    profile = replay.profile
    others = [other for row in members if (other := replay.counterpart(row)) is not None]
    size = int(profile.storages.bytes[list(members)].sum())
    series = Series(
        moment=PEAK,
        steps=(profile.step - 1, profile.step),
        bytes=(int(profile.storages.bytes[others].sum()), size),
        objects=(len(others), len(members)),
        graph_nodes=(0, 0),
    )
    measured = Measured(series=series, facts=facts)
    suspect = assemble_suspect(group, symptom="peak", measured=measured, fingerprint="")
    suspect = dataclasses.replace(suspect, holder=_outside_comprehensions(suspect))
    if suspect.holder.kind == "attribute" and suspect.holder in suspect.cut[:1]:
        record = name_of_record(view, group, replay.made_nodes())
        fields = fields_of_record(view, group)
        suspect = dataclasses.replace(suspect, holder=dataclasses.replace(suspect.holder, record=record, fields=fields))
    holders = sorted(_name_text(name) for name in names_of(suspect.cut))
    return dataclasses.replace(
        suspect,
        fingerprint=fingerprint_of("idle at peak " + " + ".join(holders)),
        peak_bytes=replay.peak_bytes,
        peak_drop_bytes=drop,
        peak_basis=BASIS,
    )


def _outside_comprehensions(suspect: Suspect) -> HoldingReference:
    """The holder; for a comprehension's own variable the one that it goes through."""
    if suspect.holder.kind != "local" or not suspect.holder.scope_function.endswith(_COMPREHENSIONS):
        return suspect.holder
    outside = (each for each in suspect.cut if not each.scope_function.endswith(_COMPREHENSIONS))
    return next((each for each in outside if each.kind == "local" and each.name != "self"), suspect.holder)


def _facts(replay: Replay, members: Sequence[int]) -> dict[str, object]:
    """When the heaviest was made and used for the last time, and where the peak stands."""
    profile = replay.profile
    heaviest = max(members, key=lambda row: int(profile.storages.bytes[row]))
    birth, last = (int(column[heaviest]) for column in (profile.storages.birth, profile.storages.last_use))
    waits = [replay.waits[row].first_use for row in members if row in replay.waits]
    return {
        "idle_at_peak": True,
        "made_by": _operation(profile, birth),
        "last_used_by": _operation(profile, last),
        "peak_at": _operation(profile, replay.peak_op),
        **({} if replay.meets_peak() else {PEAK_NOT_MET: True}),
        **({WAITS: _operation(profile, min(waits))} if waits else {}),
        **({"made_before_step": True} if all(map(replay.is_from_before, members)) else {}),
        **({DRAWN: True} if all(map(replay.is_drawn, members)) else {}),
        "seen_in_both_steps": all(replay.counterpart(row) is not None for row in members),
    }


def _operation(profile: StepProfile, number: int) -> dict[str, object]:
    operations, site = profile.operations, int(profile.operations.site[number])
    return {
        "operation": profile.text(int(operations.name[number])),
        "phase": Phase(int(operations.phase[number])).name.lower(),
        "file": profile.text(int(profile.sites.file[site])) if site >= 0 else None,
        "line": int(profile.sites.line[site]) if site >= 0 else None,
    }


def _name_text(name: Name) -> str:
    return " ".join((*name[:3], posixpath.basename(name[3].replace("\\", "/"))))
