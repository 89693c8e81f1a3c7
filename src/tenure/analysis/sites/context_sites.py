"""What a context variable holds, told by the call that set it: `active.set(model)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import dotted, enclosing_function

_VARIABLE = re.compile(r"context variable `(\w+)`")


def by_the_context_variable(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where nothing but a thread's or task's context names the memory, by the variable and the program's
    calls that set it. A context has no name in the program, and its variables go by none but their own."""
    found = _VARIABLE.match(suspect.path_text[1]) if len(suspect.path_text) > 1 else None
    if found is None or suspect.holder.kind != "unknown":
        return suspect
    variables = {found[1], *_variables_called(found[1], sources)}
    set_by = [(name, site) for name in sorted(variables) for site in _calls_that_set(name, sources)]
    sites, name = tuple(site for _, site in set_by), set_by[0][0] if set_by else found[1]
    holder = HoldingReference("hidden", name, name, sites=sites)
    return replace(suspect, holder=holder, cut=(holder,), ambiguous=len(sites) > 1, holder_is_yours=bool(sites))


def _variables_called(name: str, sources: Mapping[str, SourceFile]) -> Iterator[str]:
    """What the program calls a context variable of this name: `ACTIVE` of `ACTIVE = ContextVar("active")`."""
    for source in sources.values():
        if source.origin != "yours" or "ContextVar" not in source.text:
            continue
        for node in nodes_in(source):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_variable(node.value, name):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                yield from filter(None, (dotted(target).rpartition(".")[2] for target in targets))


def _is_variable(value: ast.expr | None, name: str) -> bool:
    if not isinstance(value, ast.Call) or called_name(value) != "ContextVar" or not value.args:
        return False
    return isinstance(value.args[0], ast.Constant) and value.args[0].value == name


def _calls_that_set(name: str, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    for path, source in sources.items():
        if source.origin != "yours" or f"{name}.set(" not in source.text:
            continue
        for node in nodes_in(source):
            if isinstance(node, ast.Call) and f".{dotted(node.func)}".endswith(f".{name}.set"):
                yield SourceLocation(path, node.lineno, enclosing_function(source, node.lineno))
