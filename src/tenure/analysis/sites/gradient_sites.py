"""Calls of `backward`: no statement names the gradients that they store, unless the program stores them itself."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping

from tenure.analysis.sites.site_search import LIKELY, SURE, UNLIKELY, RankedSite, Sought, is_yours, place_at
from tenure.model.profile import Phase, StepProfile
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import PARTS_WITH_GRADIENTS, TRAINED_BEFORE, UNCHANGED_SINCE, HoldingReference, Suspect
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.freezing import RequiresGrad, requires_grad_set_by
from tenure.syntax.text.scopes import dotted, text_around

_BACKWARD = ("backward", "manual_backward")


def backward_calls(sought: Sought) -> Iterator[RankedSite]:
    """Calls that ask for a graph of the gradients, the user's own first; and in the program's own files the statements
    that store what `torch.autograd.grad` gave: `p.grad = g`."""
    for source in sought.sources.values():
        if "create_graph" in source.text:
            for node in _calls(source, _stores_graph):
                plausibility = SURE if source.origin == "yours" else LIKELY
                yield RankedSite(place_at(source, node.lineno), node.end_lineno or node.lineno, plausibility)
            for stored in _stored_gradients(source) if source.origin == "yours" else ():
                beside = "create_graph" in text_around(source, stored.lineno)
                level = LIKELY if beside else UNLIKELY
                yield RankedSite(place_at(source, stored.lineno), stored.end_lineno or stored.lineno, level)


def name_of_gradients(site: SourceLocation, sources: Mapping[str, SourceFile], name: str) -> str:
    """What stores gradients at a statement: `grad` where the program assigns them, else `name`, the call's."""
    source = sources.get(site.file)
    stored = _stored_gradients(source) if source is not None else []
    return "grad" if any(node.lineno == site.line for node in stored) else name


def _stored_gradients(source: SourceFile) -> list[ast.Assign]:
    """Statements that give a tensor its gradient, and no None."""
    if ".grad = " not in source.text:
        return []
    return [
        node
        for node in nodes_in(source)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Attribute) and target.attr == "grad" for target in node.targets)
        and not (isinstance(node.value, ast.Constant) and node.value.value is None)
    ]


def told_by_other_backward(
    suspect: Suspect, profiles: Collection[StepProfile], sources: Mapping[str, SourceFile]
) -> Suspect:
    """The suspect; gradients that no operation of the profiled steps touched with the user's one function that calls
    `backward` beside theirs, as an attribution does that is made once: there they were left.

    As it is where several functions do, or where no profiled `backward` is known to the sources. A second call in a
    function of theirs, as for another precision, is none.
    """
    if "gradients_of" not in suspect.facts or any(suspect.storages & each.used_from_before() for each in profiles):
        return suspect
    made = frozenset().union(*(_backward_lines(profile) for profile in profiles))
    yours = (source for source in sources.values() if source.origin == "yours" and "backward" in source.text)
    calls = [(source, node) for source in yours for node in _calls(source, _is_backward)]
    profiled = {
        _function(place_at(source, node.lineno)) for source, node in calls if not made.isdisjoint(_lines(source, node))
    }
    others = [place for source, node in calls if _function(place := place_at(source, node.lineno)) not in profiled]
    if not profiled or len(set(map(_function, others))) != 1:
        return suspect
    holder = dataclasses.replace(suspect.holder, sites=tuple(others))
    facts = suspect.facts | {"left_by_backward": True}
    return dataclasses.replace(suspect, holder=holder, cut=(holder,), facts=facts, ambiguous=len(others) > 1)


def told_by_freezing(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; gradients of layers that were trained before, in many parts of a model, of a library's or of a table
    of modules, with the one place where the program says which of them are trained from now on. So the state of such
    layers in an optimizer that a library has."""
    if UNCHANGED_SINCE in suspect.facts and not suspect.holder_is_yours:
        return _state_told_by_freezing(suspect, sources)
    if TRAINED_BEFORE not in suspect.facts or "gradients_of" not in suspect.facts:
        return suspect
    by_name = PARTS_WITH_GRADIENTS not in suspect.facts and suspect.holder.kind != "item"
    if by_name and is_yours(suspect.holder.sites, sources):
        return suspect
    place, site = _only_freezing(sources)
    if place is None or site is None:
        return suspect
    name = dotted(place.of).rpartition(".")[2] or suspect.holder.name
    holder = dataclasses.replace(suspect.holder, name=name, sites=(site,))
    return dataclasses.replace(suspect, holder=holder, cut=(holder,), ambiguous=False)


def _state_told_by_freezing(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    _, site = _only_freezing(sources)
    if site is None:
        return suspect
    holder = HoldingReference(
        "attribute", "optimizer", "optimizer", owner_type=suspect.holder.owner_type, sites=(site,)
    )
    return dataclasses.replace(suspect, holder=holder, cut=(holder,), ambiguous=False, holder_is_yours=True)


def _only_freezing(sources: Mapping[str, SourceFile]) -> tuple[RequiresGrad | None, SourceLocation | None]:
    """The one place where the program may say that parameters are not trained any more, and where it is."""
    yours = (source for source in sources.values() if source.origin == "yours" and "requires_grad" in source.text)
    freezing = [(source, each) for source in yours for node in nodes_in(source) for each in requires_grad_set_by(node)]
    freezing = [(source, each) for source, each in freezing if each.may_freeze]
    if len(freezing) != 1:
        return None, None
    source, place = freezing[0]
    return place, place_at(source, place.node.lineno)


def _backward_lines(profile: StepProfile) -> frozenset[tuple[str, int]]:
    """File and line of the statements that started a profiled backward pass."""
    operations, sites = profile.operations, profile.sites
    rows = set(operations.site[operations.phase == Phase.BACKWARD].tolist()) - {-1}
    return frozenset((profile.text(int(sites.file[row])), int(sites.line[row])) for row in rows)


def _lines(source: SourceFile, node: ast.Call) -> set[tuple[str, int]]:
    return {(source.path, line) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _calls(source: SourceFile, wanted: Callable[[ast.Call], bool]) -> list[ast.Call]:
    return [node for node in nodes_in(source) if isinstance(node, ast.Call) and wanted(node)]


def _function(place: SourceLocation) -> tuple[str, str]:
    return place.file, place.function


def _is_backward(node: ast.Call) -> bool:
    return (node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)) in _BACKWARD


def _stores_graph(node: ast.Call) -> bool:
    asked = [keyword.value for keyword in node.keywords if keyword.arg == "create_graph"]
    return _is_backward(node) and any(not (isinstance(value, ast.Constant) and not value.value) for value in asked)
