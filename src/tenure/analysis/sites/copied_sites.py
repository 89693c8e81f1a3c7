"""What a concatenation makes larger, told at the concatenation where a function is given it and does not bind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import COPIED_TO_GROW, Suspect
from tenure.syntax.text.scopes import enclosing_function


def by_the_concatenation(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where what holds the old copy is a parameter of the function that concatenates, by that statement:
    the line that makes it at full length once, or writes into a slice, is that one."""
    statement, site = suspect.facts.get(COPIED_TO_GROW), next(iter(suspect.holder.sites), None)
    if not isinstance(statement, tuple) or site is None or statement[0] != site.file:
        return suspect
    file, line = statement
    source = sources[file]
    function = enclosing_function(source, line)
    given = any(
        (b.kind, b.name, b.line, b.function) == ("parameter", suspect.holder.name, site.line, function)
        for b in bindings_of(source)
    )
    if not given:
        return suspect
    return replace(suspect, holder=replace(suspect.holder, sites=(SourceLocation(file, line, function),)))
