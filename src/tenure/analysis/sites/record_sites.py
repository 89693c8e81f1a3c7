"""Where a record is kept whose field holds memory: the statement that makes the record fills the field, and keeps
nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenure.analysis.sites.attribute_sites import constructor_calls
from tenure.analysis.sites.binding_sites import resolve_sites
from tenure.analysis.sites.site_search import Sought, bindings_of, is_yours
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.later_reads import is_read_later, runs_in_loop


def record_that_is_kept(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference | None:
    """The record's own name, where the field is filled as the record is made and nowhere else; None for all others,
    where a library keeps what the program fills, for nobody drops a trainer's variable, and where the field is private:
    it is for its class to let go of it."""
    if reference.record is None or reference.name.startswith("_"):
        return None
    best = resolve_sites(reference, sources, growing=False)[:1]
    if not best or not _fills_what_it_makes(reference, best[0], sources):
        return None
    kept = resolve_sites(reference.record, sources, growing=False)[:1]
    by_library = is_yours(best, sources) and not is_yours(kept, sources, default=True)
    return None if by_library else reference.record


def _fills_what_it_makes(reference: HoldingReference, site: SourceLocation, sources: Mapping[str, SourceFile]) -> bool:
    """A constructor's call, a field of a class, or an assignment in `__init__`."""
    calls = constructor_calls(Sought(reference, sources, growing=False))
    if site.function.endswith("__init__") or any(call.location == site for call in calls):
        return True
    source = sources.get(site.file)
    return source is not None and any(b.kind == "field" and b.line == site.line for b in bindings_of(source))


def fields_to_drop(
    record: HoldingReference, site: SourceLocation, sources: Mapping[str, SourceFile]
) -> tuple[HoldingReference, ...]:
    """The fields of a record that are dropped, and not the record: of one that its owner makes once, at `site` in its
    own `__init__`, where each is set elsewhere; and of one whose variable, bound in no loop, is still read. None of
    any other record."""
    if site.function.endswith("__init__"):
        return next((fields for fields in record.fields if _are_set_elsewhere(fields, sources)), ())
    source = sources.get(record.scope_file) if record.kind == "local" and record.fields else None
    if source is None or runs_in_loop(source, record.scope_function, site.line):
        return ()
    still_read = is_read_later(source, record.scope_function, record.name, record.scope_line)
    return record.fields[0] if still_read else ()


def _are_set_elsewhere(fields: Sequence[HoldingReference], sources: Mapping[str, SourceFile]) -> bool:
    set_at = [resolve_sites(field, sources, growing=False)[:1] for field in fields]
    return all(
        best and not _fills_what_it_makes(field, best[0], sources) for field, best in zip(fields, set_at, strict=True)
    )
