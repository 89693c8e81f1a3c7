"""Statements that set an attribute, or make the object whose field it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenure.analysis.sites.container_aliases import stores_through_aliases, stores_through_helpers
from tenure.analysis.sites.site_search import LIKELY, SURE, WEAK, RankedSite, Sought, bindings_of, calls_of
from tenure.model.source import SourceFile
from tenure.syntax.text.bindings import Call
from tenure.syntax.text.scopes import MODULE
from tenure.syntax.text.store_calls import COPYING_FUNCTIONS


def attributes(sought: Sought) -> Iterator[RankedSite]:
    """In the user's own files; in libraries only where those have none."""
    found: list[RankedSite] = []
    for origin in ("yours", "library"):
        for path, source in sought.files_with_name(origin):
            found.extend(_attributes_in(sought, path, source))
        found.extend((*constructor_calls(sought), *_calls_with_ctx(sought)) if origin == "yours" else ())
        if any(site.plausibility <= LIKELY for site in found):
            break
        found.extend(_set_by_computed_name(sought) if origin == "yours" and not sought.growing else ())
        found.extend(_set_on_ctx(sought) if origin == "yours" else ())
    yield from found


def _attributes_in(sought: Sought, path: str, source: SourceFile) -> Iterator[RankedSite]:
    for b in bindings_of(source):
        if b.name not in sought.names:
            continue
        match = sought.owner_fit(path, b.receiver, b.on_self, b)
        level = sought.store_level(b) if match is not None else None
        if match is None or level is None:
            continue
        if b.function.endswith("__init__") and b.kind == "attribute" and sought.growing:
            level = max(level, LIKELY)
        yield sought.site(path, b, max(match, level), match + level - sought.has_key(b))
    if sought.element or sought.growing:
        yield from stores_through_aliases(sought, path, source, None)
        yield from stores_through_helpers(sought, path, source, None)


def constructor_calls(sought: Sought) -> Iterator[RankedSite]:
    """`Batch(x, loss=loss)` where the attribute is a field of a dataclass or named tuple; inside it `cls(x)`, anywhere
    `replace(batch, loss=loss)`."""
    fields = [
        b.name
        for path, qualname in reversed(sought.family)
        for b in bindings_of(sought.sources[path])
        if b.kind == "field" and b.function == qualname
    ]
    position = next((n for n, name in enumerate(fields) if name in sought.names), None)
    if not sought.family or position is not None:
        copying = COPYING_FUNCTIONS if position is not None else ()
        yield from _calls_that_give(sought, sought.names, position, copying=copying)


def calls_that_give(sought: Sought) -> Iterator[RankedSite]:
    """`Point(loss, mean)` where the constructor sets the attribute to what it is given as `mean`."""
    for path, qualname in sought.family:
        made = f"{qualname}.__init__"
        inside = [b for b in bindings_of(sought.sources[path]) if b.function == made]
        parameters = [b.name for b in inside if b.kind == "parameter"][1:]
        set_to = {b.value_text for b in inside if b.kind == "attribute" and b.on_self and b.name in sought.names}
        given = next((n for n, name in enumerate(parameters) if set_to == {name}), None)
        if given is not None:
            yield from _calls_that_give(sought, (parameters[given],), given)


def _calls_that_give(
    sought: Sought, names: Sequence[str], position: int | None, *, copying: Sequence[str] = ()
) -> Iterator[RankedSite]:
    """Calls of the owner's class with an argument by one of the names, or at the position; and of functions that are
    `copying` its objects but for such arguments."""
    last = sought.owner_type.rpartition(".")[2]
    if sought.element or not last:
        return
    for file, source in sought.sources.items():
        inside = {qualname for path, qualname in sought.family if path == file}
        names_it = any(f"{name}(" in source.text for name in (last, *copying))
        if (names_it or inside) and (source.origin == "yours" or position is not None):
            for call in calls_of(source):
                keys = [key for key, _ in call.arguments]
                given = any(key in names or key == position for key in keys)
                made_here = call.callee == "cls" and call.class_name in inside
                called = call.callee.rpartition(".")[2]
                copied = called in copying and any(key in names for key in keys)
                if (given and (made_here or called == last)) or copied:
                    level = SURE if sought.family else LIKELY
                    yield sought.site(file, call, _level_of_repeated(call, level) if sought.growing else level)


def _set_by_computed_name(sought: Sought) -> Iterator[RankedSite]:
    """`setattr(self, name, x)` or `vars(self).update(...)` in methods of the owner's that are the user's; of what grows
    `state_sites` asks which of them comes last."""
    for path, qualname in (each for each in sought.family if sought.sources[each[0]].origin == "yours"):
        for b in bindings_of(sought.sources[path]):
            if b.sets_computed_name and b.class_name == qualname and b.on_self:
                yield sought.site(path, b, LIKELY)


def _calls_with_ctx(sought: Sought) -> Iterator[RankedSite]:
    """`stash(ctx, weights=weights)` in an autograd Function whose `ctx.weights` is sought: a helper sets it."""
    if not sought.owner_type.endswith("Backward"):
        return
    for path, qualname in sought.family:
        for call in calls_of(sought.sources[path]):
            inside = call.class_name == qualname and any(text == "ctx" for _, text in call.arguments)
            if inside and any(key in sought.names for key, _ in call.arguments):
                yield sought.site(path, call, LIKELY)


def _set_on_ctx(sought: Sought) -> Iterator[RankedSite]:
    """`setattr(ctx, name, x)` with a computed name, in an autograd Function's own methods."""
    if not sought.owner_type.endswith("Backward"):
        return
    for path, qualname in sought.family:
        for b in bindings_of(sought.sources[path]):
            if b.sets_computed_name and b.class_name == qualname and b.receiver == "ctx":
                yield sought.site(path, b, LIKELY)


def _level_of_repeated(call: Call, level: int) -> int:
    """How well a call explains what is made again and again: in a function, though in no loop there, it may be."""
    if call.in_loop:
        return level
    return WEAK if call.function == MODULE or call.function.endswith("__init__") else LIKELY
