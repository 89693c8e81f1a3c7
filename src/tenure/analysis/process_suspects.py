"""All suspects of one process: what lasts, what is idle at the peak, and what grows where no census looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenure.analysis.evidence import Evidence
from tenure.analysis.growth.evaluated_with_graph import (
    find_evaluated_with_graph,
    find_returned_with_graph,
    find_unusual_with_graph,
)
from tenure.analysis.growth.evaluation_growth import find_growing_in_evaluations
from tenure.analysis.growth.falls import with_falls
from tenure.analysis.growth.saved_out_of_sight import told_with_graphs
from tenure.analysis.host.autocast_regions import by_the_region
from tenure.analysis.host.forked_workers import find_forked_workers
from tenure.analysis.host.native_growth import find_native_growth
from tenure.analysis.host.pinned_growth import find_pinned_growth
from tenure.analysis.host.running_profiler import find_profiler_growth
from tenure.analysis.host.system_growth import find_makers, find_system_growth, with_what_threads_hold
from tenure.analysis.idle.autocast_cache import find_autocast_cache
from tenure.analysis.idle.beside_state import find_beside_state
from tenure.analysis.idle.built_anyway import find_built_anyway
from tenure.analysis.idle.carried_in_use import told_where_steps_use_what_is_carried
from tenure.analysis.idle.entries_in_use import told_where_entries_are_in_use
from tenure.analysis.idle.graphs_in_turn import find_graphs_in_turn
from tenure.analysis.idle.handed_on import told_with_what_is_handed_on
from tenure.analysis.idle.idle_at_peak import find_idle_at_peak
from tenure.analysis.idle.idle_modules import without_used
from tenure.analysis.idle.never_read_again import find_never_read_again
from tenure.analysis.idle.peak_figures import (
    give_figures_of_what_rests,
    told_where_they_add_to_no_peak,
    with_higher_peaks,
)
from tenure.analysis.idle.resting_at_peak import find_resting_at_peak
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.unused_graphs import find_unused_graphs
from tenure.analysis.idle.weights import is_worth_a_word_to_the_user
from tenure.analysis.same_statement import join_same_statement
from tenure.analysis.sites.evaluated_calls import told_by_the_call
from tenure.analysis.sites.gradient_sites import told_by_freezing, told_by_other_backward
from tenure.analysis.sites.located import locate
from tenure.analysis.sites.unfinished import named_by_its_cycle, named_by_what_builds_it
from tenure.analysis.suspects import find_suspects
from tenure.analysis.watching.forecast import may_be_none, with_outlook
from tenure.model.suspect import Suspect


def find_lasting(evidence: Evidence, copied: Sequence[Suspect] = ()) -> tuple[Suspect, ...]:
    """What outlives its step: memory, threads, processes and files, with what is known of its growth and its peak;
    `copied` data sets among them."""
    steps, sources, parts = evidence.recording.steps, evidence.sources, evidence.parts
    found = find_suspects(evidence.between_steps, evidence.searched, parts=parts)
    found = parts.changed(found, without_used, evidence.profiles, compiles=evidence.compiles)
    found = parts.each(named_by_its_cycle, parts.each(locate, found, sources), sources)
    found = parts.changed(found, by_the_region, sources)
    found = parts.each(told_by_freezing, found, sources)
    found = parts.each(told_by_other_backward, found, evidence.profiles, sources)
    found = parts.changed(parts.changed(found, join_same_statement), told_with_graphs)
    at_step_end = [census for census in evidence.between_steps if census.moment == "step-end"]
    found = parts.changed(found, with_what_threads_hold, parts.found(find_system_growth, at_step_end, sources))
    found = parts.changed(found, with_falls, steps, sources)
    found = parts.changed(found, with_outlook, steps, evidence.recording.samples, processes=evidence.processes_here)
    found = tuple(each for each in found if not may_be_none(each))
    piled_up = parts.found(_piled_up_in_evaluations, evidence, found)
    found = (*found, *copied, *piled_up, *parts.found(_evaluated_with_graph, evidence, piled_up))
    for peak in evidence.peaks:
        found = parts.changed(found, give_figures_of_what_rests, peak)
    found = parts.changed(found, told_where_entries_are_in_use, evidence.peaks, evidence.of_tensors_between_steps)
    found = parts.changed(found, told_where_steps_use_what_is_carried, evidence.peaks)
    return parts.changed(found, told_where_they_add_to_no_peak, evidence.peaks)


def _piled_up_in_evaluations(evidence: Evidence, told: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """What grows within an evaluation, beside what is `told` already: what the same statement makes, and tensors that
    no name has yet while the evaluation goes on, told by the name that they get at its end."""
    last = max((step.step for step in evidence.recording.steps), default=None)
    found = find_growing_in_evaluations(evidence.evaluations, last_step=last)
    located = (named_by_what_builds_it(locate(each, evidence.sources), evidence.sources) for each in found)
    known = {site for suspect in told for site in suspect.holder.sites}
    bound = {suspect.facts.get("kept_shape") for suspect in told if suspect.through_graph and suspect.holder.sites}
    return tuple(
        suspect
        for suspect in located
        if known.isdisjoint(suspect.holder.sites)
        and (suspect.holder.sites or suspect.facts.get("kept_shape", "") not in bound)
    )


def _evaluated_with_graph(evidence: Evidence, piled_up: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """Graphs of an evaluation, where nothing that is told to pile up there has them."""
    found = (
        find_evaluated_with_graph(evidence.evaluations)
        or find_returned_with_graph(evidence.returned)
        or find_unusual_with_graph(evidence.unusual)
    )
    located = (told_by_the_call(locate(each, evidence.sources), evidence.sources) for each in found)
    known = frozenset().union(*(suspect.storages for suspect in piled_up))
    return tuple(suspect for suspect in located if suspect.storages.isdisjoint(known))


def find_copied_by_workers(evidence: Evidence) -> tuple[Suspect, ...]:
    """Data sets that forked workers copy by reading them."""
    parts = evidence.parts
    return parts.each(locate, parts.found(find_forked_workers, evidence.between_steps), evidence.sources)


def find_idle(evidence: Evidence) -> tuple[Suspect, ...]:
    """What is idle at the peak of a profiled step, and what no statement reads any more."""
    between, peaks, sources, parts = evidence.of_tensors_between_steps, evidence.peaks, evidence.sources, evidence.parts
    idle = [each for peak in peaks for each in parts.found(find_idle_at_peak, peak, between, sources)]
    idle += [each for peak in peaks for each in parts.found(find_graphs_in_turn, peak)]
    found = (
        *parts.changed(tuple(idle), _at_the_highest_peak, peaks),
        *parts.found(find_never_read_again, evidence.searched, sources),
        *parts.found(find_beside_state, evidence.of_tensors, peaks, sources),
    )
    regions = parts.found(find_makers, "autocast", "", "", sources) if peaks else ()
    casts = [each for peak in peaks for each in parts.found(find_autocast_cache, peak, regions)]
    built = [each for peak in peaks for each in parts.found(find_built_anyway, peak, sources)]
    within = parts.changed((*casts, *built), _at_the_highest_peak, peaks)
    found = (*parts.each(locate, found, sources), *_unused_graphs(evidence, idle))
    found = tuple(each for each in found if is_worth_a_word_to_the_user(each))
    return (*parts.each(told_with_what_is_handed_on, found, sources), *within)


def _unused_graphs(evidence: Evidence, idle: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """Graphs at the peaks that no backward pass goes through, beside those that names lead to, which idle by these."""
    told, parts, sources = frozenset().union(*(each.storages for each in idle)), evidence.parts, evidence.sources
    found = [each for peak in evidence.peaks for each in parts.found(find_unused_graphs, peak, told)]
    highest = parts.changed(tuple(found), _at_the_highest_peak, evidence.peaks)
    return tuple(told_by_the_call(each, sources) for each in parts.each(locate, highest, sources))


def _at_the_highest_peak(suspects: tuple[Suspect, ...], peaks: Sequence[Replay]) -> tuple[Suspect, ...]:
    """What idles in several profiles is told once, by the one in which the peak is highest."""
    best: dict[str, Suspect] = {}
    for suspect in with_higher_peaks(suspects, peaks):
        known = best.setdefault(suspect.fingerprint, suspect)
        if (suspect.peak_bytes or 0) > (known.peak_bytes or 0):
            best[suspect.fingerprint] = suspect
    return tuple(best.values())


def find_resting(evidence: Evidence, told: Sequence[Suspect], carried: Sequence[Suspect] = ()) -> tuple[Suspect, ...]:
    """What the last two profiled steps leave untouched, beside what is `told` already: another pair of steps, of a
    phase that is over, may have used it. `carried` is what is held over forwards and no rule knows."""
    if not evidence.peaks:
        return ()
    found = evidence.parts.found(_find_resting, evidence, told, carried)
    return evidence.parts.each(locate, found, evidence.sources)


def _find_resting(evidence: Evidence, told: Sequence[Suspect], carried: Sequence[Suspect]) -> Iterable[Suspect]:
    earlier = (peak.used() for peak in evidence.peaks[:-1])
    return find_resting_at_peak(
        evidence.peaks[-1],
        evidence.of_tensors_between_steps,
        told,
        evidence.sources,
        used_before=frozenset().union(*earlier),
        carried=frozenset((each.holder.owner_type, each.holder.name) for each in carried),
    )


def find_beyond_censuses(evidence: Evidence, *, explained: float) -> tuple[Suspect, ...]:
    """Host memory that grows beyond `explained` bytes per step: pinned, and that of C and C++ code."""
    recording, parts = evidence.recording, evidence.parts
    pinned = parts.found(find_pinned_growth, recording.steps, explained, evidence.sources)
    of_pinned = sum(suspect.growth_bytes_per_step or 0 for suspect in pinned)
    profile = evidence.profiles[-1] if evidence.profiles else None
    if not evidence.excludes_tensors:
        return pinned
    profiled = parts.found(find_profiler_growth, recording.steps, explained + of_pinned, evidence.sources)
    if profiled:
        return (*pinned, *profiled)
    native = parts.found(
        find_native_growth, evidence.steps_seen, explained + of_pinned, process=recording.process, profile=profile
    )
    return (*pinned, *native)
