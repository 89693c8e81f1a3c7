"""Ways by which what is kept goes: bounded, taken out, closed, set to None or deleted."""

from __future__ import annotations

import math
from itertools import pairwise

from tenure.fixing.cases import IDLE, MODULES, Case, Ways
from tenure.fixing.ways_to_tensors import (
    attributes_in,
    below_holder,
    kinds_on_way,
    labels_on_way,
    objects_above,
    objects_on_way,
    references_of,
    type_of_container,
)
from tenure.syntax.edits.bounded_caches import cache_makers, compute_at_each_read, drop_cache, needs_caches
from tenure.syntax.edits.class_fields import is_named_tuple
from tenure.syntax.edits.closed_generators import close_behind_loops
from tenure.syntax.edits.dropped_names import drop_names
from tenure.syntax.edits.ended_subscriptions import end_subscriptions
from tenure.syntax.edits.kept_best import keep_best
from tenure.syntax.edits.kept_entries import (
    bound_keys,
    filled_when_missing,
    take_key_when_read,
    take_out_when_read,
)
from tenure.syntax.edits.kept_handles import lines_that_register, remove_handles
from tenure.syntax.edits.kept_newest import keep_newest
from tenure.syntax.edits.kept_values import computes_on, find_kept
from tenure.syntax.edits.last_use import drop_each
from tenure.syntax.edits.let_go import (
    let_go_at_end,
    let_go_at_start,
    let_go_before,
    let_go_behind_reads,
    let_go_where_it_ends,
    stores_of,
)
from tenure.syntax.edits.settled_futures import FUTURES, discard_when_done
from tenure.syntax.edits.skipped_reads import let_go_where_skipped
from tenure.syntax.edits.unread_parts import leave_out_unread

_FEWEST_KEYS = 4
_VARIABLES = ("local", "global")


def by_left_handles(case: Case) -> Ways:
    """Hooks that lead to a module, removed by who registers them."""
    if any("_hooks" in each or "(hook" in each for each in references_of(case.finding)):
        for source in case.yours:
            for line in lines_that_register(source):
                yield from remove_handles(source, line)


def by_dropped_cache(case: Case) -> Ways:
    """The function without its cache."""
    if not needs_caches(case.yours):
        yield drop_cache(case.source, case.line, by_trial=True, makers=cache_makers(case.yours))


def by_properties(case: Case) -> Ways:
    """A property for a cached property."""
    for label in dict.fromkeys([*objects_on_way(case.finding), case.name]):
        for source in case.yours:
            yield compute_at_each_read(source, label)


def by_closed_generators(case: Case) -> Ways:
    """Generators closed behind the loop that leaves them."""
    way = below_holder(case.finding, above=1)
    names = [each.removeprefix(".") for (each, _), (_, kind) in pairwise(way) if kind == "generator"]
    for name in dict.fromkeys([*names, case.name]):
        yield from close_behind_loops(case.yours, name)


def by_settled_futures(case: Case) -> Ways:
    """Futures that leave their set when they are done."""
    if FUTURES & set(kinds_on_way(case.finding)):
        yield discard_when_done(*case.place)


def by_ended_subscriptions(case: Case) -> Ways:
    """Who subscribes and does not unsubscribe does it at its end."""
    for label in attributes_in(references_of(case.finding)):
        yield from end_subscriptions(case.yours, label)


def by_bounds(case: Case) -> Ways:
    """A bound for what is kept by key or in order."""
    size = max(_FEWEST_KEYS, 2 * math.ceil(case.finding.growth_objects_per_step or 0))
    yield bound_keys(case.source, case.line, size)
    for file, at in filled_when_missing(case.yours, type_of_container(case.finding)):
        yield bound_keys(file, at, size)
    yield take_out_when_read(case.yours, *case.place)
    yield keep_newest(case.yours, *case.place)
    yield keep_best(case.yours, *case.place)


def by_unread_parts(case: Case) -> Ways:
    """Fields and keys that nobody reads."""
    for label, kind in below_holder(case.finding, above=1):
        yield leave_out_unread(case.yours, kind.partition(" ")[0], label)


def by_taken_keys(case: Case) -> Ways:
    """Of `batch['traces']`, or of the entry of `batch` that has the memory."""
    key = case.finding.holder.name.partition("[")[2].removesuffix("]")
    key = key or next(iter(labels_on_way(case.finding)), "")
    if key[:1] in ("'", '"'):
        yield take_key_when_read(case.yours, case.name, key)


def by_letting_go(case: Case) -> Ways:
    """Of the holder's attribute or variable, and of the attribute below it that leads to the tensor."""
    finding, yours = case.finding, case.yours
    kept = find_kept(*case.place)
    if "[" in finding.holder.name or (kept is not None and computes_on(kept)):
        return
    if finding.holder.expression.endswith("[*]") or finding.holder.kind == "hook":
        kind = type_of_container(finding)
        if kind != "tuple" and not is_named_tuple(yours, kind):
            yield from let_go_behind_reads(yours, case.name, empties=True)
        return
    inner = [label for label in labels_on_way(finding) if label.isidentifier()][-1:]
    outer = [part for part in finding.holder.name.split(".")[:-1] if part.isidentifier()][-1:]
    yield let_go_before(*case.place)
    for file, at in stores_of(yours, inner[0]) if inner else ():
        yield let_go_before(file, at, inner[0])
    if finding.rule in MODULES:
        yield let_go_where_it_ends(*case.place)
        for label in reversed(objects_above(finding)):
            for file, at in stores_of(yours, label):
                yield let_go_where_it_ends(file, at, label)
        yield from let_go_where_skipped(yours, case.name)
    empties = finding.rule in IDLE and kinds_on_way(finding)[:1] in (["dict"], ["list"])
    yield from let_go_behind_reads(yours, case.name, empties=empties)
    yield let_go_at_end(*case.place)
    yield let_go_at_start(*case.place)
    for other in (*outer, *inner):
        yield from let_go_behind_reads(yours, other, empties=False)


def by_deleted_variables(case: Case) -> Ways:
    """`del` of the variables of the cut: each behind its last use, or all where a loop is done with them."""
    finding = case.finding
    if finding.holder.kind not in _VARIABLES:
        return
    here = (each for each in finding.cut if each.file == finding.holder.file and each.name.isidentifier())
    lines = {each.name: each.line for each in here if each.line}
    if not lines or len(lines) < len(finding.cut):
        return
    yield drop_each(case.source, lines, None) or drop_names(case.source, tuple(lines), lines.values())
