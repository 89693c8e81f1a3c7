"""What a context variable holds, told by the call that set it: `active.set(model)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.syntax.text.scopes import dotted, enclosing_function, parse

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
        try:
            tree = parse(source)
        except SourceError:
            continue
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
        for call in calls:
            if f".{dotted(call.func)}".endswith(f".{name}.set"):
                yield SourceLocation(path, call.lineno, enclosing_function(source, call.lineno))
