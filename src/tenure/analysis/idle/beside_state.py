"""What lies beside the model while its state is loaded or saved, where no step needs as much memory as that call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.groups import Shapes, View, fingerprint_of, series_of_rows, view_census
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.modules import module_nodes
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.running import running_functions
from tenure.analysis.heap.storage_facts import is_on, main_device
from tenure.analysis.heap.wording import attribute_name, is_merged
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.unread import Program, unread_variables
from tenure.analysis.idle.weights import is_news
from tenure.model.heap import Census, Ints, ReferenceKind, Role
from tenure.model.recording import LOADING, is_at_state_call
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import BESIDE_STATE, GIVEN, UNREAD, HoldingReference, Suspect

BASIS = "a census as the call began, beside all others, those at profiled steps' peaks among them"
_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL)
NAMELESS = -1


def find_beside_state(
    censuses: Sequence[Census], peaks: Sequence[Replay], sources: Mapping[str, SourceFile]
) -> tuple[Suspect, ...]:
    """Suspects of symptom "peak" for the call at which most was alive, by the census as it began: what it was given,
    and of a call that loads, what other variables held, where that is gone by the next of all `censuses`. None where
    one of them shows as much elsewhere, or no profiled step's peak was met.

    Costs a search of one census.
    """
    at_calls = [at for at, census in enumerate(censuses) if is_at_state_call(census.moment)]
    highest = max(at_calls, key=lambda at: _bytes_on(censuses[at], _device_of(censuses[at])), default=-1)
    if highest < 0 or not any(peak.meets_peak() for peak in peaks):
        return ()
    call = _Call.of(censuses, highest)
    if call is None or call.bytes_alive <= call.elsewhere:
        return ()
    unread = frozenset(unread_variables(call.view, Program(sources), called=True))
    return tuple(_suspect(call, held, unread) for held in _groups(call))


@dataclass(frozen=True, eq=False)
class _Call:
    view: View
    device: str
    bytes_alive: int
    elsewhere: int
    """Most bytes that the run is known to have had alive on the device anywhere else."""
    passing: Ints
    """Storages on the device that are gone by the next census."""

    @classmethod
    def of(cls, censuses: Sequence[Census], position: int) -> _Call | None:
        census, others = censuses[position], [each for each in censuses if not is_at_state_call(each.moment)]
        after = next((each for each in censuses[position:] if not is_at_state_call(each.moment)), None)
        if after is None:
            return None
        view, device = view_census(census, Shapes()), _device_of(census)
        here = census.storages.node[is_on(census, device)]
        later = set(after.storage_identities.tolist())
        row_of = view.graph.storage_row
        gone = [node for node in here.tolist() if int(census.storage_identities[row_of[node]]) not in later]
        return cls(
            view=view,
            device=device,
            bytes_alive=_bytes_on(census, device),
            elsewhere=max(_bytes_on(each, device) for each in others),
            passing=np.array(gone, dtype=np.int64),
        )

    @property
    def loads(self) -> bool:
        return self.view.census.moment.startswith(LOADING)

    def bytes_of(self, nodes: Ints | Sequence[int]) -> int:
        return int(self.view.graph.bytes_of_node[nodes].sum())

    def drop_without(self, nodes: Ints | Sequence[int]) -> int:
        """By how much the run's peak falls without these storages."""
        return self.bytes_alive - max(self.bytes_alive - self.bytes_of(nodes), self.elsewhere)

    def is_news(self, nodes: Sequence[int]) -> bool:
        return is_news(self.drop_without(nodes), self.bytes_alive)


@dataclass(frozen=True, eq=False)
class _Held:
    reference: int
    nodes: Ints
    given: bool
    """Whether that is what the call was given; else it lies beside that."""


def _device_of(census: Census) -> str:
    """Where most lies of what the call was given; "" where it was given nothing but weights in use."""
    given = np.flatnonzero(census.storages.role == Role.INPUT)
    return main_device(census, given) if len(given) else ""


def _bytes_on(census: Census, device: str) -> int:
    return int(census.storages.bytes[is_on(census, device)].sum())


def _groups(call: _Call) -> Iterable[_Held]:
    """What goes, by the variable or attribute that has it, and what the call's arguments alone hold."""
    view, storages = call.view, call.view.census.storages
    given = set(storages.node[storages.role == Role.INPUT].tolist())
    modules = frozenset(module_nodes(view.graph))
    held: dict[int, list[int]] = {}
    for node in call.passing.tolist():
        held.setdefault(_name_of(view, modules, _named_path(view, node)), []).append(node)
    for reference, nodes in held.items():
        beside = [node for node in nodes if node not in given]
        if call.loads and reference != NAMELESS and call.is_news(beside):
            yield _Held(reference, np.array(beside, dtype=np.int64), given=False)
        elif call.is_news(nodes) and not given.isdisjoint(nodes):
            yield _Held(reference, np.array(nodes, dtype=np.int64), given=True)


def _named_path(view: View, node: int) -> tuple[int, ...]:
    """The references to a storage from a variable of a running function or module; none where no variable leads there.
    What a call is given hangs on its arguments as well, which no name has."""
    references, path = view.census.references, path_to(view.graph, view.paths, node)
    if path and references.kind[path[0]] not in _VARIABLES:
        for above in view.graph.references_to(int(references.source[path[0]])):
            before = path_to(view.graph, view.paths, int(references.source[above]))
            if references.kind[(*before, above)[0]] in _VARIABLES:
                return (*before, above, *path)
    return path if path and references.kind[path[0]] in _VARIABLES else ()


def _name_of(view: View, modules: Collection[int], path: Sequence[int]) -> int:
    """The variable at the start of a path, or the attribute that leads out of the objects that it goes through; of a
    module the variable. NAMELESS where there is no path."""
    references, graph = view.census.references, view.graph
    name = NAMELESS
    for reference in path:
        if name != NAMELESS and not (is_merged(graph, reference) or attribute_name(graph, reference)):
            break
        if int(references.source[reference]) in modules:
            break
        name = name if is_merged(graph, reference) else reference
    return name


def _suspect(call: _Call, held: _Held, unread: frozenset[int]) -> Suspect:
    view, nodes, running = call.view, held.nodes, running_functions(call.view.census)
    doing = "loading" if call.loads else "saving"
    facts: dict[str, object] = {BESIDE_STATE: doing} | ({GIVEN: True} if held.given else {})
    facts |= {UNREAD: True} if held.reference in unread else {}
    row = (call.bytes_of(nodes), len(nodes))
    measured = Measured(series=series_of_rows(view.census.moment, [view], [row]), facts=facts)
    cut = () if held.reference == NAMELESS else (Droppable(held.reference),)
    made = assemble_suspect(
        Group(view, nodes, nodes, cut=cut, freed=nodes), symptom="peak", measured=measured, fingerprint=""
    )
    if held.reference == NAMELESS:
        made = _by_the_call(made, running)
    return replace(
        made,
        fingerprint=fingerprint_of(f"beside state {doing} {made.holder.scope_function} {made.holder.expression}"),
        peak_bytes=call.bytes_alive,
        peak_drop_bytes=call.drop_without(nodes),
        peak_basis=BASIS,
    )


def _by_the_call(suspect: Suspect, running: Sequence[tuple[str, int, str]]) -> Suspect:
    """What no name holds, for it is made among the arguments: by the line that calls."""
    name = "load_state_dict" if suspect.facts[BESIDE_STATE] == "loading" else "save"
    sites = tuple(SourceLocation(*place) for place in running[:1])
    holder = HoldingReference("unknown", name, f"{name}(...)", sites=sites)
    return replace(suspect, holder=holder, cut=(), path=(), path_text=(), path_targets=(), drops=())
