"""From "who holds" to the statement that made the reference: file, line, function.

Read from recorded sources alone, so every answer is a candidate; what is measured later may confirm one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath

from tenure.analysis.class_search import class_family
from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.bindings import Binding, Call, bindings, calls
from tenure.syntax.reaching import reaching_lines
from tenure.syntax.scopes import MODULE, definitions

SURE, LIKELY, WEAK, UNLIKELY = range(4)

BINDERS = frozenset(
    {"assign", "unpack", "walrus", "annotated", "augmented", "with", "for", "except", "match", "import"}
    | {"definition", "parameter", "comprehension", "attribute", "ctx", "class", "field", "partial"}
)
MUTATORS = frozenset({"item", "grow"})
_NO_CLASSES = frozenset(
    {"list", "dict", "set", "tuple", "deque", "defaultdict", "OrderedDict", "module", "ModuleType", "function"}
)
_SAVED = frozenset({"saved_tensors", "_saved_tensors", "to_save", "saved_variables"})


_ALIASES = frozenset({"assign", "attribute", "property", "for", "walrus", "with", "annotated"})
_INSIDE = re.compile(r"([\w.]+?)(?:\[.*\]|\.(?:setdefault|get|values|items)\(.*\))*")
"""A container, or a container found in it: `self.state[p]`, `rows.setdefault(k, [])`."""


@dataclass(frozen=True)
class RankedSite:
    """A candidate statement; `plausibility` is 0 for the best supported, 3 for the barely possible."""

    location: SourceLocation
    end_line: int
    plausibility: int
    order: tuple[int, ...] = ()


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


def ranked_sites(
    reference: HoldingReference,
    sources: Mapping[str, SourceFile],
    *,
    growing: bool,
    hints: Sequence[SourceLocation] = (),
) -> tuple[RankedSite, ...]:
    """As `resolve_sites`, with the plausibility of each. Parses only files in which the name occurs."""
    search = _Search(reference, sources, growing)
    best: dict[tuple[str, int], RankedSite] = {}
    for site in search.sites():
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


class _Search:
    """One question to the sources: what is sought and what is known of its owner, kept together."""

    def __init__(self, reference: HoldingReference, sources: Mapping[str, SourceFile], growing: bool) -> None:
        self.reference = reference
        self.sources = sources
        self.growing = growing
        self.names = _spellings(reference.name)
        # A container or module that owns something says nothing about classes.
        last = reference.owner_type.rpartition(".")[2]
        self.owner_type = "" if last in _NO_CLASSES else reference.owner_type
        self._in_a_module = last in ("module", "ModuleType") and bool(reference.scope_file)
        self.element = reference.element or reference.kind == "item"

    # what is asked

    def sites(self) -> Iterator[RankedSite]:
        if not self.reference.name and self.reference.kind != "hook":
            return
        by_kind: dict[str, Callable[[], Iterator[RankedSite]]] = {
            "hook": self.hooks,
            "cache": self.caches,
            "default": self.defaults,
            "local": self.variables,
            "global": self.variables,
            "closure": self.variables,
            "attribute": self.attributes if self.owner_type or not self._in_a_module else self.variables,
            "class": self.attributes,
            "item": self.attributes if self.owner_type or not self.reference.scope_file else self.variables,
        }
        yield from by_kind.get(self.reference.kind, self.anything)()

    def anything(self) -> Iterator[RankedSite]:
        if self.reference.scope_file and not self.owner_type:
            yield from self.variables()
        yield from self.attributes()
        if self.reference.kind == "hidden":
            yield from self.hooks()

    # variables

    def variables(self) -> Iterator[RankedSite]:
        found = self._file(self.reference.scope_file)
        if found is None:
            return
        path, source = found
        owner = self._owner(source)
        own = [b for b in _bindings(source) if b.owner == owner and b.name in self.names and not b.receiver]
        reach = self._reach(source, owner)
        bound = {b.line for b in own if b.kind in BINDERS and b.value_kind not in ("none", "constant")}
        reach = reach if reach & bound else frozenset()
        for binding in own:
            level = self._variable_level(binding, owner, reach)
            if level is not None:
                yield self._site(path, binding, level)
        if self.element or self.growing:
            yield from self._aliased(path, source, owner)
            yield from self._helpers(path, source, owner)
        if owner == MODULE:
            yield from self._from_other_modules(path)

    def _owner(self, source: SourceFile) -> str:
        """The scope in which the variable lives: the frame's own, or the nearest around it that binds the name."""
        function = self.reference.scope_function
        if self.reference.kind == "global" or function in ("", MODULE):
            return MODULE
        owners = {b.owner for b in _bindings(source) if b.name in self.names and not b.receiver and b.kind != "closure"}
        scope = _full_name(source, function, self.reference.scope_line)
        while scope:
            if scope in owners:
                return scope
            scope = _outer(scope)
        return MODULE

    def _reach(self, source: SourceFile, owner: str) -> frozenset[int]:
        line = self.reference.scope_line
        full = _full_name(source, self.reference.scope_function or MODULE, line)
        if not line or full != owner:
            return frozenset()
        return frozenset().union(*(reaching_lines(source, owner, name, line) for name in self.names))

    def _variable_level(self, binding: Binding, owner: str, reach: frozenset[int]) -> int | None:
        if binding.kind == "closure":
            return WEAK if self.reference.kind == "closure" else None
        if binding.kind in MUTATORS or (binding.kind == "augmented" and binding.method == "item"):
            return self._mutation_level(binding)
        if binding.kind == "default":
            return WEAK
        if binding.kind not in BINDERS:
            return None
        level = self._binder_level(binding)
        grows_in_place = self.element and level == SURE
        if reach and binding.line not in reach and not grows_in_place:
            elsewhere = binding.function != owner
            level = max(level, LIKELY if elsewhere else WEAK)
        return level

    def _mutation_level(self, binding: Binding) -> int | None:
        if not self.element and not (self.growing and self.reference.container_type):
            return None
        keys = self._keys
        if keys and binding.key and binding.key not in keys:
            return WEAK
        if binding.key and not keys and self.growing and self.reference.container_type == "dict":
            return LIKELY  # a constant key cannot make a dict grow without end
        return SURE

    def _binder_level(self, binding: Binding) -> int:
        """How well a plain binding explains the reference, whoever owns it."""
        repeats = binding.kind == "augmented" or self._refers_to_itself(binding)
        if binding.value_kind in ("none", "constant") and binding.kind != "augmented":
            return UNLIKELY
        if binding.kind in ("import", "definition"):
            return UNLIKELY
        if self.element:
            if repeats:
                return SURE
            if binding.value_kind == "empty" or not (binding.value_kind or binding.kind == "parameter"):
                return UNLIKELY
            return WEAK if self.growing or binding.kind == "parameter" else LIKELY
        if binding.value_kind == "empty" and self.growing:
            return WEAK
        if not self.growing or repeats:
            return SURE
        return SURE if binding.in_loop else LIKELY

    def _refers_to_itself(self, binding: Binding) -> bool:
        return any(re.search(rf"\b{re.escape(name)}\b", binding.value_text) for name in self.names)

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        after = self.reference.expression.rpartition(self.reference.name)[2] if self.reference.name else ""
        first = re.match(r"\[(['\"].*?['\"])\]", after)
        return (first[1].replace('"', "'"),) if first else ()

    def _from_other_modules(self, home: str) -> Iterator[RankedSite]:
        """`state.history.append(x)` and `from state import history` in other files of the program."""
        stem = _module_stem(home)
        names = "|".join(map(re.escape, self.names))
        told = re.compile(rf"\b{re.escape(stem)}(\.({names})\b|\s+import\b)")
        for path, source in self._files_with_name():
            if path == home or not told.search(source.text):
                continue
            imported = {
                b.name
                for b in _bindings(source)
                if b.kind == "import" and b.value_text.split(".")[-2:] in [[stem, n] for n in self.names]
            }
            for b in _bindings(source):
                dotted = b.name in self.names and b.receiver.rpartition(".")[2] == stem
                plain = b.name in imported and not b.receiver and b.owner == MODULE and b.kind in MUTATORS
                level = self._level_of_store(b) if dotted or plain else None
                if level is not None:
                    yield self._site(path, b, level)

    # attributes

    def attributes(self) -> Iterator[RankedSite]:
        found: list[RankedSite] = []
        for origin in ("yours", "library"):
            for path, source in self._files_with_name():
                if self._origin_class(path, source) == origin:
                    found.extend(self._attributes_in(path, source))
            if any(site.plausibility <= LIKELY for site in found):
                break
        yield from found
        yield from self._constructor_calls()

    def _origin_class(self, path: str, source: SourceFile) -> str:
        in_family = any(path == place[0] for place in self.family)
        return "yours" if in_family or source.origin == "yours" else "library"

    def _attributes_in(self, path: str, source: SourceFile) -> Iterator[RankedSite]:
        for b in _bindings(source):
            if b.name not in self.names:
                continue
            match = self._match(path, b)
            level = self._level_of_store(b) if match is not None else None
            if match is None or level is None:
                continue
            if b.function.endswith("__init__") and b.kind == "attribute" and self.growing:
                level = max(level, LIKELY)
            yield self._site(path, b, max(match, level), match + level)
        if self.element or self.growing:
            yield from self._aliased(path, source, None)
            yield from self._helpers(path, source, None)

    def _level_of_store(self, binding: Binding) -> int | None:
        if binding.kind in MUTATORS or (binding.kind == "augmented" and binding.method == "item"):
            return self._mutation_level(binding)
        if binding.kind == "cache" and not self.element:
            return SURE if binding.method == "cached_property" else None
        if binding.kind not in BINDERS:
            return None
        level = self._binder_level(binding)
        in_method = binding.kind == "attribute" and not binding.function.endswith("__init__")
        if level == LIKELY and not self.element and in_method:
            return SURE  # methods run again and again
        if binding.kind == "field":
            return max(level, WEAK)
        return level

    @cached_property
    def family(self) -> tuple[tuple[str, str], ...]:
        return class_family(self.owner_type, self.sources) if self.owner_type else ()

    def _match(self, path: str, binding: Binding) -> int | None:
        """How well the owner of a store fits; None for plain variables of the same name."""
        return self._owner_fit(path, binding.receiver, binding.on_self, binding)

    def _owner_fit(self, path: str, receiver: str, on_self: bool, binding: Binding | Call) -> int | None:
        in_family = (path, binding.class_name) in self.family
        if not receiver:
            body = isinstance(binding, Binding) and binding.function == binding.class_name != ""
            return SURE if body and in_family else None
        if isinstance(binding, Binding) and binding.kind == "ctx":
            return SURE if in_family else (LIKELY if not self.family else UNLIKELY)
        if on_self:
            return SURE if in_family else (UNLIKELY if self.family else LIKELY)
        last = receiver.rpartition(".")[2]
        if any(last == qualname.rpartition(".")[2] for _, qualname in self.family):
            return SURE
        made = self._made_by(path, receiver, binding)
        if made:
            return SURE if made in {qualname.rpartition(".")[2] for _, qualname in self.family} else UNLIKELY
        shown = any(f"{last}.{name}" in self.reference.expression for name in self.names)
        return SURE if shown else LIKELY

    def _made_by(self, path: str, receiver: str, use: Binding | Call) -> str:
        """The class by whose constructor a variable was bound, where that is all that binds it."""
        if not self.family or "." in receiver:
            return ""
        owner = use.owner if isinstance(use, Binding) else ""
        made = {
            found[1] if (found := re.match(r"(?:\w+\.)*([A-Z]\w*)\(", b.value_text)) else ""
            for b in _bindings(self.sources[path])
            if b.name == receiver and b.owner == owner and not b.receiver and b.kind in BINDERS
        }
        return made.pop() if len(made) == 1 else ""

    def _constructor_calls(self) -> Iterator[RankedSite]:
        """`Batch(x, loss=loss)` where the attribute is a field of a dataclass or named tuple."""
        last = self.owner_type.rpartition(".")[2]
        fields = [
            b.name
            for path, qualname in reversed(self.family)
            for b in _bindings(self.sources[path])
            if b.kind == "field" and b.function == qualname
        ]
        position = next((n for n, name in enumerate(fields) if name in self.names), None)
        if self.element or not last or (self.family and position is None):
            return
        for file, source in self.sources.items():
            if f"{last}(" in source.text:
                for call in _calls(source):
                    keys = [key for key, _ in call.arguments]
                    given = any(key in self.names or key == position for key in keys)
                    if given and call.callee.rpartition(".")[2] == last:
                        yield self._site(file, call, SURE if self.family else LIKELY)

    # aliases and helpers

    def _aliased(self, path: str, source: SourceFile, owner: str | None) -> Iterator[RankedSite]:
        """Stores through another name: `buf = self.history; buf.append(x)`, properties, bound methods."""
        all_bindings = _bindings(source)
        for alias in all_bindings:
            text, _, method = alias.value_text.rpartition(".")
            bound_method = method in ("append", "add", "extend", "insert", "appendleft", "update")
            fit = self._value_fit(path, text if bound_method else alias.value_text, alias, owner)
            if fit is None or alias.kind not in _ALIASES:
                continue
            if bound_method:
                for call in _calls(source):
                    if call.callee == alias.name and call.owner == alias.owner:
                        yield self._site(path, call, fit)
                continue
            for b in all_bindings:
                same = b.owner == alias.owner and not b.receiver
                if alias.receiver or alias.kind == "property":
                    same = bool(b.receiver) and (not b.on_self or b.class_name == alias.class_name)
                if same and b.name == alias.name and (level := self._growth_level(b)) is not None:
                    yield self._site(path, b, max(level, fit))

    def _growth_level(self, binding: Binding) -> int | None:
        grows = binding.kind in MUTATORS or binding.kind == "augmented"
        return SURE if grows and self.element else None

    def _value_fit(
        self, path: str, text: str, binding: Binding | Call, owner: str | None, where: str | None = None
    ) -> int | None:
        """How surely an expression is the container sought; None when it is not."""
        inside = _INSIDE.fullmatch(text)
        receiver, _, last = inside[1].rpartition(".") if inside else ("", "", "")
        if last not in self.names:
            return None
        if owner is not None:
            if receiver:
                return None
            within = binding.function == owner or binding.function.startswith(owner + ".") or owner == MODULE
            return SURE if where == owner or (where is None and within) else None
        if not receiver:
            return None
        return self._owner_fit(path, receiver, receiver == "self" and bool(binding.class_name), binding)

    def _helpers(self, path: str, source: SourceFile, owner: str | None) -> Iterator[RankedSite]:
        """`store(history, x)` where `def store(dst, x): dst.append(x)`: the append, then the call."""
        if not self.element:
            return
        for call in _calls(source):
            for (key, text), where in zip(call.arguments, call.argument_owners, strict=True):
                fit = self._value_fit(path, text, call, owner, where)
                if fit is None:
                    continue
                inside = list(self._stores_through_parameter(path, call, key, fit))
                if inside:
                    yield from inside
                    yield self._site(path, call, max(fit, LIKELY))

    def _stores_through_parameter(self, path: str, call: Call, key: int | str, fit: int) -> Iterator[RankedSite]:
        last = call.callee.rpartition(".")[2]
        for file, source in self._files_defining(last, path):
            for scope in definitions(source):
                if scope.qualname.rpartition(".")[2] != last:
                    continue
                function = scope.qualname + (".__init__" if scope.kind == "class" else "")
                name = _parameter(source, function, key)
                if name:
                    yield from self._stores_into(file, source, function, name, fit)

    def _files_defining(self, name: str, home: str) -> list[tuple[str, SourceFile]]:
        found = [
            (path, source)
            for path, source in self.sources.items()
            if name and re.search(rf"\b(def|class) {re.escape(name)}\b", source.text)
        ]
        at_home = [item for item in found if item[0] == home]
        return at_home or [item for item in found if item[1].origin == "yours"]

    def _stores_into(self, file: str, source: SourceFile, function: str, name: str, fit: int) -> Iterator[RankedSite]:
        kept: set[tuple[str, str]] = set()
        for b in _bindings(source):
            if b.owner == function and b.name == name and not b.receiver:
                level = self._growth_level(b)
                if level is not None:
                    yield self._site(file, b, max(level, fit))
            elif b.kind == "attribute" and b.function == function and b.value_text == name and b.on_self:
                kept.add((b.class_name, b.name))
        for b in _bindings(source) if kept else ():
            if b.on_self and (b.class_name, b.name) in kept and self._growth_level(b) is not None:
                yield self._site(file, b, max(SURE, fit))

    # hooks, caches, defaults

    def hooks(self) -> Iterator[RankedSite]:
        name = self.reference.name
        generic = not name or (name.startswith("_") and "hook" in name)
        if self.element and not generic:
            yield from self.variables()
        for path, source in self.sources.items():
            if "register" not in source.text and "signal" not in source.text and "finalize" not in source.text:
                continue
            for b in _bindings(source):
                if b.kind == "hook":
                    level = self._hook_level(b, generic)
                    if level is not None:
                        level = max(level, WEAK if source.origin == "library" else SURE)
                        yield self._site(path, b, max(level, LIKELY if self.element and not generic else SURE))

    def _hook_level(self, binding: Binding, generic: bool) -> int | None:
        if not generic:
            named = binding.name in self.names or self._refers_to_itself(binding)
            return SURE if named else None
        event = self.reference.name.strip("_").removesuffix("s")
        return LIKELY if not event or event in binding.method else UNLIKELY

    def caches(self) -> Iterator[RankedSite]:
        found = []
        for path, source in self._files_with_name():
            for b in _bindings(source):
                wrapped = b.kind == "assign" and re.match(r"([\w.]+\.)?(lru_cache|cache)\(", b.value_text)
                if b.name in self.names and (b.kind == "cache" or wrapped):
                    here = not self.reference.scope_file or self._is_scope_file(path)
                    found.append(self._site(path, b, SURE if here else LIKELY))
        yield from found
        if not found:
            yield from self.anything()

    def defaults(self) -> Iterator[RankedSite]:
        for path, source in self._files_with_name():
            if self.reference.scope_file and not self._is_scope_file(path):
                continue
            for b in _bindings(source):
                function = b.owner.rpartition(".")[2]
                if b.kind != "default" or not (b.name in self.names or function in self.names):
                    continue
                if self.reference.scope_function not in ("", b.owner, function):
                    continue
                grown = [m for m in _bindings(source) if m.owner == b.owner and m.name == b.name]
                grown = [m for m in grown if not m.receiver and (m.kind in MUTATORS or m.kind == "augmented")]
                for mutation in grown:
                    yield self._site(path, mutation, SURE)
                yield self._site(path, b, LIKELY if grown else SURE)

    # places

    def _file(self, path: str) -> tuple[str, SourceFile] | None:
        if path in self.sources:
            return path, self.sources[path]
        parts = PurePath(path).parts
        ends = [
            (known, source)
            for known, source in self.sources.items()
            if parts and PurePath(known).parts[-len(parts) :] == parts
        ]
        return ends[0] if len(ends) == 1 else None

    def _is_scope_file(self, path: str) -> bool:
        found = self._file(self.reference.scope_file)
        return found is not None and found[0] == path

    def _files_with_name(self) -> Iterator[tuple[str, SourceFile]]:
        """Files worth parsing: of libraries those in which something is stored under the name."""
        names = set(self.names) | ({"save_for_backward"} if self.names[0] in _SAVED else set())
        either = "|".join(map(re.escape, sorted(names)))
        stored = re.compile(
            rf"\b({either})\s*([-+*/|&@]?=[^=]|[\[:,]|\.\w+\()|['\"]({either})['\"]|def ({either})\b|save_for_backward"
        )
        places = {path for path, _ in self.family} | {self.reference.scope_file}
        for path, source in self.sources.items():
            if any(name in source.text for name in names) and (
                source.origin == "yours" or path in places or stored.search(source.text)
            ):
                yield path, source

    def _site(self, path: str, found: Binding | Call, level: int, detail: int = 0) -> RankedSite:
        source = self.sources[path]
        stores = isinstance(found, Binding) and (found.kind in MUTATORS or found.kind == "augmented")
        order = (
            detail,
            int(source.origin == "library"),
            int(not (self._is_scope_file(path) or any(path == place[0] for place in self.family))),
            int(not stores and self.growing),
            int(found.function.endswith("__init__")),
            int(not found.in_loop),
        )
        place = SourceLocation(source.path, found.line, found.function)
        return RankedSite(place, found.end_line, level, order)


def _bindings(source: SourceFile) -> tuple[Binding, ...]:
    try:
        return bindings(source)
    except SourceError:
        return ()


def _calls(source: SourceFile) -> tuple[Call, ...]:
    try:
        return calls(source)
    except SourceError:
        return ()


def _spellings(name: str) -> tuple[str, ...]:
    """The name as objects know it and, for private names (`_Trainer__history`), as the source writes it."""
    if name in _SAVED:
        return (name, "saved_tensors")
    mangled = re.fullmatch(r"_[^_]\w*?(__\w+)", name)
    return (name, mangled[1]) if mangled else (name,)


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


def _parameter(source: SourceFile, function: str, key: int | str) -> str:
    names = [b.name for b in _bindings(source) if b.kind == "parameter" and b.owner == function]
    if isinstance(key, str):
        return key if key in names else ""
    shift = 1 if names[:1] in (["self"], ["cls"]) else 0
    return names[key + shift] if key + shift < len(names) else ""


def _module_stem(path: str) -> str:
    pure = PurePath(path)
    return pure.parent.name if pure.stem == "__init__" else pure.stem
