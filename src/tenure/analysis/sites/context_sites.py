"""What a context variable holds, told by the call that set it: `active.set(model)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import dotted, enclosing_function

_VARIABLE = re.compile(r"context variable `(\w+)`")


def by_the_context_variable(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where nothing but a thread's or task's context names the memory, by the variable and the program's
    calls that set it. A context has no name in the program, and its variables go by none but their own."""
    found = _VARIABLE.match(suspect.path_text[1]) if len(suspect.path_text) > 1 else None
    if found is None or suspect.holder.kind != "unknown":
        return suspect
    sites = tuple(_calls_that_set(found[1], sources))
    holder = HoldingReference("hidden", found[1], found[1], sites=sites)
    return replace(suspect, holder=holder, cut=(holder,), ambiguous=len(sites) > 1, holder_is_yours=bool(sites))


def _calls_that_set(name: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    for path, source in sources.items():
        if source.origin != "yours" or f"{name}.set(" not in source.text:
            continue
        for node in nodes_in(source):
            if isinstance(node, ast.Call) and f".{dotted(node.func)}".endswith(f".{name}.set"):
                yield SourceLocation(path, node.lineno, enclosing_function(source, node.lineno))
