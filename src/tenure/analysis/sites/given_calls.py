"""Of several calls that may have given a library's container what it keeps, those that say so: what is kept is
`stage`'s suspended frame, and one of them is `scope.enter_context(stager.stage(raw))`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Hop
from tenure.syntax.text.file_nodes import nodes_in


def by_the_calls_that_name_it(
    holder: HoldingReference, path: Sequence[Hop], sources: Mapping[str, SourceFile]
) -> HoldingReference:
    """The holder at those of its sites whose call has an argument that names a function of the user's on the path, or
    a class of one there; at all of them where none has, or where the container is no library's."""
    if not holder.library_sites or len(holder.sites) < 2:
        return holder
    names = {name for hop in path if hop.file and (name := hop.source_name.rpartition(".")[2])}
    names |= {hop.target_type.rpartition(".")[2] for hop in path if "." in hop.target_type}
    naming = tuple(site for site in holder.sites if names & _given_at(site, sources))
    return replace(holder, sites=naming) if naming else holder


def _given_at(site: SourceLocation, sources: Mapping[str, SourceFile]) -> set[str]:
    """Last names of all that the calls on a line are given."""
    source = sources.get(site.file)
    calls = (node for node in nodes_in(source) if isinstance(node, ast.Call)) if source is not None else ()
    given = (value for call in calls if call.lineno == site.line for value in (*call.args, *call.keywords))
    parts = (part for value in given for part in ast.walk(value))
    return {str(getattr(part, "attr", "") or getattr(part, "id", "")) for part in parts} - {""}
