"""Ways by which what is kept becomes less: detached, copied, weak, text, or computed there and then."""

from __future__ import annotations

import ast
from itertools import chain, takewhile

from tenure.fixing.cases import EXCEPTIONS, GRAPHS, Case, Ways, holds_records
from tenure.fixing.ways_to_tensors import (
    below_holder,
    closures_on_way,
    fields_on_way,
    keys_on_way,
    kinds_on_way,
    labels_on_way,
    levels_left,
    objects_on_way,
    references_of,
    type_of_container,
)
from tenure.model.finding import evidence_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.computed_early import compute_early, compute_given_early, compute_lambda_early
from tenure.syntax.edits.computed_when_kept import compute_when_kept
from tenure.syntax.edits.kept_entries import stores_in_class
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
    detach_states_beside,
)
from tenure.syntax.edits.kept_values import find_kept
from tenure.syntax.edits.let_go import let_go_at_start, let_go_before, stores_of
from tenure.syntax.edits.settled_records import change_logged, lines_that_log, settle_record
from tenure.syntax.edits.weak_links import bind_weakly, close_weakly, refer_weakly
from tenure.syntax.edits.without_graphs import compute_without_graph
from tenure.syntax.text.expressions import called_name

_TRACEBACK = "__traceback__"
_EARLIER = ("__cause__", "__context__")
"""Of an exception that was kept before, under the same name: what is kept now loses its own traceback."""
_CALLED_LATER = frozenset({"method", "function", "partial"})


def _places(case: Case) -> list[tuple[SourceFile, int, str]]:
    """Where what holds the memory is given it: by the holder's statement; of a container of the program's own class by
    those of its methods that put entries into itself."""
    kept = find_kept(*case.place)
    made = called_name(kept.value) if kept is not None and isinstance(kept.value, ast.Call) else ""
    own = stores_in_class(case.yours, type_of_container(case.finding) or made)
    return [(file, at, "self") for file, at in own] or [case.place]


def by_clones(case: Case) -> Ways:
    """Views copied, where they are kept or where their object is made."""
    labels = labels_on_way(case.finding)[levels_left(case.finding, *case.place) :]
    for place in _places(case):
        yield change_part(case.yours, *place, labels, ".clone()")
    yield from _where_made(case, ".clone()")


def by_dropped_tracebacks(case: Case) -> Ways:
    """Exceptions kept without their frames."""
    if f".{_TRACEBACK}" not in references_of(case.finding):
        return
    labels = [each for each in labels_on_way(case.finding, _TRACEBACK) if each not in _EARLIER]
    yield change_part(case.yours, *case.place, labels, ".with_traceback(None)")
    yield from _where_made(case, ".with_traceback(None)", _TRACEBACK)


def by_weak_references(case: Case) -> Ways:
    """References back to an owner that do not keep it."""
    labels = reversed(objects_on_way(case.finding))
    stores = ((file, at, label) for label in labels for file, at in stores_of(case.yours, label))
    for place in chain([case.place], stores):
        yield refer_weakly(*place)
        yield bind_weakly(*place)
    for closure in closures_on_way(case.finding, case.yours):
        if closure.variable == "self":
            yield close_weakly(closure.source, closure.line, closure.function)


def by_settled_records(case: Case) -> Ways:
    """Log records kept as text, or given text, or no graph."""
    if not holds_records(case.finding):
        return
    yield settle_record(*case.place)
    way = evidence_of(case.finding, "path")
    labels, kinds = way.get("references", ())[1:], way.get("targets", ())
    for label, kind, inner in zip(labels, kinds, labels[1:], strict=False):
        number, length = inner.strip("[]"), kind.rpartition(" ")[2]
        if label == ".args" and number.isdecimal() and length.isdecimal():
            logged = [(case.source, case.line)] if case.line else lines_that_log(case.yours, int(length))
            for file, at in logged:
                if case.finding.rule in GRAPHS:
                    yield change_logged(file, at, int(number), "{}.detach()")
                yield change_logged(file, at, int(number), "str({})")


def by_early_results(case: Case) -> Ways:
    """What is kept to be computed later, computed where it is kept."""
    yield compute_early(*case.place)
    for closure in closures_on_way(case.finding, case.yours):
        if closure.function == "<lambda>":
            yield compute_lambda_early(closure.source, closure.line)
    if _CALLED_LATER.intersection(kinds_on_way(case.finding)[:1]):
        yield compute_given_early(*case.place)


def by_computed_values(case: Case) -> Ways:
    """Of the tensor; of the object that has it, an exception or a schedule, which lies in tuples and dictionaries."""
    finding = case.finding
    labels = labels_on_way(finding)[levels_left(finding, *case.place) :]
    parts = list(takewhile(lambda label: not label.isidentifier(), labels))
    for way in (labels, parts):
        yield compute_when_kept(case.yours, *case.place, way, texts=finding.rule in EXCEPTIONS)


def by_detaching(case: Case) -> Ways:
    """`.detach()` on what leads to a graph, and what else ends that it is led to."""
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
        yield detach_old(*place, kinds)
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
