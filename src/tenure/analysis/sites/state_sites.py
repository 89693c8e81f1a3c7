"""The statement that hangs a graph on a state: one that changes it in place, binds it by a computed name, or makes the
object that has it anew.

What bound the name at first (`register_buffer("mean", zeros)`) made no graph.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenure.analysis.sites.attribute_sites import calls_that_give
from tenure.analysis.sites.site_search import BINDERS, LIKELY, RankedSite, Sought, bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.bindings import Binding
from tenure.syntax.text.recurrences import is_made_from
from tenure.syntax.text.scopes import MODULE

_IN_PLACE = ("inplace", "item", "augmented")


def places_of_change(
    reference: HoldingReference, sites: Sequence[SourceLocation], sources: Mapping[str, SourceFile]
) -> tuple[SourceLocation, ...]:
    """Where a state that carries a graph gets it, best first: `sites` themselves where one of them runs in every step,
    or where nothing else is seen to change the state."""
    if not sites or reference.element or not reference.name or _runs_again(reference, sites[0], sources):
        return tuple(sites)
    sought = Sought(reference, sources, growing=True)
    changes = list(_changes(sought))
    in_place = [b for b in changes if b[1].kind in _IN_PLACE and b[1].name in sought.names]
    by_computed_name = [b for b in changes if b[1].sets_computed_name and b[1].on_self]
    chosen = _of_nearest_class(sought, in_place or by_computed_name)
    found = [sought.site(path, binding, LIKELY) for path, binding in chosen]
    made_anew = () if found else (site for site in calls_that_give(sought) if site.plausibility <= LIKELY)
    ordered = sorted((*found, *made_anew), key=_last_first)
    return tuple(dict.fromkeys(site.location for site in ordered)) or tuple(sites)


def that_carries_on(
    holder: HoldingReference, others: Iterable[HoldingReference], sources: Mapping[str, SourceFile]
) -> HoldingReference | None:
    """Of names for one state, the one whose statement makes the new value from the old, with that site first: a
    caller's variable is given what a generator (`level = decay * level + value; yield level`) or an object carries on.

    The `holder` where it is so itself; None where none or several of the `others` are, or a container is to blame. The
    `others` are asked for only where the holder is not the one.
    """
    if holder.element:
        return None
    if carrying := _carrying(holder, sources):
        return carrying
    found = [carrying for each in others if (carrying := _carrying(each, sources))]
    by_place = {each.sites[0]: each for each in reversed(found)}
    return next(iter(by_place.values())) if len(by_place) == 1 else None


def _carrying(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference | None:
    """The reference with the statement first that makes its value from the one it had."""
    sought = Sought(reference, sources, growing=True)
    for site in reference.sites:
        source = sources.get(site.file)
        if source is not None and any(_carries(sought, source, b) for b in bindings_of(source) if b.line == site.line):
            sites = dict.fromkeys((site, *reference.sites))
            return dataclasses.replace(reference, sites=tuple(sites))
    return None


def _carries(sought: Sought, source: SourceFile, binding: Binding) -> bool:
    """Also by variables of the function: `old = self.mean; new = decay * old + x; self.mean = new`."""
    if binding.name not in sought.names:
        return False
    if binding.kind == "augmented" or is_made_from(binding.value_text, sought.names):
        return True
    here = [b for b in bindings_of(source) if b.function == binding.function and b.kind in BINDERS and not b.receiver]
    old = {b.name for b in here if sought.refers_to_itself(b)}
    new = {b.name for b in here if is_made_from(b.value_text, {*sought.names, *old})}
    return is_made_from(binding.value_text, old) or binding.value_text in new


def _of_nearest_class(sought: Sought, found: list[tuple[str, Binding]]) -> list[tuple[str, Binding]]:
    """Those in the owner's own class, or else in the nearest base class that has any."""
    for path, qualname in sought.family:
        own = [each for each in found if each[0] == path and each[1].class_name == qualname]
        if own:
            return own
    return found


def _last_first(site: RankedSite) -> tuple[str, int]:
    """Of the statements of one function the last: those before it are for the first time."""
    return site.location.file, -site.location.line


def _runs_again(reference: HoldingReference, site: SourceLocation, sources: Mapping[str, SourceFile]) -> bool:
    """A statement in a loop or in a method; in a constructor and at the top of a script each runs once."""
    source = sources.get(site.file)
    if source is None:
        return True
    here = [b for b in bindings_of(source) if b.line == site.line and b.function == site.function]
    if any(b.in_loop or b.kind in _IN_PLACE for b in here):
        return True
    once = site.function.rpartition(".")[2] == "__init__" or reference.kind in ("local", "global", "closure")
    return not (once or site.function == MODULE)


def _changes(sought: Sought) -> Iterator[tuple[str, Binding]]:
    of_object = sought.of_an_object
    for path, source in sought.sources.items():
        if of_object and sought.family and path not in {place for place, _ in sought.family}:
            continue
        if not of_object and not sought.is_scope_file(path):
            continue
        for binding in bindings_of(source):
            in_constructor = binding.function.rpartition(".")[2] == "__init__"
            if not in_constructor and _fits(sought, path, binding):
                yield path, binding


def _fits(sought: Sought, path: str, binding: Binding) -> bool:
    if not sought.of_an_object:
        at_home = binding.owner in (sought.reference.scope_function, MODULE)
        return not binding.receiver and at_home and binding.kind != "attribute"
    fit = sought.owner_fit(path, binding.receiver, binding.on_self, binding)
    return bool(binding.receiver) and fit is not None and fit <= LIKELY
