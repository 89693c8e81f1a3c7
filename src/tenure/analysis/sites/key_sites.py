"""Stores by a key: `space["Out"][n] = value`, and `self.loaders.append(x)` where a dict serves as `__dict__`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tenure.analysis.heap.graph import unquoted
from tenure.analysis.sites.site_search import (
    ITEM_NAME,
    LIKELY,
    MUTATORS,
    UNLIKELY,
    WEAK,
    RankedSite,
    Sought,
    bindings_of,
)
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.bindings import Binding


def stores_by_key(sought: Sought) -> Iterator[RankedSite]:
    """Statements of the user's own files that store under the key that a container's item, or a variable of a
    namespace without a file (what `exec` was given), goes by: by a subscript, or as an attribute.

    Good where nothing that goes by the container's own name stores into it. Never sure.
    """
    key = unquoted(sought.key) or ("" if sought.reference.scope_file else sought.name)
    if not key.isidentifier():
        return
    for path, source in sought.sources.items():
        if source.origin == "yours" and key in source.text:
            for binding in bindings_of(source):
                level = _level(sought, source, binding, key)
                if level is not None:
                    yield sought.site(path, binding, level)


def name_at(reference: HoldingReference, site: SourceLocation, sources: Mapping[str, SourceFile]) -> str:
    """The name by which the statement stores: the key, where it shows that and not the container that has it."""
    found, source = ITEM_NAME.fullmatch(reference.name), sources.get(site.file)
    if found is None or source is None:
        return reference.name
    text, key = source.text.split("\n")[site.line - 1], unquoted(found[2])
    by_key = key.isidentifier() and re.search(rf"\b{re.escape(key)}\b", text)
    return key if by_key and not re.search(rf"\b{re.escape(found[1])}\b", text) else reference.name


def _level(sought: Sought, source: SourceFile, binding: Binding, key: str) -> int | None:
    if binding.name == key and binding.receiver:
        level = sought.store_level(binding)
    elif binding.kind in MUTATORS and _is_by_subscript(source, binding, key, inside=sought.element):
        level = LIKELY
    else:
        return None
    if level is None or (sought.element and binding.kind not in MUTATORS and level > LIKELY):
        return None if level is None else UNLIKELY
    return max(level, LIKELY if level < WEAK else level)


def _is_by_subscript(source: SourceFile, binding: Binding, key: str, *, inside: bool) -> bool:
    """Whether the statement stores into what lies under the key (`inside`), or under the key itself."""
    text = " ".join(source.text.split("\n")[binding.line - 1 : binding.end_line])
    by_key = rf"\[\s*(['\"]){re.escape(key)}\1\s*\]"
    found_by = rf"\.(setdefault|get)\(\s*(['\"]){re.escape(key)}\2[^()]*(\(\))?[^()]*\)"
    after = r"\s*(\[|\.\w+\()" if inside else r"\s*=[^=]"
    return re.search(by_key + after, text) is not None or (inside and re.search(found_by + after, text) is not None)
