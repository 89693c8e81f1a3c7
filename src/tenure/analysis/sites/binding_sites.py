"""From "who holds" to the statement that made the reference: file, line, function.

Read from recorded sources alone, so every answer is a candidate; what is measured later may confirm one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from tenure.analysis.heap.cells import cell_kind
from tenure.analysis.heap.holders import TENSOR_HOOKS
from tenure.analysis.sites.cells import other_cells
from tenure.analysis.sites.container_aliases import stores_through_aliases, stores_through_helpers
from tenure.analysis.sites.gradient_sites import backward_calls
from tenure.analysis.sites.hook_sites import hooks_of_function, registers_on
from tenure.analysis.sites.key_sites import stores_by_key
from tenure.analysis.sites.registration_sites import registrations
from tenure.analysis.sites.saved_sites import saves_for_backward
from tenure.analysis.sites.site_search import (
    BINDERS,
    LIKELY,
    MUTATORS,
    SURE,
    UNLIKELY,
    WEAK,
    RankedSite,
    Sought,
    bindings_of,
    calls_of,
)
from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.bindings import Binding, Call
from tenure.syntax.text.reaching import reaching_lines
from tenure.syntax.text.scopes import MODULE, definitions
from tenure.syntax.text.store_calls import PACK_HOOKS

_ON_TENSORS = ("register_hook", "register_post_accumulate_grad_hook")


def resolve_sites(
    reference: HoldingReference,
    sources: Mapping[str, SourceFile],
    *,
    growing: bool,
    hints: Sequence[SourceLocation] = (),
) -> tuple[SourceLocation, ...]:
    """Statements that may have made a reference, best first; empty where no source shows one.

    `growing` says that the reference was made again and again (or the container grew). `hints` are places known
    to have run when the reference was made. The first is the answer only where `is_unambiguous` says so.
    """
    return tuple(site.location for site in ranked_sites(reference, sources, growing=growing, hints=hints))


def is_unambiguous(
    reference: HoldingReference,
    sources: Mapping[str, SourceFile],
    *,
    growing: bool,
    hints: Sequence[SourceLocation] = (),
) -> bool:
    """Whether exactly one statement is the most plausible one, and it is at least likely."""
    ranked = ranked_sites(reference, sources, growing=growing, hints=hints)
    if not ranked or ranked[0].plausibility > LIKELY:
        return False
    return len(ranked) == 1 or ranked[1].plausibility > ranked[0].plausibility


def name_that_stores(
    reference: HoldingReference, sources: Mapping[str, SourceFile], *, growing: bool
) -> HoldingReference:
    """Of a container's names the one by which a statement stores into it; the reference itself where none does.

    The name nearest to a root may only receive the container: `features = collect_outputs(model)` in one function,
    `outputs.append(x)` in another.
    """
    if not growing:
        return _name_that_binds(reference, sources)
    for name in (reference, *reference.aliases):
        best = ranked_sites(name, sources, growing=growing)[:1]
        if best and best[0].stores and best[0].plausibility <= LIKELY:
            return name
    return reference


def _name_that_binds(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    """Of a parameter, or an item of one, the variable by which a caller holds the same object, where a statement
    binds one."""
    if reference.kind not in ("local", "item") or not reference.aliases or not _is_parameter(reference, sources):
        return reference
    bound = (name for name in reference.aliases if not _is_parameter(name, sources))
    return next((name for name in bound if resolve_sites(name, sources, growing=False)), reference)


def _is_parameter(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> bool:
    """Whether the value is the one that the variable's function was called with."""
    sought = Sought(reference, sources, growing=False)
    found = sought.file(reference.scope_file)
    if found is None:
        return False
    owner = _owner(sought, found[1])
    best = resolve_sites(reference, sources, growing=False)[:1]
    own = [b for b in bindings_of(found[1]) if b.owner == owner and b.name in sought.names and not b.receiver]
    return any(b.kind == "parameter" and (found[0], b.line) == (site.file, site.line) for b in own for site in best)


def ranked_sites(
    reference: HoldingReference,
    sources: Mapping[str, SourceFile],
    *,
    growing: bool,
    hints: Sequence[SourceLocation] = (),
) -> tuple[RankedSite, ...]:
    """As `resolve_sites`, with the plausibility of each. Parses only files in which the name occurs.

    An empty container holds no memory: where only such were bound, the statements that fill it are the answer.
    """
    sought = Sought(reference, sources, growing)
    found = _ranked(sought, hints)
    if not any(site.plausibility <= LIKELY for site in found):
        by_key = _by_plausibility(stores_by_key(sought), hints)
        found = by_key if any(site.plausibility <= LIKELY for site in by_key) else found or by_key
    best = [site for site in found if site.plausibility == found[0].plausibility]
    if reference.element or reference.kind == "item" or not any(site.empty for site in best):
        return found
    if all(site.empty for site in best):
        filled = _ranked(Sought(replace(reference, element=True), sources, growing), hints)
        stores = tuple(site for site in filled if site.stores and site.plausibility <= LIKELY)
        return stores or found
    return tuple(site for site in found if not site.empty)


def _ranked(sought: Sought, hints: Sequence[SourceLocation]) -> tuple[RankedSite, ...]:
    return _by_plausibility(_sites(sought), hints)


def _by_plausibility(sites: Iterable[RankedSite], hints: Sequence[SourceLocation]) -> tuple[RankedSite, ...]:
    best: dict[tuple[str, int], RankedSite] = {}
    for site in sites:
        key = (site.location.file, site.location.line)
        known = best.get(key)
        if known is None or (site.plausibility, site.order) < (known.plausibility, known.order):
            best[key] = site
    found = _with_hints(list(best.values()), hints)
    if any(site.plausibility <= LIKELY for site in found):
        found = [site for site in found if site.plausibility < UNLIKELY]
    return tuple(sorted(found, key=lambda site: (site.plausibility, site.order, site.location.line)))


def _with_hints(sites: list[RankedSite], hints: Sequence[SourceLocation]) -> list[RankedSite]:
    def hinted(site: RankedSite) -> bool:
        place = site.location
        return any(hint.file == place.file and place.line <= hint.line <= site.end_line for hint in hints)

    marks = [hinted(site) for site in sites]
    if not any(marks):
        return sites
    return [
        replace(site, plausibility=SURE if mark else max(LIKELY, site.plausibility))
        for site, mark in zip(sites, marks, strict=True)
    ]


def _sites(sought: Sought) -> Iterator[RankedSite]:
    if not sought.reference.name and sought.reference.kind != "hook":
        return
    by_kind: dict[str, Callable[[Sought], Iterator[RankedSite]]] = {
        "hook": _hooks,
        "cache": _caches,
        "default": _defaults,
        "local": _variables,
        "global": _variables,
        "closure": _variables,
        "attribute": _variables if sought.in_a_module else _attributes,
        "class": _attributes,
        "gradient": backward_calls,
        "handler": registrations,
        "saved": saves_for_backward,
        "item": _attributes if sought.of_an_object else _variables,
    }
    yield from by_kind.get(sought.reference.kind, _anything)(sought)


def _anything(sought: Sought) -> Iterator[RankedSite]:
    if sought.reference.scope_file and not sought.owner_type:
        yield from _variables(sought)
    yield from _attributes(sought)
    if sought.reference.kind == "hidden":
        yield from _hooks(sought)


def _variables(sought: Sought) -> Iterator[RankedSite]:
    found = sought.file(sought.reference.scope_file)
    if found is None:
        return
    yield from _variables_in(sought, *found, unbound=bool(cell_kind(found[0])))
    if _owner(sought, found[1]) == MODULE:
        for path, source in other_cells(found[0], sought.sources):
            yield from _variables_in(sought, path, source, unbound=True)
        yield from _from_other_modules(sought, found[0])


def _variables_in(sought: Sought, path: str, source: SourceFile, *, unbound: bool = False) -> Iterator[RankedSite]:
    """Statements of one file; with `unbound` also those about a name that the file itself binds nowhere."""
    owner = _owner(sought, source)
    owners = {owner, ""} if unbound else {owner}
    own = [b for b in bindings_of(source) if b.owner in owners and b.name in sought.names and not b.receiver]
    reach = _reach(sought, source, owner)
    bound = {b.line for b in own if b.kind in BINDERS and b.value_kind not in ("none", "constant")}
    reach = reach if reach & bound else frozenset()
    for binding in own:
        defined = list(_definitions_imported(sought, path, binding)) if binding.kind == "import" else []
        level = None if defined else _variable_level(sought, binding, owner, reach)
        yield from defined
        if level is not None:
            yield sought.site(path, binding, level)
    if sought.element or sought.growing:
        yield from stores_through_aliases(sought, path, source, owner)
        yield from stores_through_helpers(sought, path, source, owner)


def _definitions_imported(
    sought: Sought, path: str, statement: Binding, passed: frozenset[str] = frozenset()
) -> Iterator[RankedSite]:
    """Where what an import brings in is defined: `from loading import load_encoder` binds it, but makes nothing, and a
    package may have imported it from a module of its own. `passed` are files on the way here."""
    *module, name = statement.value_text.lstrip(".").split(".")
    for file, source in sought.sources.items():
        parts = list(PurePath(file).with_suffix("").parts)
        if parts[-1:] == ["__init__"]:
            parts.pop()
        if file == path or file in passed or not module or parts[-len(module) :] != module or name not in source.text:
            continue
        for b in bindings_of(source):
            if b.name != name or b.owner != MODULE or b.receiver:
                continue
            if b.kind == "import":
                yield from _definitions_imported(sought, file, b, passed | {path})
            elif (level := _variable_level(sought, b, MODULE, frozenset())) is not None:
                yield sought.site(file, b, level)


def _owner(sought: Sought, source: SourceFile) -> str:
    """The scope in which the variable lives: the frame's own, or the nearest around it that binds the name."""
    function = sought.reference.scope_function
    if sought.reference.kind == "global" or function in ("", MODULE):
        return MODULE
    owners = {b.owner for b in bindings_of(source) if b.name in sought.names and not b.receiver and b.kind != "closure"}
    scope = _full_name(source, function, sought.reference.scope_line)
    while scope:
        if scope in owners:
            return scope
        scope = _outer(scope)
    return MODULE


def _reach(sought: Sought, source: SourceFile, owner: str) -> frozenset[int]:
    line = sought.reference.scope_line
    full = _full_name(source, sought.reference.scope_function or MODULE, line)
    if not line or full != owner or sought.reference.kind in ("closure", "global", "default"):
        return frozenset()
    return frozenset().union(*(reaching_lines(source, owner, name, line) for name in sought.names))


def _variable_level(sought: Sought, binding: Binding, owner: str, reach: frozenset[int]) -> int | None:
    if binding.kind == "closure":
        return WEAK if sought.reference.kind == "closure" else None
    if binding.kind in MUTATORS or (binding.kind == "augmented" and binding.method == "item"):
        return sought.mutation_level(binding)
    if binding.kind == "default":
        return WEAK
    if binding.kind not in BINDERS:
        return None
    level = sought.binder_level(binding)
    grows_in_place = sought.element and level == SURE
    if reach and binding.line not in reach and not grows_in_place:
        elsewhere = binding.function != owner
        level = max(level, LIKELY if elsewhere else WEAK)
    return level


def _from_other_modules(sought: Sought, home: str) -> Iterator[RankedSite]:
    """`state.history.append(x)` and `from state import history` in other files of the program."""
    stem = _module_stem(home)
    names = "|".join(map(re.escape, sought.names))
    told = re.compile(rf"\b{re.escape(stem)}(\.({names})\b|\s+import\b)")
    for path, source in sought.files_with_name():
        if path == home or not told.search(source.text):
            continue
        imported = {
            b.name
            for b in bindings_of(source)
            if b.kind == "import" and b.value_text.split(".")[-2:] in [[stem, n] for n in sought.names]
        }
        for b in bindings_of(source):
            dotted = b.name in sought.names and b.receiver.rpartition(".")[2] == stem
            plain = b.name in imported and not b.receiver and b.owner == MODULE and b.kind in MUTATORS
            level = sought.store_level(b) if dotted or plain else None
            if level is not None:
                yield sought.site(path, b, level)


def _attributes(sought: Sought) -> Iterator[RankedSite]:
    found: list[RankedSite] = []
    for origin in ("yours", "library"):
        for path, source in sought.files_with_name(origin):
            found.extend(_attributes_in(sought, path, source))
        found.extend((*constructor_calls(sought), *_calls_with_ctx(sought)) if origin == "yours" else ())
        if any(site.plausibility <= LIKELY for site in found):
            break
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
    """`Batch(x, loss=loss)` where the attribute is a field of a dataclass or named tuple; inside it `cls(x)`."""
    last = sought.owner_type.rpartition(".")[2]
    fields = [
        b.name
        for path, qualname in reversed(sought.family)
        for b in bindings_of(sought.sources[path])
        if b.kind == "field" and b.function == qualname
    ]
    position = next((n for n, name in enumerate(fields) if name in sought.names), None)
    if sought.element or not last or (sought.family and position is None):
        return
    for file, source in sought.sources.items():
        inside = {qualname for path, qualname in sought.family if path == file}
        if (f"{last}(" in source.text or inside) and (source.origin == "yours" or position is not None):
            for call in calls_of(source):
                keys = [key for key, _ in call.arguments]
                given = any(key in sought.names or key == position for key in keys)
                made_here = call.callee == "cls" and call.class_name in inside
                if given and (made_here or call.callee.rpartition(".")[2] == last):
                    level = SURE if sought.family else LIKELY
                    yield sought.site(file, call, _level_of_repeated(call, level) if sought.growing else level)


def _calls_with_ctx(sought: Sought) -> Iterator[RankedSite]:
    """`stash(ctx, weights=weights)` in an autograd Function whose `ctx.weights` is sought: a helper sets it."""
    if not sought.owner_type.endswith("Backward"):
        return
    for path, qualname in sought.family:
        for call in calls_of(sought.sources[path]):
            inside = call.class_name == qualname and any(text == "ctx" for _, text in call.arguments)
            if inside and any(key in sought.names for key, _ in call.arguments):
                yield sought.site(path, call, LIKELY)


def _level_of_repeated(call: Call, level: int) -> int:
    """How well a call explains what is made again and again: in a function, though in no loop there, it may be."""
    if call.in_loop:
        return level
    return WEAK if call.function == MODULE or call.function.endswith("__init__") else LIKELY


def _hooks(sought: Sought) -> Iterator[RankedSite]:
    """Registrations: of the function that is known to be called; those made by libraries only where the program's own
    files have none."""
    generic = not sought.name or sought.name == PACK_HOOKS or (sought.name.startswith("_") and "hook" in sought.name)
    if generic and sought.reference.calls:
        named = list(hooks_of_function(sought))
        yield from named
        if named:
            return
    if sought.element and not generic:
        yield from _variables(sought)
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
    yield from found


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


def _caches(sought: Sought) -> Iterator[RankedSite]:
    found = []
    for path, source in sought.files_with_name():
        for b in bindings_of(source):
            wrapped = b.kind == "assign" and re.match(r"([\w.]+\.)?(lru_cache|cache)\(", b.value_text)
            if b.name in sought.names and (b.kind == "cache" or wrapped):
                here = not sought.reference.scope_file or sought.is_scope_file(path)
                found.append(sought.site(path, b, SURE if here else LIKELY))
    found = found or list(_cached_by_own_decorators(sought))
    yield from found
    if not found:
        yield from _anything(sought)


def _cached_by_own_decorators(sought: Sought) -> Iterator[RankedSite]:
    """Functions of the name: a decorator of the program's own may have wrapped them in a cache."""
    for path, source in sought.files_with_name():
        decorated = {scope.qualname for scope in definitions(source) if scope.decorators}
        for b in bindings_of(source):
            qualname = f"{b.class_name}.{b.name}" if b.class_name else b.name
            if b.kind == "definition" and b.name in sought.names and qualname in decorated:
                yield sought.site(path, b, LIKELY)


def _defaults(sought: Sought) -> Iterator[RankedSite]:
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


def _full_name(source: SourceFile, function: str, line: int) -> str:
    """Python 3.10 knows frames by their plain name: the qualified one is found by the line."""
    while re.search(r"<(listcomp|setcomp|dictcomp|genexpr)>$", function):
        function = _outer(function) or MODULE
    try:
        scopes = definitions(source)
    except SourceError:
        return function
    if function == MODULE or any(scope.qualname == function for scope in scopes):
        return function
    matches = [scope for scope in scopes if scope.qualname.endswith("." + function)]
    around = [scope for scope in matches if scope.first_line <= line <= scope.end_line]
    chosen = around or matches
    return chosen[-1].qualname if chosen else function


def _outer(qualname: str) -> str:
    """The function around a function, "" at top level; classes do not count, their names are not seen inside."""
    head, found, _ = qualname.rpartition(".<locals>.")
    return head if found else ""


def _module_stem(path: str) -> str:
    pure = PurePath(path)
    return pure.parent.name if pure.stem == "__init__" else pure.stem
