"""Modules that rest on their device: called at first, then by nobody, in no optimizer, and never let go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.carriers import (
    by_an_attribute,
    by_the_functions_name,
    by_the_hook,
    drop_the_carrier,
    with_parts,
)
from tenure.analysis.heap.graph import GRAPH_REFERENCES, Bools, Graph, object_of, reach, unquoted
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, in_program_order, series_of_nodes
from tenure.analysis.heap.held_group import Group, cut_of, out_of_library_tables
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.modules import (
    all_below,
    children_of_modules,
    module_nodes,
    parameter_tensors,
    references_to_submodules,
)
from tenure.analysis.heap.optimizers import never_stepped, optimizer_nodes
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.storage_facts import is_on
from tenure.analysis.idle.passing_optimizers import (
    names_of_modules,
    passed_by,
    stepped_no_more,
    stopped_with,
    with_state,
)
from tenure.analysis.idle.rests import (
    LEAST_WINDOWS,
    Rest,
    Window,
    count_steps,
    find_never_called,
    find_rest,
    windows_of,
)
from tenure.analysis.idle.weights import weighs_enough
from tenure.analysis.kept.named_modules import name_that_went
from tenure.model.heap import Ints, ReferenceKind
from tenure.model.profile import StepProfile
from tenure.model.suspect import IDLE_FROM, NEVER_CALLED, PASSED_BY, STILL_USED, Suspect, is_of_optimizers

LEAST_SHARE = 0.05
"""Of the bytes alive. A module that weighs less is no news."""
BASIS = "nobody called it in the later steps, all through which it is alive"
_STILL_USED_SHARE = 0.05
"""Of a module's bytes: what is used without a call of it, as a buffer is, and leaves the rest idle."""
_IN_OPTIMIZER = "an optimizer that goes on has its parameters: the program may come back to it"
_STOPPED = "an optimizer has it that trains nothing else or has stopped: the program may come back to both"
_NEVER_CALLED = "nobody was seen to call it: the program may yet do so"
_LAST_CALL = "last_called_step"
_USED_BY_GRAPH = (ReferenceKind.SAVED, ReferenceKind.NEXT)
_PASSING = (*GRAPH_REFERENCES, ReferenceKind.GRAD, ReferenceKind.BASE)
_COMPILED = "torch._dynamo.eval_frame.OptimizedModule"
_LISTS = ("torch.nn.modules.container.ModuleList", "torch.nn.modules.container.ModuleDict")
_TORCH = "torch."
_CALLING = ("torch.nn.modules.container.", "torch.nn.parallel.distributed.DistributedDataParallel")
"""Of torch's own modules with parts, those that call them. Others hand weights to fused operations, run in C++, or call
copies on other devices, as a transformer's layer, a scripted module and DataParallel do."""


@dataclass(frozen=True)
class _Idle:
    node: int
    rest: Rest
    storages: Ints
    parameters: frozenset[tuple[int, int]]
    by_registry: Bools
    """References by which modules have it, or what is inside of it, among their submodules, and those to their hooks:
    calls tell who is in use, where calls inside modules were watched."""
    stopped: frozenset[int] = frozenset()
    """Optimizers that train nothing but modules that rest."""


def find_idle_modules(views: Sequence[View], shapes: Shapes, *, told: Collection[str] = ()) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": modules that nobody calls any more though nobody said that they are done.

    A module counts that was called in every watched window from one up to another, or with breaks that were short, and
    in none of at least three later ones over a third of the run; or, with doubt, of fewer that are as long after three
    with a call. A module inside
    counts where none around it was ever called. While data are prepared, before an optimizer's first step, several
    modules may take turns.
    What an optimizer that goes on has, a graph uses, or a module in use refers to, is none; nor what was never called,
    such as an average of weights. Where calls inside other modules were watched, a part of a module in use counts too,
    which refers to it as its submodule only, and with doubt also where it was never called; not beside one in use that
    is made like it, for data may choose between them.
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
        for idle in _with_stopped_optimizers(ordered, _candidates(ordered, windows, unfinished))
        if last.graph.type_names[idle.node] not in told and _is_unused(ordered, idle) and _is_on_device(last, idle)
    ]
    by_place: dict[str, list[_Idle]] = {}
    for idle in found:
        by_place.setdefault(_place_of(last, shapes, idle), []).append(idle)
    return tuple(_suspect(ordered, group, place) for place, group in by_place.items() if _weighs_enough(last, group))


def _place_of(last: View, shapes: Shapes, idle: _Idle) -> str:
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


def _candidates(ordered: Sequence[View], windows: Sequence[Window], unfinished: frozenset[int]) -> list[_Idle]:
    """The outermost modules of the last census that rest, with what they weigh."""
    last = ordered[-1]
    graph, address = last.graph, last.census.nodes.address
    children = children_of_modules(graph)
    inside = {child for below in children.values() for child in below}
    ever_called = unfinished.union(*(window.called for window in windows))
    sees_inside = all(window.sees_inside for window in windows)
    called = [node for node in children if int(address[node]) in ever_called]
    of_called = {below for node in called for below in all_below(children, node)}
    tensors = parameter_tensors(graph)
    steps = count_steps(last.census.step, windows)
    waiting, seen = [node for node in children if node not in inside], set()
    found = []
    while waiting:
        node = waiting.pop()
        if node in seen or not last.paths.held_by_root(node):
            continue
        seen.add(node)
        below = all_below(children, node)
        subtree = frozenset(address[sorted(below)].tolist())
        rest = find_rest(subtree, int(address[node]), windows, unfinished, steps)
        if rest is not None and rest.is_short and not name_that_went(ordered, int(address[node])):
            rest = None
        if rest is None and sees_inside and node in of_called:
            rest = find_never_called(subtree, windows, unfinished)
        if rest is not None and not (sees_inside and _is_one_of_several(last, children, node, rest)):
            found.append(_weighed(graph, node, rest, tensors, below if sees_inside else set()))
        elif int(address[node]) not in ever_called or (sees_inside and _calls_its_parts(graph, node)):
            waiting += children[node]
    return found


def _with_stopped_optimizers(ordered: Sequence[View], candidates: Sequence[_Idle]) -> list[_Idle]:
    """With those that train what rests alone, and those that no step of theirs has changed since it rests."""
    stopped = stopped_with(ordered[-1], [idle.storages for idle in candidates]) if candidates else frozenset()
    later = {since: stepped_no_more(ordered[since:]) for since in {idle.rest.since for idle in candidates}}
    return [replace(idle, stopped=stopped | later[idle.rest.since]) for idle in candidates]


def _is_one_of_several(last: View, children: Mapping[int, Sequence[int]], node: int, rest: Rest) -> bool:
    """A list of modules has it and another of its type that is in use: an expert that data may choose again, a layer
    that chance leaves out."""
    types, address = last.graph.type_names, last.census.nodes.address
    return any(
        types[other] == types[node] and int(address[other]) in rest.used_later
        for above, inside in children.items()
        if types[above] in _LISTS and node in inside
        for other in inside
    )


def _calls_its_parts(graph: Graph, node: int) -> bool:
    name = graph.type_names[node]
    return not name.startswith(_TORCH) or name.startswith(_CALLING)


def _weighed(
    graph: Graph, node: int, rest: Rest, tensors: Iterable[tuple[int, int, int]], calls_seen: Collection[int]
) -> _Idle:
    """`calls_seen`: the modules, itself among them, whose calls by other modules would have been seen."""
    below = reach(graph, np.array([node]), without=np.isin(graph.census.references.kind, _PASSING))
    mine = [(address, size, storage) for address, size, storage in tensors if below[storage]]
    storages = np.array(sorted({storage for _, _, storage in mine}), dtype=np.int64)
    return _Idle(
        node,
        rest,
        storages,
        frozenset((address, size) for address, size, _ in mine),
        by_registry=references_to_submodules(graph, calls_seen)
        | (graph.hook_tables[graph.census.references.source] & bool(calls_seen)),
    )


def _is_unused(ordered: Sequence[View], idle: _Idle) -> bool:
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


def _is_on_device(last: View, idle: _Idle) -> bool:
    """Its memory lies where memory is scarce: on a device, where the program uses one at all."""
    on_cpu, on_meta = is_on(last.census, "cpu"), is_on(last.census, "meta")
    mine = np.isin(last.census.storages.node, idle.storages)
    scarce = ~on_meta if bool((on_cpu | on_meta).all()) else ~on_cpu & ~on_meta
    return bool(scarce[mine].all())


def _weighs_enough(last: View, group: Sequence[_Idle]) -> bool:
    mine = int(last.graph.bytes_of_node[_memory(group)].sum())
    return weighs_enough(mine, int(last.census.storages.bytes.sum()), share=LEAST_SHARE)


def _memory(group: Sequence[_Idle]) -> Ints:
    return np.unique(np.concatenate([idle.storages for idle in group]))


def _suspect(ordered: Sequence[View], group: Sequence[_Idle], place: str) -> Suspect:
    last, heaviest = ordered[-1], max(group, key=lambda idle: len(idle.parameters))
    parameters = frozenset().union(*(idle.parameters for idle in group))
    alive = [_alive(view, parameters) for view in ordered]
    nodes = frozenset(idle.node for idle in group)
    doubts = [_doubt(ordered, idle) for idle in group]
    passed, stopped = _IN_OPTIMIZER in doubts, _STOPPED in doubts
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
            | ({NEVER_CALLED: True} if _NEVER_CALLED in doubts else {}),
        ),
        fingerprint=fingerprint_of(f"idle {place}"),
    )
    suspect = by_an_attribute(with_parts(_by_the_modules_own_name(suspect), last, cut))
    if in_tables:
        suspect = replace(suspect, holder=suspect.cut[0], holder_is_yours=False)
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


def _doubt(ordered: Sequence[View], idle: _Idle) -> str:
    """Why the module may be in use all the same, or ""."""
    last, rest = ordered[-1], idle.rest
    if not optimizer_nodes(last.graph):
        return "no optimizer exists: the program may come back to it"
    if _is_in_optimizer(last.graph, idle, set(optimizer_nodes(last.graph)) - idle.stopped):
        return _IN_OPTIMIZER
    if _is_in_optimizer(last.graph, idle, idle.stopped):
        return _STOPPED
    if not rest.times_called:
        return _NEVER_CALLED
    if rest.times_called < 2 and not rest.at_first_call:
        return "it was seen in use only once"
    if rest.had_breaks:
        return "it was used now and then: it may be used again"
    if rest.began_late:
        return "its use began late and ended: such a phase may come again"
    if rest.is_short:
        return "it has rested for a few steps only"
    if rest.times_idle < LEAST_WINDOWS:
        return "few censuses were taken since it was last called"
    if rest.last_step > last.census.step / 2:
        return "it was in use until late"
    if _has_twin(last, idle):
        return "a module in use is made like it: it may be its copy or average, updated without a call"
    return ""


def _is_in_optimizer(graph: Graph, idle: _Idle, optimizers: Collection[int]) -> bool:
    """One of these that has stepped it."""
    without = np.isin(graph.census.references.kind, GRAPH_REFERENCES) | never_stepped(graph)
    below = reach(graph, np.array(sorted(optimizers), dtype=np.int64), without=without)
    return bool(below[idle.storages].any())


def _has_twin(last: View, idle: _Idle) -> bool:
    """A trained or called module of its type has parameters of the same sizes."""
    graph, sizes = last.graph, sorted(size for _, size in idle.parameters)
    tensors = parameter_tensors(graph)
    type_name = graph.type_names[idle.node]
    others = [n for n in children_of_modules(graph) if n != idle.node and graph.type_names[n] == type_name]
    optimizers = reach(graph, np.array(optimizer_nodes(graph), dtype=np.int64))
    for other in others:
        below = reach(graph, np.array([other]), without=np.isin(graph.census.references.kind, _PASSING))
        mine = [(size, storage) for _, size, storage in tensors if below[storage]]
        is_used = int(last.census.nodes.address[other]) in idle.rest.used_later
        is_used = is_used or any(optimizers[storage] for _, storage in mine)
        if is_used and sorted(size for size, _ in mine) == sizes:
            return True
    return False
