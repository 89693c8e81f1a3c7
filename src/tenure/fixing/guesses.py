"""Edits that may be the remedy of a finding and that only a run can prove: for each several ways, the likeliest first.

A finding says who holds what, by which statement, and the way from there to the tensors; the source says what else the
program does with it. Nothing of this is offered anywhere but to `tenure fix`, which keeps what its run has proved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from tenure.errors import SourceError
from tenure.fixing.ways_to_tensors import (
    below_holder,
    keys_on_way,
    kinds_on_way,
    labels_on_way,
    levels_left,
    objects_on_way,
    plain_name,
    type_of_container,
)
from tenure.model.finding import Edit, Finding, evidence_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.asked_gradients import ask_for_gradients
from tenure.syntax.edits.bounded_caches import drop_cache, needs_caches
from tenure.syntax.edits.computed_early import compute_early
from tenure.syntax.edits.dropped_names import drop_names
from tenure.syntax.edits.forgotten_handles import remove_where_forgotten
from tenure.syntax.edits.given_back import take_back
from tenure.syntax.edits.kept_best import keep_best
from tenure.syntax.edits.kept_entries import (
    bound_keys,
    clear_before_filled,
    filled_when_missing,
    take_out_when_read,
)
from tenure.syntax.edits.kept_handles import remove_handles
from tenure.syntax.edits.kept_newest import keep_newest, keep_newest_rows
from tenure.syntax.edits.kept_parts import (
    change_display,
    change_keyword,
    change_part,
    change_where_made,
    detach_at_end,
    detach_each,
    detach_old,
)
from tenure.syntax.edits.last_use import drop_each
from tenure.syntax.edits.left_states import forget_states
from tenure.syntax.edits.let_go import (
    drop_inner_function,
    let_go_at_end,
    let_go_before,
    let_go_behind_reads,
    let_go_where_it_ends,
    stores_of,
)
from tenure.syntax.edits.own_hooks import read_detached
from tenure.syntax.edits.reopened_loaders import reopen_each_pass
from tenure.syntax.edits.saved_together import save_together
from tenure.syntax.edits.settled_records import settle_record
from tenure.syntax.edits.skipped_reads import let_go_where_skipped
from tenure.syntax.edits.weak_links import refer_weakly
from tenure.syntax.edits.without_graphs import compute_without_graph

MOST_WAYS = 4
"""Of one finding: each costs a run of the program."""
LEAST_BYTES = 4096
"""What holds less is not worth runs, and dropping what nobody reads of it not worth a change."""
_FEWEST_KEYS = 4
_GRAPHS = ("TN101", "TN102", "TN105", "TN107")
_MODULES = ("TN401", "TN403", "TN405")
_VIEWS, _HOOKS, _IDLE, _CYCLES, _CACHES = "TN204", "TN303", "TN106", "TN301", "TN205"
_CONTEXTS, _RECORD = "TN103", "LogRecord"
_STATES, _VARIABLES = "TN404", ("local", "global")
_GRADIENTS, _ROOTS = "TN104", ("TN304", "TN401", "TN402", "TN403")
_TRACEBACK = "__traceback__"
_EXCEPTIONS = ("TN301", "TN302", "TN304")
_GROWING = ("TN201", "TN202", "TN203", "TN402", "TN601")
Ways = Iterator[tuple[Edit, ...]]


def guess_edits(finding: Finding, sources: Mapping[str, SourceFile]) -> tuple[tuple[Edit, ...], ...]:
    """Ways to mend one finding, at most MOST_WAYS; none of what is only *possible*, holds little, or is kept by a
    library."""
    source = sources.get(finding.holder.file or "")
    if source is None or source.origin != "yours" or not finding.holder.line:
        return ()
    if finding.confidence == "possible" or (finding.retained_bytes or 0) < LEAST_BYTES:
        return ()
    yours = [source, *(each for each in sources.values() if each.origin == "yours" and each is not source)]
    try:
        ways = dict.fromkeys(each for each in _ways(finding, source, yours) if each)
    except SourceError:
        return ()
    return tuple(islice(ways, MOST_WAYS))


def _ways(finding: Finding, source: SourceFile, yours: Sequence[SourceFile]) -> Ways:
    line, name = finding.holder.line or 0, plain_name(finding)
    if finding.rule == _HOOKS:
        yield from remove_where_forgotten(source, line)
        yield from remove_handles(source, line)
    if finding.rule in _MODULES:
        yield from remove_handles(source, line)
    if finding.rule in _ROOTS:
        yield from take_back(source, line)
    if finding.rule in _GRAPHS:
        yield from _without_graph(finding, source, yours, line, name)
    if finding.rule == _VIEWS:
        labels = labels_on_way(finding)[levels_left(finding, source, line, name) :]
        yield change_part(yours, source, line, name, labels, ".clone()")
        yield from _where_made(finding, yours, ".clone()")
    if finding.rule in _EXCEPTIONS and f".{_TRACEBACK}" in evidence_of(finding, "path").get("references", ()):
        labels = labels_on_way(finding, _TRACEBACK)
        yield change_part(yours, source, line, name, labels, ".with_traceback(None)")
        yield from _where_made(finding, yours, ".with_traceback(None)", _TRACEBACK)
    if finding.rule == _STATES:
        yield from forget_states(yours)
    if finding.rule == _GRADIENTS:
        yield from ask_for_gradients(source, line)
        yield from let_go_behind_reads([source], "grad", empties=False)
    if finding.rule == _CONTEXTS:
        yield from save_together(source, line)
    if finding.rule in (_CYCLES, *_GRAPHS):
        yield drop_inner_function(source, line, name)
    if finding.rule == _CYCLES:
        yield read_detached(source, line, name)
        yield refer_weakly(source, line, name)
        for label in reversed(objects_on_way(finding)):
            for file, at in stores_of(yours, label):
                yield refer_weakly(file, at, label)
    if finding.rule == _CACHES and not needs_caches(yours):
        yield drop_cache(source, line, by_trial=True)
    if _RECORD in kinds_on_way(finding):
        yield settle_record(source, line, name)
    if finding.rule in (*_GROWING, *_GRAPHS, *_MODULES, *_ROOTS):
        yield compute_early(source, line, name)
    if finding.rule in _GROWING:
        yield reopen_each_pass(source, line)
    if finding.rule in (*_GROWING, *_GRAPHS):
        size = max(_FEWEST_KEYS, 2 * math.ceil(finding.growth_objects_per_step or 0))
        yield bound_keys(source, line, size)
        for file, at in filled_when_missing(yours, type_of_container(finding)):
            yield bound_keys(file, at, size)
        yield take_out_when_read(yours, source, line, name)
        yield keep_newest(yours, source, line, name)
        yield keep_best(yours, source, line, name)
    if finding.rule in (*_GROWING, *_GRAPHS, _IDLE):
        yield keep_newest_rows(yours, source, line, name)
    if finding.rule in (*_GROWING, *_GRAPHS, *_MODULES):
        yield from clear_before_filled(yours, source, line, name)
    if finding.rule in (_IDLE, *_MODULES, *_GRAPHS) and finding.holder.kind in _VARIABLES:
        yield _drop_variables(finding, source)
    if finding.rule in (_IDLE, *_MODULES, *_GROWING) and "[" not in finding.holder.name:
        yield from _let_go(finding, source, yours, line, name)


def _let_go(finding: Finding, source: SourceFile, yours: Sequence[SourceFile], line: int, name: str) -> Ways:
    """Of the holder's attribute or variable, and of the attribute below it that leads to the tensor."""
    if finding.holder.expression.endswith("[*]"):
        yield from let_go_behind_reads(yours, name, empties=True)
        return
    inner = [label for label in labels_on_way(finding) if label.isidentifier()][-1:]
    outer = [part for part in finding.holder.name.split(".")[:-1] if part.isidentifier()][-1:]
    yield let_go_before(source, line, name)
    for file, at in stores_of(yours, inner[0]) if inner else ():
        yield let_go_before(file, at, inner[0])
    if finding.rule in _MODULES:
        yield let_go_where_it_ends(source, line, name)
        yield from let_go_where_skipped(yours, name)
    empties = finding.rule == _IDLE and kinds_on_way(finding)[:1] in (["dict"], ["list"])
    yield from let_go_behind_reads(yours, name, empties=empties)
    yield let_go_at_end(source, line, name)
    for other in (*outer, *inner):
        yield from let_go_behind_reads(yours, other, empties=False)


def _drop_variables(finding: Finding, source: SourceFile) -> tuple[Edit, ...]:
    """`del` of the variables of the cut: each behind its last use, or all where a loop is done with them."""
    here = (each for each in finding.cut if each.file == finding.holder.file and each.name.isidentifier())
    lines = {each.name: each.line for each in here if each.line}
    if not lines or len(lines) < len(finding.cut):
        return ()
    return drop_each(source, lines, None) or drop_names(source, tuple(lines), lines.values())


def _without_graph(finding: Finding, source: SourceFile, yours: Sequence[SourceFile], line: int, name: str) -> Ways:
    left = levels_left(finding, source, line, name)
    labels, kinds = labels_on_way(finding)[left:], kinds_on_way(finding)[left:]
    is_element = finding.holder.expression.endswith("[*]")
    yield change_part(yours, source, line, name, labels, ".detach()")
    yield detach_each(yours, source, line, name, kinds)
    if labels:
        yield change_display(yours, labels[-1], ".detach()")
    yield from _where_made(finding, yours, ".detach()")
    for key in keys_on_way(finding):
        yield change_keyword(yours, key, ".detach()")
    if not is_element:
        yield let_go_before(source, line, name)
        yield detach_at_end(source, line, name, kinds)
    if finding.rule == "TN105":
        yield detach_old(source, line, name)
    yield from compute_without_graph(yours, source, line, name)


def _where_made(finding: Finding, yours: Sequence[SourceFile], call: str, end: str = "") -> Ways:
    """Of the object whose attribute leads to the tensor (or to what has `end`), or to what the holder's name is: what
    its class is given for it, or the statement that sets it."""
    way = below_holder(finding, end, above=1)
    if way and way[-1][0].startswith("."):
        label = way[-1][0].removeprefix(".")
        yield change_where_made(yours, way[-1][1].partition(" ")[0], label, call)
        stores = list(stores_of(yours, label))
        if len(stores) == 1:
            yield change_part(yours, *stores[0], label, (), call)
