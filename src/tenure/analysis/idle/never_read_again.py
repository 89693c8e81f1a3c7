"""Memory that only variables hold which no statement reads any more: it stays for as long as their function runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.cuts import freed_storages
from tenure.analysis.heap.graph import reach
from tenure.analysis.heap.groups import (
    Searched,
    Shapes,
    View,
    fingerprint_of,
    in_program_order,
    series_of_rows,
    view_searched,
)
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.modules import module_nodes
from tenure.analysis.heap.storage_facts import is_on, main_device
from tenure.analysis.idle.unread import Program, find_calls_of_loops, unread_variables
from tenure.analysis.idle.weights import is_news
from tenure.model.heap import Ints, NodeKind, Role
from tenure.model.source import SourceFile
from tenure.model.suspect import NEVER_READ_AGAIN, SHARE_IN_GENERATOR, UNREAD_MODULE, Suspect

FEWEST_CENSUSES = 3
LEAST_SPAN = 1 / 3
"""Of the run's steps: so long, up to the last census, the same memory must have been there."""
LEAST_PART = 0.02
"""Of what variables hold together: who holds less of it is not named."""
BASIS = "no statement reads it any more: it was there at every step's peak"


def find_never_read_again(censuses: Sequence[Searched], sources: Mapping[str, SourceFile]) -> tuple[Suspect, ...]:
    """Suspects of symptom "peak": what the variables of one running function, of a generator that waits inside its
    loop, or of the running program's module, hold alone though the text of the function reads none of them after the
    line that it executes.

    Seen in the last censuses over a third of the run. Costs two searches of the last census; censuses before are
    only looked at where something was found.
    """
    at_work = [each for each in censuses if each.graph.census.moment != "exit"]
    if not sources or len(at_work) < FEWEST_CENSUSES:
        return ()
    shapes = Shapes()
    program = Program(sources)
    last = view_searched(max(at_work, key=_when), shapes)
    unread = _unread(last, program)
    if not unread:
        return ()
    views: list[View] = []
    suspects = []
    for scope, references in _by_scope(last, unread).items():
        cut = tuple(Droppable(reference) for reference in references)
        nodes = _held_by(last, cut)
        if not _matters(last, nodes):
            continue
        views = views or in_program_order(view_searched(each, shapes) for each in at_work)
        owner = int(last.census.references.source[references[0]])
        held = _Held(
            scope, program.is_in_loop(last, owner), last.census.nodes.kind[owner] == NodeKind.OBJECT, cut, nodes
        )
        suspects += _suspects(_unread_since(views, last, cut, program), last, held)
    return tuple(suspects)


@dataclasses.dataclass(frozen=True)
class _Held:
    scope: str
    loops: bool
    """Whether what runs there is inside a loop of its own."""
    waits: bool
    """Whether it is a generator that waits for whoever uses its results."""
    cut: tuple[Droppable, ...]
    nodes: Ints


def _when(searched: Searched) -> tuple[int, bool]:
    census = searched.graph.census
    return census.step, census.moment == "forward-entry"


def _unread(view: View, program: Program) -> list[int]:
    """What nobody reads again, of those whose variables last for longer than a turn of somebody's loop."""
    called_anew = find_calls_of_loops(view, program)
    source = view.census.references.source
    return [reference for reference in unread_variables(view, program) if not called_anew(int(source[reference]))]


def _by_scope(view: View, references: Sequence[int]) -> dict[str, list[int]]:
    nodes, census = view.census.nodes, view.census
    found: dict[str, list[int]] = {}
    for reference in references:
        owner = int(view.census.references.source[reference])
        scope = f"{census.text(int(nodes.file[owner]))} {census.text(int(nodes.name[owner]))} {owner}"
        found.setdefault(scope, []).append(reference)
    return found


def _held_by(view: View, cut: Sequence[Droppable]) -> Ints:
    """Storages on the parameters' device that go with these references; what was given to a call or made by one that
    is still running, and gradients, are in use."""
    freed = freed_storages(view.graph, cut)
    storages = view.census.storages
    passing = np.isin(storages.role, (Role.INPUT, Role.GRADIENT))
    return np.intersect1d(freed, storages.node[~passing & is_on(view.census, _device(view))])


def _device(view: View) -> str:
    storages = view.census.storages
    return main_device(view.census, np.flatnonzero(storages.role == Role.PARAMETER))


def _matters(view: View, nodes: Ints) -> bool:
    size = int(view.graph.bytes_of_node[nodes].sum())
    return is_news(size, int(view.census.storages.bytes.sum()))


@dataclasses.dataclass(frozen=True)
class _Unread:
    """A census in which nobody read the variables again, and the references by them there."""

    view: View
    cut: tuple[Droppable, ...]


def _unread_since(views: Sequence[View], last: View, cut: Sequence[Droppable], program: Program) -> tuple[_Unread, ...]:
    """Of the censuses up to the last those in all of which nobody read the variables again: a program's last lines
    read hardly any. Those in which a generator was at work on its next result say nothing of it."""
    variables = {_variable(last, dropped.reference) for dropped in cut}
    scopes = {scope for scope, _ in variables}
    found: list[_Unread] = []
    for view in reversed(views):
        unread = {_variable(view, reference): reference for reference in _unread(view, program)}
        if not variables <= unread.keys():
            if not scopes.isdisjoint(_at_work(view)):
                continue
            break
        found.append(_Unread(view, tuple(Droppable(unread[variable]) for variable in sorted(variables))))
    return tuple(reversed(found))


def _variable(view: View, reference: int) -> tuple[str, str]:
    """Where a variable lives, and its name."""
    return _scope_of(view, int(view.census.references.source[reference])), view.graph.labels[reference]


def _scope_of(view: View, owner: int) -> str:
    """Generators of one function follow each other, a frame stays."""
    nodes = view.census.nodes
    return _function_of(view, owner) if nodes.kind[owner] == NodeKind.OBJECT else f"{nodes.address[owner]:x}"


def _at_work(view: View) -> set[str]:
    """Scopes of generators that run, as they are told while these wait."""
    return {_function_of(view, node) for node in np.flatnonzero(view.census.nodes.kind == NodeKind.FRAME).tolist()}


def _function_of(view: View, node: int) -> str:
    nodes, text = view.census.nodes, view.census.text
    return f"{text(int(nodes.file[node]))} {text(int(nodes.name[node]))}"


def _suspects(unread: Sequence[_Unread], last: View, held: _Held) -> list[Suspect]:
    """The suspect of what lasted, if that matters; only variables that hold a part of it are to be dropped."""
    count, nodes = _same_memory(unread, last, held)
    if not _is_long([each.view for each in unread], count):
        count, nodes = _same_variables(unread, last, held), held.nodes
    if not _is_long([each.view for each in unread], count):
        return []
    cut = tuple(each for each in held.cut if _leads_to_much(last, each, nodes))
    freed = np.intersect1d(nodes, freed_storages(last.graph, cut))
    if not cut or not _is_most(last, freed, nodes):
        return []
    nodes = freed
    views = [each.view for each in unread[-count:]]
    return [_suspect(views, last, dataclasses.replace(held, cut=cut, nodes=nodes))]


def _is_long(views: Sequence[View], count: int) -> bool:
    """Whether so many censuses at the end span enough of the run."""
    steps = [view.census.step for view in views]
    return count >= FEWEST_CENSUSES and steps[-1] - steps[-count] >= max(1, LEAST_SPAN * steps[-1])


def _same_memory(unread: Sequence[_Unread], last: View, held: _Held) -> tuple[int, Ints]:
    """In how many censuses up to the last memory was there that matters, and that memory's storages."""
    kept, count = _owners(last, held.nodes), 0
    for each in reversed(unread):
        present = _present(each.view)
        remaining = {node: mine for node, mine in kept.items() if mine & present}
        if not _matters(last, np.array(sorted(remaining), dtype=np.int64)):
            break
        kept, count = remaining, count + 1
    return count, np.array(sorted(kept), dtype=np.int64)


def _same_variables(unread: Sequence[_Unread], last: View, held: _Held) -> int:
    """In how many censuses up to the last the variables of one that runs a loop held as much as matters, whatever
    they were bound to then: a turn of an outer loop binds them anew."""
    if not held.loops:
        return 0
    counted = 0
    for each in reversed(unread):
        if not _matters(each.view, _held_by(each.view, each.cut)):
            break
        counted += 1
    return counted


def _owners(view: View, storages: Ints) -> dict[int, set[tuple[int, int]]]:
    return {node: view.known_by(node) for node in storages.tolist()}


def _present(view: View) -> set[tuple[int, int]]:
    storages = view.census.storages.node.tolist()
    return {identity for storage in storages for identity in view.known_by(storage)}


def _leads_to_much(view: View, dropped: Droppable, nodes: Ints) -> bool:
    target = int(view.census.references.target[dropped.reference])
    sizes, reached = view.graph.bytes_of_node[nodes], reach(view.graph, np.array([target]))[nodes]
    return int(sizes[reached].sum()) > LEAST_PART * int(sizes.sum())


def _is_most(view: View, freed: Ints, nodes: Ints) -> bool:
    sizes = view.graph.bytes_of_node
    return int(sizes[freed].sum()) >= (1 - 2 * LEAST_PART) * int(sizes[nodes].sum())


def _module_of(last: View, held: _Held) -> dict[str, object]:
    """The fact that it is a module's weights, where the variable of one leads to that, and there is little else."""
    storages = last.census.storages
    weights = np.intersect1d(held.nodes, storages.node[np.isin(storages.role, (Role.PARAMETER, Role.BUFFER))])
    if not _is_most(last, weights, held.nodes):
        return {}
    modules = set(module_nodes(last.graph))
    targets = [int(last.census.references.target[dropped.reference]) for dropped in held.cut]
    module = next((target for target in targets if target in modules), None)
    return {} if module is None else {UNREAD_MODULE: last.graph.type_names[module]}


def _suspect(views: Sequence[View], last: View, held: _Held) -> Suspect:
    size = int(last.graph.bytes_of_node[held.nodes].sum())
    series = series_of_rows(last.census.moment, views, [(size, len(held.nodes))] * len(views))
    made = assemble_suspect(
        Group(last, held.nodes, held.nodes, cut=held.cut, freed=held.nodes),
        symptom="peak",
        measured=Measured(
            series=series,
            facts={"idle_at_peak": True, NEVER_READ_AGAIN: True, "seen_in_both_steps": True}
            | _module_of(last, held)
            | ({SHARE_IN_GENERATOR: size / int(last.census.storages.bytes.sum())} if held.waits else {}),
        ),
        fingerprint="",
    )
    names = " ".join(sorted(reference.name for reference in made.cut))
    return dataclasses.replace(
        made,
        fingerprint=fingerprint_of(f"never read again {held.scope.rpartition(' ')[0]} {names}"),
        peak_drop_bytes=size,
        peak_basis=BASIS,
    )
