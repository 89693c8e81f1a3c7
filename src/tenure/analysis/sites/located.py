"""Suspects with the statements that made their references, as far as the recorded sources show them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from itertools import chain

from tenure.analysis.sites.asked_of_library import by_the_call_that_asked
from tenure.analysis.sites.binding_sites import given_by, is_unambiguous, name_that_stores, resolve_sites
from tenure.analysis.sites.context_sites import by_the_context_variable
from tenure.analysis.sites.copied_sites import by_the_concatenation
from tenure.analysis.sites.emptied import emptied_by
from tenure.analysis.sites.entered_hooks import by_the_hooks_entered, by_their_own_name
from tenure.analysis.sites.entry_sites import by_the_dict_that_names_it, by_the_entry
from tenure.analysis.sites.given_calls import by_the_calls_that_name_it
from tenure.analysis.sites.gradient_sites import name_of_gradients
from tenure.analysis.sites.kept_functions import by_the_function_that_is_kept
from tenure.analysis.sites.key_sites import name_at
from tenure.analysis.sites.keyed_calls import by_the_call_that_gives_the_keys, by_the_call_that_names_the_entry
from tenure.analysis.sites.library_calls import by_the_users_call
from tenure.analysis.sites.made_objects import by_the_call_that_makes
from tenure.analysis.sites.name_sites import by_the_statement_that_adds_names
from tenure.analysis.sites.optimizer_sites import by_the_statement_that_gives_parameters
from tenure.analysis.sites.record_sites import fields_to_drop, record_that_is_kept
from tenure.analysis.sites.registered_hooks import by_the_calls_name, by_the_registration
from tenure.analysis.sites.site_search import is_yours
from tenure.analysis.sites.state_sites import places_of_change, that_carries_on
from tenure.analysis.sites.text_facts import facts_of_text
from tenure.model.source import SourceFile
from tenure.model.suspect import (
    CARRIED_ON,
    CUT_IN_LIBRARY,
    HoldingReference,
    Suspect,
)


def locate(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect with the statements that made its references, as far as the recorded sources show them; as it is
    where no name holds the memory and the statement is known."""
    if suspect.holder.kind == "unknown" and suspect.holder.sites:
        return suspect
    growing = suspect.grows

    def located(reference: HoldingReference) -> HoldingReference:
        named = name_that_stores(reference, sources, growing=growing)
        sites = resolve_sites(named, sources, growing=growing)
        sites = places_of_change(named, sites, sources) if growing and suspect.through_graph else sites
        name = name_at(named, sites[0], sources) if sites else named.name
        name = name_of_gradients(sites[0], sources, name) if sites and named.kind == "gradient" else name
        asked = by_the_users_call(dataclasses.replace(named, name=name, sites=sites), sources)
        return by_the_calls_that_name_it(asked, suspect.path, sources)

    empties = emptied_by(suspect.holder, sources) if suspect.symptom == "growth" else ""
    holder = by_their_own_name(by_the_call_that_asked(located(suspect.holder), sources), sources)
    holder = by_the_call_that_gives_the_keys(holder, suspect.facts.get("keys"), sources)
    holder = by_the_call_that_names_the_entry(holder, suspect.path, sources)
    holder = by_the_call_that_makes(by_the_function_that_is_kept(holder, suspect, sources), sources)
    named = name_that_stores(suspect.holder, sources, growing=growing)
    record = record_that_is_kept(suspect.holder, sources)
    kept = located(record) if record is not None else None
    if kept is not None and kept.sites:
        named = name_that_stores(kept, sources, growing=growing)
        holder = dataclasses.replace(holder, name=f"{kept.name}.{holder.name}", sites=kept.sites)
    to_drop = suspect.cut
    if fields := fields_to_drop(holder, holder.sites[0], sources) if holder.sites else ():
        to_drop, named = fields, name_that_stores(fields[0], sources, growing=growing)
        holder = located(fields[0])
    cut = tuple(located(each if len(to_drop) == 1 else _as_it_is(each)) for each in to_drop)
    if record is not None or (len(cut) == 1 and not cut[0].sites and cut[0].expression == holder.expression):
        cut = (dataclasses.replace(cut[0], sites=holder.sites), *cut[1:])
    holder = _last_error_of_own_prompt(holder, cut, sources) or holder
    if suspect.symptom == "peak":
        holder = given_by(holder, cut, sources)
    carrying = None
    if growing and (suspect.through_graph or suspect.swells):
        carrying = that_carries_on(holder, chain(cut, map(located, suspect.chain_entries)), sources)
        holder = carrying or holder
    found = dataclasses.replace(
        suspect,
        holder=holder,
        cut=cut,
        ambiguous=carrying is None and _is_ambiguous(holder, named, sources, growing=growing),
        holder_is_yours=is_yours(holder.sites, sources, default=suspect.holder_is_yours),
        facts=suspect.facts
        | ({"emptied_by": empties} if empties else {})
        | facts_of_text(suspect, holder, sources)
        | ({CARRIED_ON: True} if carrying else {})
        | ({CUT_IN_LIBRARY: True} if _are_partly_of_libraries(holder, cut, sources) else {}),
    )
    found = by_the_hooks_entered(by_the_statement_that_adds_names(found, sources), sources)
    found = by_the_calls_name(by_the_registration(found, sources), sources)
    found = by_the_statement_that_gives_parameters(by_the_context_variable(found, sources), sources)
    found = by_the_entry(by_the_concatenation(found, sources), sources)
    found = by_the_dict_that_names_it(found, sources)
    return _by_what_is_left_on_ctx(found, sources)


def _by_what_is_left_on_ctx(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where results that pile up keep graphs that backward has freed but for what a custom Function of the
    program has on its ctx, told where it is put there: whoever keeps the graphs would keep next to nothing without it.

    Of a loss, and of what is bound anew in each step, the name that keeps it is the first to change.
    """
    attribute, function = suspect.facts.get("ctx_attribute"), suspect.facts.get("ctx_type")
    if not (suspect.facts.get("left_on_ctx") and attribute and function) or suspect.cyclic or not suspect.grows:
        return suspect
    if suspect.holder.names_a_loss:
        return suspect
    kept = HoldingReference("attribute", str(attribute), f"ctx.{attribute}", owner_type=str(function))
    sites = resolve_sites(kept, sources, growing=False)
    if not is_yours(sites, sources, default=False):
        return suspect
    sure = is_unambiguous(kept, sources, growing=False)
    return dataclasses.replace(suspect, holder=dataclasses.replace(kept, sites=sites), ambiguous=not sure)


def _are_partly_of_libraries(
    holder: HoldingReference, cut: Sequence[HoldingReference], sources: Mapping[str, SourceFile]
) -> bool:
    """Whether the holder is the user's, and another reference of the cut is made by a library."""
    if not is_yours(holder.sites, sources, default=False):
        return False
    return any(not is_yours(each.sites, sources, default=True) for each in cut)


def _last_error_of_own_prompt(
    holder: HoldingReference, cut: Sequence[HoldingReference], sources: Mapping[str, SourceFile]
) -> HoldingReference | None:
    """`sys.last_exc` or its like, where it is to be dropped and the program itself sets it, as a prompt of its own
    does: that statement is to blame, not the variable that hangs on the error."""
    if holder in cut or holder.kind != "local":
        return None
    set_here = (each for each in cut if each.kind == "global" and each.name.startswith("last_"))
    return next((each for each in set_here if is_yours(each.sites, sources, default=False)), None)


def _is_ambiguous(
    holder: HoldingReference, named: HoldingReference, sources: Mapping[str, SourceFile], *, growing: bool
) -> bool:
    """Whether several statements may have made the reference, and nothing decides between them."""
    if len(holder.sites) < 2:
        return False
    behind_a_library = is_yours(holder.sites, sources, default=True) and holder.sites != resolve_sites(
        named, sources, growing=growing
    )
    return behind_a_library or not is_unambiguous(named, sources, growing=growing)


def _as_it_is(reference: HoldingReference) -> HoldingReference:
    """The reference without other variables for the same object: where several are to be dropped, each is told."""
    return dataclasses.replace(reference, aliases=()) if reference.kind == "local" else reference
