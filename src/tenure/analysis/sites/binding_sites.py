"""From "who holds" to the statement that made the reference: file, line, function.

Read from recorded sources alone, so every answer is a candidate; what is measured later may confirm one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tenure.analysis.sites.attribute_sites import attributes
from tenure.analysis.sites.cached_sites import caches, defaults
from tenure.analysis.sites.gradient_sites import backward_calls
from tenure.analysis.sites.hook_sites import hooks
from tenure.analysis.sites.key_sites import stores_by_key
from tenure.analysis.sites.registration_sites import registrations
from tenure.analysis.sites.saved_sites import saves_for_backward
from tenure.analysis.sites.site_search import (
    LIKELY,
    SURE,
    UNLIKELY,
    RankedSite,
    Sought,
    bindings_of,
)
from tenure.analysis.sites.variable_sites import owner_of_variable, variables
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference


def resolve_sites(
    reference: HoldingReference,
    sources: Mapping[str, SourceFile],
    *,
    growing: bool,
    hints: Sequence[SourceLocation] = (),
) -> tuple[SourceLocation, ...]:
    """Statements that may have made a reference, best first; empty where no source shows one.

    `growing` says that the reference was made again and again (or the container grew). `hints` are places known
    to have run when the reference was made. The first is the answer only where `is_unambiguous` says so.
    """
    return tuple(site.location for site in ranked_sites(reference, sources, growing=growing, hints=hints))


def is_unambiguous(
    reference: HoldingReference,
    sources: Mapping[str, SourceFile],
    *,
    growing: bool,
    hints: Sequence[SourceLocation] = (),
) -> bool:
    """Whether exactly one statement is the most plausible one, and it is at least likely."""
    ranked = ranked_sites(reference, sources, growing=growing, hints=hints)
    if not ranked or ranked[0].plausibility > LIKELY:
        return False
    return len(ranked) == 1 or ranked[1].plausibility > ranked[0].plausibility


def name_that_stores(
    reference: HoldingReference, sources: Mapping[str, SourceFile], *, growing: bool
) -> HoldingReference:
    """Of a container's names the one by which a statement stores into it; the reference itself where none does.

    The name nearest to a root may only receive the container: `features = collect_outputs(model)` in one function,
    `outputs.append(x)` in another.
    """
    if not growing:
        return _name_that_binds(reference, sources)
    for name in (reference, *reference.aliases):
        best = ranked_sites(name, sources, growing=growing)[:1]
        if best and best[0].stores and best[0].plausibility <= LIKELY:
            return name
    return reference


def _name_that_binds(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    """Of a parameter, or an item of one, the variable by which a caller holds the same object, where a statement
    binds one."""
    if reference.kind not in ("local", "item") or not reference.aliases or not _is_parameter(reference, sources):
        return reference
    bound = (name for name in reference.aliases if not _is_parameter(name, sources))
    return next((name for name in bound if resolve_sites(name, sources, growing=False)), reference)


def given_by(
    reference: HoldingReference, cut: Iterable[HoldingReference], sources: Mapping[str, SourceFile]
) -> HoldingReference:
    """Of a parameter the variable in the `cut` by which the running caller has what it gave; else the reference."""
    if reference.kind != "local" or not _is_parameter(reference, sources):
        return reference
    others = (each for each in cut if each.kind == "local" and each.sites and not _is_parameter(each, sources))
    return next(others, reference)


def _is_parameter(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> bool:
    """Whether the value is the one that the variable's function was called with."""
    sought = Sought(reference, sources, growing=False)
    found = sought.file(reference.scope_file)
    if found is None:
        return False
    owner = owner_of_variable(sought, found[1])
    best = resolve_sites(reference, sources, growing=False)[:1]
    own = [b for b in bindings_of(found[1]) if b.owner == owner and b.name in sought.names and not b.receiver]
    return any(b.kind == "parameter" and (found[0], b.line) == (site.file, site.line) for b in own for site in best)


def ranked_sites(
    reference: HoldingReference,
    sources: Mapping[str, SourceFile],
    *,
    growing: bool,
    hints: Sequence[SourceLocation] = (),
) -> tuple[RankedSite, ...]:
    """As `resolve_sites`, with the plausibility of each. Parses only files in which the name occurs.

    An empty container holds no memory: where only such were bound, the statements that fill it are the answer.
    """
    sought = Sought(reference, sources, growing)
    found = _ranked(sought, hints)
    if not any(site.plausibility <= LIKELY for site in found):
        by_key = _by_plausibility(stores_by_key(sought), hints)
        found = by_key if any(site.plausibility <= LIKELY for site in by_key) else found or by_key
    best = [site for site in found if site.plausibility == found[0].plausibility]
    if reference.element or reference.kind == "item" or not any(site.empty for site in best):
        return found
    if all(site.empty for site in best):
        filled = _ranked(Sought(replace(reference, element=True), sources, growing), hints)
        stores = tuple(site for site in filled if site.stores and site.plausibility <= LIKELY)
        return stores or found
    return tuple(site for site in found if not site.empty)


def _ranked(sought: Sought, hints: Sequence[SourceLocation]) -> tuple[RankedSite, ...]:
    return _by_plausibility(_sites(sought), hints)


def _by_plausibility(sites: Iterable[RankedSite], hints: Sequence[SourceLocation]) -> tuple[RankedSite, ...]:
    best: dict[tuple[str, int], RankedSite] = {}
    for site in sites:
        key = (site.location.file, site.location.line)
        known = best.get(key)
        if known is None or (site.plausibility, site.order) < (known.plausibility, known.order):
            best[key] = site
    found = _with_hints(list(best.values()), hints)
    if any(site.plausibility <= LIKELY for site in found):
        found = [site for site in found if site.plausibility < UNLIKELY]
    return tuple(sorted(found, key=lambda site: (site.plausibility, site.order, site.location.line)))


def _with_hints(sites: list[RankedSite], hints: Sequence[SourceLocation]) -> list[RankedSite]:
    def hinted(site: RankedSite) -> bool:
        place = site.location
        return any(hint.file == place.file and place.line <= hint.line <= site.end_line for hint in hints)

    marks = [hinted(site) for site in sites]
    if not any(marks):
        return sites
    return [
        replace(site, plausibility=SURE if mark else max(LIKELY, site.plausibility))
        for site, mark in zip(sites, marks, strict=True)
    ]


def _sites(sought: Sought) -> Iterator[RankedSite]:
    if not sought.reference.name and sought.reference.kind != "hook":
        return
    by_kind: dict[str, Callable[[Sought], Iterator[RankedSite]]] = {
        "hook": hooks,
        "cache": _caches,
        "default": defaults,
        "local": variables,
        "global": variables,
        "closure": variables,
        "attribute": variables if sought.in_a_module else attributes,
        "class": attributes,
        "gradient": backward_calls,
        "handler": registrations,
        "saved": saves_for_backward,
        "item": attributes if sought.of_an_object else variables,
    }
    yield from by_kind.get(sought.reference.kind, _anything)(sought)


def _caches(sought: Sought) -> Iterator[RankedSite]:
    yield from caches(sought) or _anything(sought)


def _anything(sought: Sought) -> Iterator[RankedSite]:
    if sought.reference.scope_file and not sought.owner_type:
        yield from variables(sought)
    yield from attributes(sought)
    if sought.reference.kind == "hidden":
        yield from hooks(sought)
