"""Graphs of an evaluation, at the program's own call of the model: there they are made, whoever has them."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import replace

from tenure.analysis.sites.site_search import is_yours
from tenure.analysis.sites.unfinished import bound_at
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import RETURNED, RUNNING, HoldingReference, Suspect


def told_by_the_call(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect, located, at that call, where it is known; what is given back, or built there, and has no name yet
    by the name that the statement gives it."""
    calls = suspect.facts.get(RUNNING)
    if not isinstance(calls, tuple) or not calls:
        return suspect
    site = SourceLocation(*calls[0])
    if RETURNED not in suspect.facts and suspect.holder.kind != "unknown":
        return replace(suspect, holder=replace(suspect.holder, sites=(site,)), ambiguous=False)
    source = sources.get(site.file)
    name = (bound_at(source, site.line) if source else "") or site.function.rpartition(".")[2]
    holder = HoldingReference("local", name, name, scope_file=site.file, scope_function=site.function,
                              scope_line=site.line, sites=(site,))  # fmt: skip
    root = f"what `{name}` gets in {site.function} ({posixpath.basename(site.file)}:{site.line})"
    yours = is_yours((site,), sources, default=suspect.holder_is_yours)
    return replace(suspect, holder=holder, cut=(holder,), ambiguous=False, holder_is_yours=yours,
                   path_text=(root, *suspect.path_text[1:]))  # fmt: skip
