"""Where a hook was registered, found by the function that it calls: in the program's files, else in a library's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.analysis.heap.holders import TENSOR_HOOKS
from tenure.analysis.sites.site_search import LIKELY, SURE, UNLIKELY, RankedSite, Sought, bindings_of
from tenure.analysis.sites.variable_sites import variables
from tenure.model.source import SourceFile
from tenure.syntax.text.bindings import Binding
from tenure.syntax.text.store_calls import PACK_HOOKS

_ON_TENSORS = ("register_hook", "register_post_accumulate_grad_hook")


def hooks(sought: Sought) -> Iterator[RankedSite]:
    """Registrations: of the function that is known to be called; those made by libraries only where the program's own
    files have none."""
    generic = not sought.name or sought.name == PACK_HOOKS or (sought.name.startswith("_") and "hook" in sought.name)
    if generic and sought.reference.calls:
        named = list(_hooks_of_function(sought))
        yield from named
        if named:
            return
    if sought.element and not generic:
        yield from variables(sought)
    found: list[RankedSite] = []
    for origin in ("yours", "library"):
        for path, source in sought.sources.items():
            told = source.text if generic else source.text if sought.name in source.text else ""
            if source.origin == origin and re.search(
                rf"register\w*hook|{PACK_HOOKS}|atexit|signal|finalize|settrace", told
            ):
                found.extend(_hooks_in(sought, path, source, generic))
        if generic or any(site.plausibility <= LIKELY for site in found):
            break
    yield from found or _beside_class(sought, generic)


def _beside_class(sought: Sought, generic: bool) -> Iterator[RankedSite]:
    """Registrations in the file that has the class whose objects are called as hooks."""
    for path, source in sought.sources.items():
        if sought.reference.calls and f"class {sought.reference.calls}" in source.text:
            yield from _hooks_in(sought, path, source, generic)


def _hooks_in(sought: Sought, path: str, source: SourceFile, generic: bool) -> Iterator[RankedSite]:
    for binding in bindings_of(source):
        level = _hook_level(sought, binding, generic) if binding.kind == "hook" else None
        if level is not None:
            second = sought.element and not generic
            yield sought.site(path, binding, max(level, LIKELY if second else SURE))


def _hook_level(sought: Sought, binding: Binding, generic: bool) -> int | None:
    if not generic:
        named = binding.name in sought.names or sought.refers_to_itself(binding)
        return SURE if named else None
    if sought.reference.name == TENSOR_HOOKS:
        return LIKELY if binding.method in _ON_TENSORS else None
    return LIKELY if registers_on(sought.reference.name, binding.method) else UNLIKELY


def _hooks_of_function(sought: Sought) -> Iterator[RankedSite]:
    """Registrations on the sought table of the function that its hooks call, or of what the function around it gives
    back (`register_forward_hook(make_hook(name))`); none where no file shows one."""
    around, _, name = sought.reference.calls.rpartition(".")
    around = around.removesuffix(".<locals>") if around.endswith(".<locals>") else ""
    for origin in ("yours", "library"):
        found = [
            sought.site(path, binding, SURE)
            for path, source in sought.sources.items()
            if source.origin == origin and "hook" in source.text and _may_tell(source.text, name, around)
            for binding in bindings_of(source)
            if binding.kind == "hook" and registers_on(sought.name, binding.method) and _is_of(binding, name, around)
        ]
        yield from found
        if found:
            return


def _may_tell(text: str, name: str, around: str) -> bool:
    return (name if name.isidentifier() else around.rpartition(".")[2]) in text


def registers_on(table: str, method: str) -> bool:
    """Whether a function of this name makes entries of a table of hooks, as far as the two names tell: those for all
    modules are `_global_forward_hooks` and `register_module_forward_hook`."""
    event = table.strip("_").removesuffix("s").removeprefix("tensor_")
    if not event.startswith("global_"):
        return event in method
    words = set(method.split("_"))
    for_all = bool(words & {"module", "optimizer"})
    return for_all and words - {"register", "module", "full", "step"} == set(event.split("_")) - {"global"}


def _is_of(binding: Binding, name: str, around: str) -> bool:
    if binding.name == name:
        return name.isidentifier() or binding.function == (around or "<module>")
    maker = around.rpartition(".")[2]
    return bool(maker) and re.search(rf"\b{re.escape(maker)}\(", binding.value_text) is not None
