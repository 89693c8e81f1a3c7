"""A function of the user's that a library's table keeps, by its own definition: `@trainer.on(Events.COMPLETED)` above a
`def` hands it over, and the statement that stores it is the library's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.syntax.text.scopes import enclosing_function

_NESTED = ".<locals>."
_FUNCTION = "function"


def by_the_function_that_is_kept(
    holder: HoldingReference, suspect: Suspect, sources: Mapping[str, SourceFile]
) -> HoldingReference:
    """The holder as a hook, named by the first function on the suspect's path and placed at its `def`, where elements
    come to a library's container by a library's statement, and the function is defined anew by each run of another:
    what it closes over comes with it. As it is otherwise."""
    inside = sources.get(holder.sites[0].file) if holder.sites else None
    if inside is None or inside.origin == "yours" or not holder.element or not suspect.grows:
        return holder
    kept = next((hop for hop in suspect.path if hop.source_type == _FUNCTION), None)
    source = sources.get(kept.file) if kept is not None else None
    if kept is None or source is None or source.origin != "yours" or _NESTED not in kept.source_name:
        return holder
    site = SourceLocation(source.path, kept.line, enclosing_function(source, kept.line))
    name = kept.source_name.rpartition(_NESTED)[2]
    return replace(holder, kind="hook", name=name, sites=(site,), library_sites=holder.sites[:1])
