"""Statements that bind a variable: in its own function, through an alias or a helper, or from another module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from tenure.analysis.heap.cells import cell_kind
from tenure.analysis.sites.cells import other_cells
from tenure.analysis.sites.container_aliases import stores_through_aliases, stores_through_helpers
from tenure.analysis.sites.site_search import (
    BINDERS,
    LIKELY,
    MUTATORS,
    SURE,
    WEAK,
    RankedSite,
    Sought,
    bindings_of,
)
from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.bindings import Binding
from tenure.syntax.text.reaching import reaching_lines
from tenure.syntax.text.scopes import MODULE, definitions, enclosing_function


def variables(sought: Sought) -> Iterator[RankedSite]:
    """In the file of its function, in other cells of a notebook, and in modules that import it."""
    found = sought.file(sought.reference.scope_file)
    if found is None:
        return
    set_from_outside = sought.reference.kind == "global"  # as by `vars(module)["trail"] = []`
    yield from _variables_in(sought, *found, unbound=set_from_outside or bool(cell_kind(found[0])))
    if owner_of_variable(sought, found[1]) == MODULE:
        for path, source in other_cells(found[0], sought.sources):
            yield from _variables_in(sought, path, source, unbound=True)
        yield from _from_other_modules(sought, found[0])


def _variables_in(sought: Sought, path: str, source: SourceFile, *, unbound: bool = False) -> Iterator[RankedSite]:
    """Statements of one file; with `unbound` also those about a name that the file itself binds nowhere."""
    owner = owner_of_variable(sought, source)
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


def owner_of_variable(sought: Sought, source: SourceFile) -> str:
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


def _full_name(source: SourceFile, function: str, line: int) -> str:
    """Python 3.10 knows frames by their plain name, and a decorator may have given a function that of another
    (`functools.wraps`): the qualified one is found by the line."""
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
    if chosen := around or matches:
        return chosen[-1].qualname
    inside = enclosing_function(source, line)
    return function if inside == MODULE else inside


def _outer(qualname: str) -> str:
    """The function around a function, "" at top level; classes do not count, their names are not seen inside."""
    head, found, _ = qualname.rpartition(".<locals>.")
    return head if found else ""


def _module_stem(path: str) -> str:
    pure = PurePath(path)
    return pure.parent.name if pure.stem == "__init__" else pure.stem
