"""The ways to mend a finding by its rule: a table of rules and edits, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from tenure.fixing.cases import CYCLES, EXCEPTIONS, GRAPHS, GROWING, HOOKS, IDLE, MODULES, ROOTS, VIEWS, Case, Ways
from tenure.fixing.ways_to_change import (
    by_clones,
    by_computed_values,
    by_detaching,
    by_dropped_tracebacks,
    by_early_results,
    by_settled_records,
    by_weak_references,
)
from tenure.fixing.ways_to_let_go import (
    by_bounds,
    by_closed_generators,
    by_deleted_variables,
    by_dropped_cache,
    by_ended_subscriptions,
    by_left_handles,
    by_letting_go,
    by_properties,
    by_settled_futures,
    by_taken_keys,
    by_unread_parts,
)
from tenure.model.finding import Edit
from tenure.syntax.edits.asked_gradients import ask_for_gradients, ask_for_those_that_are_read
from tenure.syntax.edits.cut_chains import cut_chain
from tenure.syntax.edits.dismissed_owners import dismiss_before_forgotten
from tenure.syntax.edits.exit_stacks import leave_stacks_sooner
from tenure.syntax.edits.finalizers import finalize_without_owner
from tenure.syntax.edits.forgotten_handles import number_handles, remove_where_forgotten
from tenure.syntax.edits.given_back import take_back
from tenure.syntax.edits.kept_entries import clear_before_filled
from tenure.syntax.edits.kept_handles import remove_handles
from tenure.syntax.edits.kept_newest import keep_newest_rows
from tenure.syntax.edits.kept_parts import detach_received
from tenure.syntax.edits.left_states import forget_frozen_states, forget_states
from tenure.syntax.edits.let_go import drop_inner_function, let_go_behind_reads
from tenure.syntax.edits.own_hooks import read_detached
from tenure.syntax.edits.reopened_loaders import reopen_each_pass
from tenure.syntax.edits.replaced_handlers import give_back_former
from tenure.syntax.edits.saved_together import save_together


def all_ways(case: Case) -> Iterator[tuple[Edit, ...]]:
    """One after another, made as they are asked for; () where an edit does not fit. May raise SourceError.

    A ring through a hook is opened as any other.
    """
    is_ring = case.finding.symptom == "cycle" and case.finding.rule in HOOKS
    known_as = CYCLES if is_ring else frozenset({case.finding.rule})
    for rules, make in _WAYS:
        if not rules.isdisjoint(known_as):
            yield from make(case)


_WAYS: tuple[tuple[frozenset[str], Callable[[Case], Ways]], ...] = (
    (HOOKS, lambda case: remove_where_forgotten(case.source, case.line)),
    (HOOKS | MODULES, lambda case: remove_handles(case.source, case.line)),
    (HOOKS, lambda case: [number_handles(case.source, case.line)]),
    (HOOKS, lambda case: dismiss_before_forgotten(case.yours, case.source, case.line)),
    (MODULES, by_left_handles),
    (ROOTS, lambda case: take_back(case.source, case.line)),
    (ROOTS | GROWING, lambda case: [give_back_former(case.source, case.line)]),
    (ROOTS | GROWING, lambda case: [finalize_without_owner(case.source, case.line)]),
    (GRAPHS, by_detaching),
    (GRAPHS | frozenset({"TN305"}), lambda case: [detach_received(case.source, case.line)]),
    (VIEWS, by_clones),
    (EXCEPTIONS, by_dropped_tracebacks),
    (frozenset({"TN404"}), lambda case: forget_states(case.yours)),
    (frozenset({"TN404"}), lambda case: forget_frozen_states(case.yours, case.name)),
    (frozenset({"TN104"}), lambda case: ask_for_gradients(case.source, case.line)),
    (frozenset({"TN104"}), lambda case: let_go_behind_reads([case.source], "grad", empties=False)),
    (frozenset({"TN405"}), lambda case: let_go_behind_reads(case.yours, "grad", empties=False)),
    (frozenset({"TN305"}), by_closed_generators),
    (GROWING | GRAPHS | MODULES, lambda case: [cut_chain(case.yours, *case.place)]),
    (frozenset({"TN405"}), lambda case: chain.from_iterable(map(ask_for_those_that_are_read, case.yours))),
    (frozenset({"TN103"}), lambda case: save_together(case.source, case.line)),
    (CYCLES | GRAPHS, lambda case: [drop_inner_function(*case.place)]),
    (CYCLES, lambda case: [read_detached(*case.place)]),
    (CYCLES, by_weak_references),
    (frozenset({"TN205"}), by_dropped_cache),
    (GROWING | GRAPHS | EXCEPTIONS | MODULES | ROOTS, by_settled_records),
    (GROWING | GRAPHS | MODULES | ROOTS, by_early_results),
    (GROWING | GRAPHS | EXCEPTIONS | ROOTS, by_settled_futures),
    (GROWING | GRAPHS | ROOTS | frozenset({"TN305"}), lambda case: leave_stacks_sooner(case.source, case.line)),
    (GROWING | GRAPHS | ROOTS, by_ended_subscriptions),
    (GROWING, lambda case: [reopen_each_pass(case.source, case.line)]),
    (GROWING | IDLE | frozenset({"TN205"}), by_properties),
    (GROWING | GRAPHS | IDLE | MODULES | EXCEPTIONS | frozenset({"TN404"}), by_computed_values),
    (GROWING | GRAPHS | MODULES, by_unread_parts),
    (GROWING | GRAPHS, by_bounds),
    (GROWING | GRAPHS | IDLE, lambda case: [keep_newest_rows(case.yours, *case.place)]),
    (GROWING | GRAPHS | MODULES, lambda case: clear_before_filled(case.yours, *case.place)),
    (IDLE, by_taken_keys),
    (IDLE | MODULES | GRAPHS, by_deleted_variables),
    (IDLE | MODULES | GROWING | GRAPHS, by_letting_go),
)
