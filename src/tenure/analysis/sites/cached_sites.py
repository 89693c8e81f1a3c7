"""Functions whose cache, or whose default, holds something."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.analysis.sites.site_search import LIKELY, MUTATORS, SURE, RankedSite, Sought, bindings_of
from tenure.syntax.text.scopes import definitions


def caches(sought: Sought) -> list[RankedSite]:
    """Functions under a cache of the interpreter's, or else of the program's own."""
    found = []
    for path, source in sought.files_with_name():
        for b in bindings_of(source):
            wrapped = b.kind == "assign" and re.match(r"([\w.]+\.)?(lru_cache|cache)\(", b.value_text)
            if b.name in sought.names and (b.kind == "cache" or wrapped):
                here = not sought.reference.scope_file or sought.is_scope_file(path)
                found.append(sought.site(path, b, SURE if here else LIKELY))
    return found or list(_cached_by_own_decorators(sought))


def _cached_by_own_decorators(sought: Sought) -> Iterator[RankedSite]:
    """Functions of the name: a decorator of the program's own may have wrapped them in a cache."""
    for path, source in sought.files_with_name():
        decorated = {scope.qualname for scope in definitions(source) if scope.decorators}
        for b in bindings_of(source):
            qualname = f"{b.class_name}.{b.name}" if b.class_name else b.name
            if b.kind == "definition" and b.name in sought.names and qualname in decorated:
                yield sought.site(path, b, LIKELY)


def defaults(sought: Sought) -> Iterator[RankedSite]:
    """Arguments with a default of the name, and what adds to that default."""
    for path, source in sought.files_with_name():
        if sought.reference.scope_file and not sought.is_scope_file(path):
            continue
        for b in bindings_of(source):
            function = b.owner.rpartition(".")[2]
            if b.kind != "default" or not (b.name in sought.names or function in sought.names):
                continue
            if sought.reference.scope_function not in ("", b.owner, function):
                continue
            grown = [m for m in bindings_of(source) if m.owner == b.owner and m.name == b.name]
            grown = [m for m in grown if not m.receiver and (m.kind in MUTATORS or m.kind == "augmented")]
            for mutation in grown:
                yield sought.site(path, mutation, SURE)
            yield sought.site(path, b, LIKELY if grown else SURE)
