"""Modules that rest on their device: called at first, then by nobody, in no optimizer, and never let go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.carriers import (
    by_an_attribute,
    by_the_functions_name,
    by_the_hook,
    by_the_librarys_table,
    by_the_methods_name,
    drop_the_carrier,
    with_parts,
)
from tenure.analysis.heap.graph import GRAPH_REFERENCES, object_of, reach, unquoted
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, in_program_order, series_of_nodes
from tenure.analysis.heap.held_group import Group, cut_of, out_of_library_tables
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.modules import module_nodes, parameter_tensors
from tenure.analysis.heap.optimizers import never_stepped, optimizer_nodes
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import is_on
from tenure.analysis.idle.passing_optimizers import names_of_modules, passed_by, with_state
from tenure.analysis.idle.resting_modules import RestingModule, find_resting
from tenure.analysis.idle.rests import LEAST_WINDOWS, windows_of
from tenure.analysis.idle.use_in_doubt import IN_OPTIMIZER, LITTLE, STOPPED, UNSEEN, doubt_about
from tenure.analysis.idle.weights import may_weigh_enough, weighs_enough
from tenure.analysis.kept.named_modules import name_that_went
from tenure.model.heap import Ints, ReferenceKind
from tenure.model.profile import StepProfile
from tenure.model.suspect import (
    IDLE_FROM,
    NEVER_CALLED,
    PASSED_BY,
    STILL_USED,
    UNREAD_MODULE,
    Suspect,
    is_of_optimizers,
)

LEAST_SHARE = 0.05
"""Of the bytes alive. A module that weighs less is no news."""
BASIS = "nobody called it in the later steps, all through which it is alive"
_STILL_USED_SHARE = 0.05
"""Of a module's bytes: what is used without a call of it, as a buffer is, and leaves the rest idle."""
_LAST_CALL = "last_called_step"
_COMPILED = "torch._dynamo.eval_frame.OptimizedModule"
_USED_BY_GRAPH = (ReferenceKind.SAVED, ReferenceKind.NEXT)


def find_idle_modules(views: Sequence[View], shapes: Shapes, *, told: Collection[str] = ()) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": modules that nobody calls any more though nobody said that they are done.

    A module counts that was called in every watched window from one up to another, or with breaks that were short, and
    in none of at least three later ones over a third of the run; or, with doubt, of fewer that are as long after three
    with a call. A module inside
    counts where none around it was ever called. While data are prepared, before an optimizer's first step, several
    modules may take turns.
    What an optimizer that goes on has, a graph uses, or a module in use refers to, is none; nor what was never called,
    such as an average of weights. Where calls inside other modules were watched, a part of a module in use counts too,
    which refers to it as its submodule only; not beside one in use that is made like it, for data may choose between
    them. There counts with doubt also what was never called, as a network whose weights functions used before the first
    step; not a whole one that is made like one in use, as its copy is.
    One that only prepared data, and that nothing has by name any more, is told with doubt after a shorter rest.
    `told` are types of modules that were found to be released. Weights used without a call and calls in windows that
    were not watched cannot be seen: findings of this kind are never certain.
    """
    ordered = in_program_order(views)
    windows, unfinished = windows_of(ordered)
    if len(windows) <= LEAST_WINDOWS:
        return ()
    last = ordered[-1]
    if any(name == _COMPILED for name in last.graph.type_names):
        return ()
    found = [
        idle
        for idle in find_resting(ordered, windows, unfinished)
        if last.graph.type_names[idle.node] not in told and _is_unused(ordered, idle) and _is_on_device(last, idle)
    ]
    by_place: dict[str, list[RestingModule]] = {}
    for idle in found:
        by_place.setdefault(_place_of(last, shapes, idle), []).append(idle)
    groups = (
        (place, group)
        for place, group in by_place.items()
        if may_weigh_enough(*_weight(last, group), share=LEAST_SHARE)
    )
    return tuple(_suspect(ordered, group, place) for place, group in groups)


def _place_of(last: View, shapes: Shapes, idle: RestingModule) -> str:
    """What modules that rest in the same way share: their shape, or of those never called the name by which modules of
    one type have them."""
    path = path_to(last.graph, last.paths, idle.node)
    if idle.rest.times_called or len(path) < 2:
        return shapes.text(int(last.shape[idle.node]))
    owner = object_of(last.graph, int(last.census.references.source[path[-2]]))
    return f"{last.graph.type_names[owner]}.{unquoted(last.graph.labels[path[-1]])}, never called"


def without_used(
    found: Iterable[Suspect], profiles: Sequence[StepProfile], *, compiles: bool = False
) -> tuple[Suspect, ...]:
    """The suspects but idle modules, and weights without their module, whose memory an operation of later steps used,
    but for a small part of it, or of modules that were never called may have used where none was watched; where the
    program compiles, without any idle module: from within compiled code modules are called unseen."""
    told = (_but_for_a_part(suspect, profiles) if IDLE_FROM in suspect.facts else suspect for suspect in found)
    return tuple(
        suspect
        for suspect in told
        if suspect is not None
        and not (compiles and _LAST_CALL in suspect.facts)
        and (profiles or NEVER_CALLED not in suspect.facts)
    )


def _but_for_a_part(suspect: Suspect, profiles: Iterable[StepProfile]) -> Suspect | None:
    """The suspect, with how many of its bytes later operations used; None where that is more than a small part: a
    decoder rests though its scale is read, and a function may use the weights of a module without a call."""
    idle_from = int(str(suspect.facts[IDLE_FROM]))
    later = (each.used_from_before() for each in profiles if each.step - 1 >= idle_from)
    used = sum(size for _, size in suspect.storages & frozenset().union(*later))
    if not used:
        return suspect
    if NEVER_CALLED in suspect.facts or used > _STILL_USED_SHARE * suspect.retained_bytes:
        return None
    return replace(suspect, facts=suspect.facts | {STILL_USED: used})


def without_told_unread(found: Iterable[Suspect], idle: Iterable[Suspect]) -> tuple[Suspect, ...]:
    """The suspects but modules that nobody was seen to call, of which `idle` tells surely that no statement reads them
    any more."""
    unread = frozenset().union(*(each.storages for each in idle if UNREAD_MODULE in each.facts))
    return tuple(each for each in found if NEVER_CALLED not in each.facts or each.storages.isdisjoint(unread))


def _is_unused(ordered: Sequence[View], idle: RestingModule) -> bool:
    """No optimizer but one that has stopped steps its parameters, no module in use leads to them, no later graph was
    made with them."""
    last = ordered[-1]
    graph, nodes = last.graph, last.census.nodes
    if not len(idle.storages):
        return False
    used = np.flatnonzero(np.isin(nodes.address, sorted(idle.rest.used_later)))
    seeds = np.union1d(used, np.array(sorted({*optimizer_nodes(graph)} - idle.stopped), dtype=np.int64))
    without = np.isin(graph.census.references.kind, GRAPH_REFERENCES) | idle.by_registry | never_stepped(graph)
    without |= np.isin(graph.census.references.target, sorted(idle.stopped))
    if reach(graph, seeds, without=without)[idle.storages].any():
        if not idle.rest.times_called:
            return False
        without |= passed_by(ordered[idle.rest.since :])
        if reach(graph, seeds, without=without)[idle.storages].any():
            return False
    mine = {address for address, _ in idle.parameters} | set(nodes.address[idle.storages].tolist())
    return not any(mine & _used_by_graphs(view) for view in ordered[idle.rest.since :])


def _used_by_graphs(view: View) -> set[int]:
    references = view.census.references
    targets = references.target[np.isin(references.kind, _USED_BY_GRAPH)]
    return set(view.census.nodes.address[targets].tolist())


def _is_on_device(last: View, idle: RestingModule) -> bool:
    """Its memory lies where memory is scarce: on a device, where the program uses one at all."""
    on_cpu, on_meta = is_on(last.census, "cpu"), is_on(last.census, "meta")
    mine = np.isin(last.census.storages.node, idle.storages)
    scarce = ~on_meta if bool((on_cpu | on_meta).all()) else ~on_cpu & ~on_meta
    return bool(scarce[mine].all())


def _weight(last: View, group: Sequence[RestingModule]) -> tuple[int, int]:
    """Bytes of their parameters, and all that are alive."""
    return int(last.graph.bytes_of_node[_memory(group)].sum()), int(last.census.storages.bytes.sum())


def _memory(group: Sequence[RestingModule]) -> Ints:
    return np.unique(np.concatenate([idle.storages for idle in group]))


def _suspect(ordered: Sequence[View], group: Sequence[RestingModule], place: str) -> Suspect:
    last, heaviest = ordered[-1], max(group, key=lambda idle: len(idle.parameters))
    parameters = frozenset().union(*(idle.parameters for idle in group))
    alive = [_alive(view, parameters) for view in ordered]
    nodes = frozenset(idle.node for idle in group)
    doubts = [doubt_about(ordered, idle) for idle in group]
    doubts += [] if weighs_enough(*_weight(last, group), share=LEAST_SHARE) else [LITTLE]
    passed, stopped = IN_OPTIMIZER in doubts, STOPPED in doubts
    memory = with_state(last, _memory(group)) if passed or stopped else _memory(group)
    group_of = Group(last, memory, memory, parts=nodes)
    if passed:
        group_of = replace(group_of, cut=names_of_modules(last, nodes), freed=memory)
    went = {name_that_went(ordered, int(last.census.nodes.address[idle.node])) for idle in group}
    in_tables = () if passed or stopped else _as_a_module_in_library_tables(last, memory)
    cut = in_tables or by_the_hook(last, by_the_functions_name(last, cut_of(group_of)), memory)
    suspect = assemble_suspect(
        replace(group_of, cut=in_tables or drop_the_carrier(last, cut, memory)),
        symptom="survivor",
        measured=Measured(
            series=series_of_nodes(last.census.moment, ordered, alive),
            facts={
                "module": last.graph.type_names[heaviest.node],
                _LAST_CALL: max(idle.rest.last_step for idle in group),
                IDLE_FROM: ordered[max(idle.rest.since for idle in group)].census.step + 1,
                "windows_called": min(idle.rest.times_called for idle in group),
                "windows_idle": min(idle.rest.times_idle for idle in group),
                "doubt": next(filter(None, doubts), ""),
            }
            | ({} if "" in went else {"released": min(went)})
            | ({PASSED_BY: True} if passed else {})
            | ({"in_optimizer": True} if stopped else {})
            | ({NEVER_CALLED: True} if UNSEEN in doubts else {}),
        ),
        fingerprint=fingerprint_of(f"idle {place}"),
    )
    suspect = by_an_attribute(with_parts(_by_the_modules_own_name(suspect), last, cut))
    suspect = by_the_methods_name(suspect, last, heaviest.node)
    if in_tables:
        suspect = by_the_librarys_table(suspect)
    weight = int(last.graph.bytes_of_node[memory].sum())
    if passed or stopped:  # the path goes by the optimizer, which has them too
        suspect = replace(suspect, holder=suspect.cut[0])
    if passed:  # without the optimizer's own references, which nobody drops one by one, nothing goes
        suspect = replace(suspect, drops=())
    return replace(suspect, peak_drop_bytes=weight, peak_basis=BASIS)


def _as_a_module_in_library_tables(last: View, memory: Ints) -> tuple[Droppable, ...]:
    """Elements of a library's tables that have to go, where each is a module and not what happens to lead to one."""
    cut, targets = out_of_library_tables(last, memory), last.census.references.target
    noted = {int(targets[dropped.reference]) for dropped in cut}
    return cut if noted <= set(module_nodes(last.graph)) else ()


def _by_the_modules_own_name(suspect: Suspect) -> Suspect:
    """The suspect; where an optimizer that never stepped its parameters has them too, told by who has the module."""
    own = [each for each in suspect.cut if not is_of_optimizers(each.owner_type)]
    if not own or len(own) == len(suspect.cut):
        return suspect
    return replace(suspect, holder=own[0], facts=suspect.facts | {"in_optimizer": True})


def _alive(view: View, parameters: frozenset[tuple[int, int]]) -> Ints:
    nodes = {node for address, size, node in parameter_tensors(view.graph) if (address, size) in parameters}
    return np.array(sorted(nodes), dtype=np.int64)
