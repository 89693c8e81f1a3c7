"""Where a hook was registered, found by the function that it calls: in the program's files, else in a library's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenure.analysis.sites.site_search import SURE, RankedSite, Sought, bindings_of
from tenure.syntax.text.bindings import Binding


def hooks_of_function(sought: Sought) -> Iterator[RankedSite]:
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
