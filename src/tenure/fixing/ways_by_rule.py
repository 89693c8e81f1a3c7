"""The ways to mend a finding by its rule: a table of rules and edits, in the order in which they are tried."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile

from tenure.fixing.ways_to_tensors import (
    below_holder,
    fields_on_way,
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
from tenure.syntax.edits.asked_gradients import ask_for_gradients, ask_for_those_that_are_read
from tenure.syntax.edits.bounded_caches import compute_at_each_read, drop_cache, needs_caches
from tenure.syntax.edits.class_fields import is_named_tuple
from tenure.syntax.edits.closed_generators import close_behind_loops
from tenure.syntax.edits.computed_early import compute_early, compute_given_early
from tenure.syntax.edits.computed_when_kept import compute_when_kept
from tenure.syntax.edits.cut_chains import cut_chain
from tenure.syntax.edits.dropped_names import drop_names
from tenure.syntax.edits.ended_subscriptions import end_subscriptions
from tenure.syntax.edits.exit_stacks import leave_stacks_sooner
from tenure.syntax.edits.finalizers import finalize_without_owner
from tenure.syntax.edits.forgotten_handles import number_handles, remove_where_forgotten
from tenure.syntax.edits.given_back import take_back
from tenure.syntax.edits.kept_best import keep_best
from tenure.syntax.edits.kept_entries import (
    bound_keys,
    clear_before_filled,
    filled_when_missing,
    stores_in_class,
    take_key_when_read,
    take_out_when_read,
)
from tenure.syntax.edits.kept_handles import remove_handles
from tenure.syntax.edits.kept_newest import keep_newest, keep_newest_rows
from tenure.syntax.edits.kept_parts import (
    change_added,
    change_display,
    change_each_given,
    change_keyword,
    change_part,
    change_where_made,
    detach_at_end,
    detach_each,
    detach_if_tensor,
    detach_old,
    detach_received,
    detach_states_beside,
)
from tenure.syntax.edits.kept_values import computes_on, find_kept
from tenure.syntax.edits.last_use import drop_each
from tenure.syntax.edits.left_states import forget_states
from tenure.syntax.edits.let_go import (
    drop_inner_function,
    let_go_at_end,
    let_go_at_start,
    let_go_before,
    let_go_behind_reads,
    let_go_where_it_ends,
    stores_of,
)
from tenure.syntax.edits.own_hooks import read_detached
from tenure.syntax.edits.reopened_loaders import reopen_each_pass
from tenure.syntax.edits.saved_together import save_together
from tenure.syntax.edits.settled_futures import FUTURES, discard_when_done
from tenure.syntax.edits.settled_records import change_logged, lines_that_log, settle_record
from tenure.syntax.edits.skipped_reads import let_go_where_skipped
from tenure.syntax.edits.weak_links import bind_weakly, refer_weakly
from tenure.syntax.edits.without_graphs import compute_without_graph
from tenure.syntax.text.expressions import called_name

_FEWEST_KEYS = 4
_TRACEBACK, _RECORD = "__traceback__", "LogRecord"
_EARLIER = ("__cause__", "__context__")
"""Of an exception that was kept before, under the same name: what is kept now loses its own traceback."""
_CALLED_LATER = ("method", "function", "partial")
_VARIABLES = ("local", "global")
_GRAPHS = frozenset({"TN101", "TN102", "TN105", "TN107"})
_MODULES = frozenset({"TN401", "TN403", "TN405"})
_ROOTS = frozenset({"TN304", "TN401", "TN402", "TN403"})
_GROWING = frozenset({"TN201", "TN202", "TN203", "TN402", "TN601"})
_IDLE, _CYCLES, _VIEWS = frozenset({"TN106"}), frozenset({"TN301"}), frozenset({"TN204"})
_EXCEPTIONS = frozenset({"TN301", "TN302", "TN304"})
Ways = Iterable[tuple[Edit, ...]]


@dataclass(frozen=True)
class Case:
    """A finding, the file and line of its holder's statement, the holder's plain name, and all files of the user's."""

    finding: Finding
    source: SourceFile
    yours: Sequence[SourceFile]
    line: int
    name: str

    @classmethod
    def of(cls, finding: Finding, sources: Mapping[str, SourceFile]) -> Case | None:
        """None where the holder's statement is not known, or is a library's, unless that keeps what the program logs:
        then `line` is 0."""
        source, line = sources.get(finding.holder.file or ""), finding.holder.line or 0
        yours = [each for each in sources.values() if each.origin == "yours"]
        if source is not None and source.origin != "yours" and _holds_records(finding) and yours:
            source, line = yours[0], 0
        elif source is None or source.origin != "yours" or not line:
            return None
        return cls(finding, source, sorted(yours, key=lambda each: each is not source), line, plain_name(finding))

    @property
    def place(self) -> tuple[SourceFile, int, str]:
        """What most edits are made by: file, line and name."""
        return self.source, self.line, self.name


def all_ways(case: Case) -> Iterator[tuple[Edit, ...]]:
    """One after another, made as they are asked for; () where an edit does not fit. May raise SourceError."""
    for rules, make in _WAYS:
        if case.finding.rule in rules:
            yield from make(case)


def _places(case: Case) -> list[tuple[SourceFile, int, str]]:
    """Where what holds the memory is given it: by the holder's statement; of a container of the program's own class by
    those of its methods that put entries into itself."""
    kept = find_kept(*case.place)
    made = called_name(kept.value) if kept is not None and isinstance(kept.value, ast.Call) else ""
    own = stores_in_class(case.yours, type_of_container(case.finding) or made)
    return [(file, at, "self") for file, at in own] or [case.place]


def _clone_views(case: Case) -> Ways:
    labels = labels_on_way(case.finding)[levels_left(case.finding, *case.place) :]
    for place in _places(case):
        yield change_part(case.yours, *place, labels, ".clone()")
    yield from _where_made(case, ".clone()")


def _drop_tracebacks(case: Case) -> Ways:
    if f".{_TRACEBACK}" not in evidence_of(case.finding, "path").get("references", ()):
        return
    labels = [each for each in labels_on_way(case.finding, _TRACEBACK) if each not in _EARLIER]
    yield change_part(case.yours, *case.place, labels, ".with_traceback(None)")
    yield from _where_made(case, ".with_traceback(None)", _TRACEBACK)


def _refer_weakly(case: Case) -> Ways:
    labels = reversed(objects_on_way(case.finding))
    stores = ((file, at, label) for label in labels for file, at in stores_of(case.yours, label))
    for place in chain([case.place], stores):
        yield refer_weakly(*place)
        yield bind_weakly(*place)


def _holds_records(finding: Finding) -> bool:
    return any(each.partition(" ")[0] == _RECORD for each in evidence_of(finding, "path").get("targets", ()))


def _settle_record(case: Case) -> Ways:
    if not _holds_records(case.finding):
        return
    yield settle_record(*case.place)
    way = evidence_of(case.finding, "path")
    labels, kinds = way.get("references", ())[1:], way.get("targets", ())
    for label, kind, inner in zip(labels, kinds, labels[1:], strict=False):
        number, length = inner.strip("[]"), kind.rpartition(" ")[2]
        if label == ".args" and number.isdecimal() and length.isdecimal():
            logged = [(case.source, case.line)] if case.line else lines_that_log(case.yours, int(length))
            for file, at in logged:
                if case.finding.rule in _GRAPHS:
                    yield change_logged(file, at, int(number), "{}.detach()")
                yield change_logged(file, at, int(number), "str({})")


def _settle_future(case: Case) -> Ways:
    if FUTURES & set(kinds_on_way(case.finding)):
        yield discard_when_done(*case.place)


def _compute_early(case: Case) -> Ways:
    yield compute_early(*case.place)
    if kinds_on_way(case.finding)[:1] and kinds_on_way(case.finding)[0] in _CALLED_LATER:
        yield compute_given_early(*case.place)


def _end_subscriptions(case: Case) -> Ways:
    for label in evidence_of(case.finding, "path").get("references", ()):
        if label.startswith("._") or label[1:].isidentifier():
            yield from end_subscriptions(case.yours, label[1:])


def _drop_cache(case: Case) -> Ways:
    if not needs_caches(case.yours):
        yield drop_cache(case.source, case.line, by_trial=True)


def _compute_at_each_read(case: Case) -> Ways:
    for label in dict.fromkeys([*objects_on_way(case.finding), case.name]):
        for source in case.yours:
            yield compute_at_each_read(source, label)


def _compute_when_kept(case: Case) -> Ways:
    """Of the tensor; of the object that has it, an exception or a schedule, which lies in tuples and dictionaries."""
    finding = case.finding
    labels = labels_on_way(finding)[levels_left(finding, *case.place) :]
    parts = list(takewhile(lambda label: not label.isidentifier(), labels))
    for way in (labels, parts):
        yield compute_when_kept(case.yours, *case.place, way, texts=finding.rule in _EXCEPTIONS)


def _close_generators(case: Case) -> Ways:
    way = below_holder(case.finding, above=1)
    names = [each.removeprefix(".") for (each, _), (_, kind) in pairwise(way) if kind == "generator"]
    for name in dict.fromkeys([*names, case.name]):
        yield from close_behind_loops(case.yours, name)


def _bound(case: Case) -> Ways:
    size = max(_FEWEST_KEYS, 2 * math.ceil(case.finding.growth_objects_per_step or 0))
    yield bound_keys(case.source, case.line, size)
    for file, at in filled_when_missing(case.yours, type_of_container(case.finding)):
        yield bound_keys(file, at, size)
    yield take_out_when_read(case.yours, *case.place)
    yield keep_newest(case.yours, *case.place)
    yield keep_best(case.yours, *case.place)


def _let_go(case: Case) -> Ways:
    """Of the holder's attribute or variable, and of the attribute below it that leads to the tensor."""
    finding, yours = case.finding, case.yours
    kept = find_kept(*case.place)
    if "[" in finding.holder.name or (kept is not None and computes_on(kept)):
        return
    if finding.holder.expression.endswith("[*]"):
        kind = type_of_container(finding)
        if kind != "tuple" and not is_named_tuple(yours, kind):
            yield from let_go_behind_reads(yours, case.name, empties=True)
        return
    inner = [label for label in labels_on_way(finding) if label.isidentifier()][-1:]
    outer = [part for part in finding.holder.name.split(".")[:-1] if part.isidentifier()][-1:]
    yield let_go_before(*case.place)
    for file, at in stores_of(yours, inner[0]) if inner else ():
        yield let_go_before(file, at, inner[0])
    if finding.rule in _MODULES:
        yield let_go_where_it_ends(*case.place)
        yield from let_go_where_skipped(yours, case.name)
    empties = finding.rule in _IDLE and kinds_on_way(finding)[:1] in (["dict"], ["list"])
    yield from let_go_behind_reads(yours, case.name, empties=empties)
    yield let_go_at_end(*case.place)
    yield let_go_at_start(*case.place)
    for other in (*outer, *inner):
        yield from let_go_behind_reads(yours, other, empties=False)


def _take_key(case: Case) -> Ways:
    """Of `batch['traces']`."""
    name, _, key = case.finding.holder.name.partition("[")
    if key:
        yield take_key_when_read(case.yours, name.rpartition(".")[2], key.removesuffix("]"))


def _drop_variables(case: Case) -> Ways:
    """`del` of the variables of the cut: each behind its last use, or all where a loop is done with them."""
    finding = case.finding
    if finding.holder.kind not in _VARIABLES:
        return
    here = (each for each in finding.cut if each.file == finding.holder.file and each.name.isidentifier())
    lines = {each.name: each.line for each in here if each.line}
    if not lines or len(lines) < len(finding.cut):
        return
    yield drop_each(case.source, lines, None) or drop_names(case.source, tuple(lines), lines.values())


def _without_graph(case: Case) -> Ways:
    finding, yours, place = case.finding, case.yours, case.place
    left = levels_left(finding, *place)
    labels, kinds = labels_on_way(finding)[left:], kinds_on_way(finding)[left:]
    is_element = finding.holder.expression.endswith("[*]")
    for each in _places(case):
        yield change_part(yours, *each, labels, ".detach()")
        yield detach_each(yours, *each, kinds)
    yield detach_states_beside(*place)
    if labels:
        yield change_display(yours, labels[-1], ".detach()")
    yield from _where_made(case, ".detach()")
    yield change_each_given(yours, *place, ".detach()")
    fields = [label for label in labels if label.isidentifier()]
    for key in (*keys_on_way(finding), *fields, *fields_on_way(finding, yours)):
        yield change_keyword(yours, key, ".detach()")
    yield change_added(yours, case.name, ".detach()")
    if not is_element:
        yield let_go_before(*place)
        yield let_go_at_start(*place)
        yield detach_at_end(*place, kinds)
    if not labels:
        yield detach_if_tensor(*place)
    if finding.rule == "TN105":
        yield detach_old(*place)
    yield from compute_without_graph(yours, *place)


def _where_made(case: Case, call: str, end: str = "") -> Ways:
    """Of the object whose attribute leads to the tensor (or to what has `end`), or to what the holder's name is: what
    its class is given for it, also where it is copied (`replace(track, template=x)`), or the statement that sets it."""
    way = below_holder(case.finding, end, above=1)
    if way and way[-1][0].startswith("."):
        label = way[-1][0].removeprefix(".")
        made = change_where_made(case.yours, way[-1][1].partition(" ")[0], label, call)
        copied = change_keyword(case.yours, label, call)
        yield made
        yield (*made, *copied) if made and copied and made != copied else ()
        stores = list(stores_of(case.yours, label))
        if len(stores) == 1:
            yield change_part(case.yours, *stores[0], label, (), call)


_WAYS: tuple[tuple[frozenset[str], Callable[[Case], Ways]], ...] = (
    (frozenset({"TN303"}), lambda case: remove_where_forgotten(case.source, case.line)),
    (frozenset({"TN303"}) | _MODULES, lambda case: remove_handles(case.source, case.line)),
    (frozenset({"TN303"}), lambda case: [number_handles(case.source, case.line)]),
    (_ROOTS, lambda case: take_back(case.source, case.line)),
    (_ROOTS | _GROWING, lambda case: [finalize_without_owner(case.source, case.line)]),
    (_GRAPHS, _without_graph),
    (_GRAPHS | frozenset({"TN305"}), lambda case: [detach_received(case.source, case.line)]),
    (_VIEWS, _clone_views),
    (_EXCEPTIONS, _drop_tracebacks),
    (frozenset({"TN404"}), lambda case: forget_states(case.yours)),
    (frozenset({"TN104"}), lambda case: ask_for_gradients(case.source, case.line)),
    (frozenset({"TN104"}), lambda case: let_go_behind_reads([case.source], "grad", empties=False)),
    (frozenset({"TN405"}), lambda case: let_go_behind_reads(case.yours, "grad", empties=False)),
    (frozenset({"TN305"}), _close_generators),
    (_GROWING | _GRAPHS | _MODULES, lambda case: [cut_chain(case.yours, *case.place)]),
    (frozenset({"TN405"}), lambda case: chain.from_iterable(map(ask_for_those_that_are_read, case.yours))),
    (frozenset({"TN103"}), lambda case: save_together(case.source, case.line)),
    (_CYCLES | _GRAPHS, lambda case: [drop_inner_function(*case.place)]),
    (_CYCLES, lambda case: [read_detached(*case.place)]),
    (_CYCLES, _refer_weakly),
    (frozenset({"TN205"}), _drop_cache),
    (_GROWING | _GRAPHS | _EXCEPTIONS | _MODULES | _ROOTS, _settle_record),
    (_GROWING | _GRAPHS | _MODULES | _ROOTS, _compute_early),
    (_GROWING | _GRAPHS | _EXCEPTIONS | _ROOTS, _settle_future),
    (_GROWING | _GRAPHS | _ROOTS | frozenset({"TN305"}), lambda case: leave_stacks_sooner(case.source, case.line)),
    (_GROWING | _GRAPHS | _ROOTS, _end_subscriptions),
    (_GROWING, lambda case: [reopen_each_pass(case.source, case.line)]),
    (_GROWING | _IDLE | frozenset({"TN205"}), _compute_at_each_read),
    (_GROWING | _GRAPHS | _IDLE | _MODULES | _EXCEPTIONS | frozenset({"TN404"}), _compute_when_kept),
    (_GROWING | _GRAPHS, _bound),
    (_GROWING | _GRAPHS | _IDLE, lambda case: [keep_newest_rows(case.yours, *case.place)]),
    (_GROWING | _GRAPHS | _MODULES, lambda case: clear_before_filled(case.yours, *case.place)),
    (_IDLE, _take_key),
    (_IDLE | _MODULES | _GRAPHS, _drop_variables),
    (_IDLE | _MODULES | _GROWING | _GRAPHS, _let_go),
)
