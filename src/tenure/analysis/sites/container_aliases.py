"""Stores that reach a container by another name: an alias, an element, a property, a helper's parameter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tenure.analysis.heap.graph import unquoted
from tenure.analysis.sites.site_search import LIKELY, SURE, WEAK, RankedSite, Sought, bindings_of, calls_of
from tenure.model.source import SourceFile
from tenure.syntax.text.bindings import Binding, Call
from tenure.syntax.text.scopes import MODULE, definitions

_ALIASES = frozenset({"assign", "attribute", "property", "for", "walrus", "with", "annotated"})
_INSIDE = re.compile(r"([\w.]+?)(?:\[.*\]|\.(?:setdefault|get|values|items)\(.*\))*")
"""A container, or a container found in it: `self.state[p]`, `rows.setdefault(k, [])`."""

_LAST_KEY = re.compile(r""".*\[["'](.*)["']\]""")


def stores_through_aliases(sought: Sought, path: str, source: SourceFile, owner: str | None) -> Iterator[RankedSite]:
    """Stores through another name: `buf = sought.history; buf.append(x)`, properties, bound methods."""
    all_bindings = bindings_of(source)
    parts = _parts_of_elements(all_bindings)
    for alias in all_bindings:
        text, _, method = alias.value_text.rpartition(".")
        bound_method = method in ("append", "add", "extend", "insert", "appendleft", "update")
        fit = _value_fit(sought, path, text if bound_method else alias.value_text, alias, owner)
        if fit is None or alias.kind not in _ALIASES or _is_entry_itself(sought, alias.value_text):
            continue
        if bound_method:
            for call in calls_of(source):
                if call.callee == alias.name and call.owner == alias.owner:
                    yield sought.site(path, call, fit)
            continue
        for b in all_bindings:
            same = b.owner == alias.owner and not b.receiver
            if alias.receiver or alias.kind == "property":
                same = bool(b.receiver) and (not b.on_self or b.class_name == alias.class_name)
            if same and b.name == alias.name and (level := sought.growth_level(b)) is not None:
                yield sought.site(path, b, max(level, fit, WEAK if alias in parts else fit))


def _parts_of_elements(found: Iterable[Binding]) -> list[Binding]:
    """`handler`, `args` and `options` of `for handler, args, options in table`: what is stored in one of them comes to
    a part of an element, and mostly not to the table."""
    targets: dict[tuple[int, str], list[Binding]] = {}
    for each in found:
        if each.kind == "for" and not each.value_text.endswith(".items()"):
            targets.setdefault((each.line, each.value_text), []).append(each)
    return [each for unpacked in targets.values() if len(unpacked) > 1 for each in unpacked]


def _is_entry_itself(sought: Sought, text: str) -> bool:
    """Whether an expression is the very entry sought, `checkpoint["model"]`: what is stored in it is no such entry."""
    last = _LAST_KEY.fullmatch(text)
    return bool(sought.key) and not sought.reference.element and last is not None and last[1] == unquoted(sought.key)


def stores_through_helpers(sought: Sought, path: str, source: SourceFile, owner: str | None) -> Iterator[RankedSite]:
    """`store(history, x)` where `def store(dst, x): dst.append(x)`: the append, then the call."""
    if not sought.element:
        return
    for call in calls_of(source):
        for (key, text), where in zip(call.arguments, call.argument_owners, strict=True):
            fit = _value_fit(sought, path, text, call, owner, where)
            if fit is None:
                continue
            inside = list(_stores_through_parameter(sought, path, call, key, fit))
            if inside:
                yield from inside
                yield sought.site(path, call, max(fit, LIKELY))


def _stores_through_parameter(sought: Sought, path: str, call: Call, key: int | str, fit: int) -> Iterator[RankedSite]:
    last = call.callee.rpartition(".")[2]
    for file, source in _files_defining(sought, last, path):
        for scope in definitions(source):
            if scope.qualname.rpartition(".")[2] != last:
                continue
            function = scope.qualname + (".__init__" if scope.kind == "class" else "")
            name = _parameter(source, function, key)
            if name:
                yield from _stores_into(sought, file, source, function, name, fit)


def _files_defining(sought: Sought, name: str, home: str) -> list[tuple[str, SourceFile]]:
    """The file of a call, where it defines what is called; else the program's own that do."""
    at_home = sought.sources[home]
    if _defines(at_home, name):
        return [(home, at_home)]
    return [(path, each) for path, each in sought.sources.items() if each.origin == "yours" and _defines(each, name)]


def _defines(source: SourceFile, name: str) -> bool:
    if not name or (f"def {name}" not in source.text and f"class {name}" not in source.text):
        return False
    return re.search(rf"\b(def|class) {re.escape(name)}\b", source.text) is not None


def _stores_into(
    sought: Sought, file: str, source: SourceFile, function: str, name: str, fit: int
) -> Iterator[RankedSite]:
    kept: set[tuple[str, str]] = set()
    for b in bindings_of(source):
        if b.owner == function and b.name == name and not b.receiver:
            level = sought.growth_level(b)
            if level is not None:
                yield sought.site(file, b, max(level, fit))
        elif b.kind == "attribute" and b.function == function and b.value_text == name and b.on_self:
            kept.add((b.class_name, b.name))
    for b in bindings_of(source) if kept else ():
        if b.on_self and (b.class_name, b.name) in kept and sought.growth_level(b) is not None:
            yield sought.site(file, b, max(SURE, fit))


def _value_fit(
    sought: Sought, path: str, text: str, binding: Binding | Call, owner: str | None, where: str | None = None
) -> int | None:
    """How surely an expression is the container sought; None when it is not."""
    inside = _INSIDE.fullmatch(text)
    receiver, _, last = inside[1].rpartition(".") if inside else ("", "", "")
    if last not in sought.names:
        return None
    if owner is not None:
        if receiver:
            return None
        within = binding.function == owner or binding.function.startswith(owner + ".") or owner == MODULE
        return SURE if where == owner or (where is None and within) else None
    if not receiver:
        return None
    return sought.owner_fit(path, receiver, receiver == "sought" and bool(binding.class_name), binding)


def _parameter(source: SourceFile, function: str, key: int | str) -> str:
    names = [b.name for b in bindings_of(source) if b.kind == "parameter" and b.owner == function]
    if isinstance(key, str):
        return key if key in names else ""
    shift = 1 if names[:1] in (["self"], ["cls"]) else 0
    return names[key + shift] if key + shift < len(names) else ""
