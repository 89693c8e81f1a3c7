"""The user's own calls that ask a library for what keeps: `itertools.cycle(loader)`, `mock.patch.object(...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.sites.site_search import place_at
from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference
from tenure.syntax.program.imports import Imported, imported_names
from tenure.syntax.text.scopes import dotted, parse


def by_the_call_that_asked(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    """The reference, placed where the program asks the library for the object that keeps by itself what it is given.

    Of a nameless container (`itertools.cycle` copies what it gives) always, of another reference where no statement
    is known to make it, also where it is given it by the attribute's name to a class that the package offers elsewhere
    (`StableDiffusionPipeline(vae=vae)`); as it is where no file of the user's makes such a call. Cost: a parse of each
    file of the user's that names the library's module.
    """
    asked_for = reference.inside or ("" if reference.sites else reference.owner_type)
    calls = sorted(_calls(asked_for, sources), key=lambda each: (each[1].file, each[1].line))
    if not calls:
        given = tuple(_calls_that_give(reference, sources)) if asked_for and not reference.inside else ()
        return replace(reference, sites=given) if given else reference
    name = calls[0][0]
    return replace(reference, name=name.rpartition(".")[2] if reference.inside else name,
                   sites=tuple(dict.fromkeys(site for _, site in calls)))  # fmt: skip


def _calls(type_name: str, sources: Mapping[str, SourceFile]) -> Iterator[tuple[str, SourceLocation]]:
    """Calls of the class itself, as they are written; where there are none, those of all that its module offers."""
    module, _, class_name = type_name.rpartition(".")
    if not module:
        return
    found = [each for source in sources.values() if source.origin == "yours" for each in _asked(module, source)]
    exact = [each for each in found if each[0] == f"{module}.{class_name}"]
    for _, written, site in exact or found:
        yield written, site


def _calls_that_give(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> Iterator[SourceLocation]:
    """Calls of a class by its name, as the package offers it, with an argument of the attribute's name."""
    package, class_name = reference.owner_type.partition(".")[0], reference.owner_type.rpartition(".")[2]
    for source in sources.values():
        if source.origin != "yours" or class_name not in source.text:
            continue
        for full, _, site, call in _imported_calls(source):
            is_class = full.partition(".")[0] == package and full.rpartition(".")[2] == class_name
            if is_class and any(keyword.arg == reference.name for keyword in call.keywords):
                yield site


def _asked(module: str, source: SourceFile) -> list[tuple[str, str, SourceLocation]]:
    """Calls in a file of what a module offers: in full, as written, and where."""
    if module.rpartition(".")[2] not in source.text:
        return []
    return [
        (full, written, site) for full, written, site, _ in _imported_calls(source) if full.startswith(f"{module}.")
    ]


def _imported_calls(source: SourceFile) -> Iterator[tuple[str, str, SourceLocation, ast.Call]]:
    """Calls in a file of what it imports: in full, as written, where, and the call."""
    try:
        tree = parse(source)
    except SourceError:
        return
    names = imported_names(node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (full := _in_full(dotted(node.func), names)):
            site = place_at(source, node.lineno)
            yield full, dotted(node.func), site, node


def _in_full(written: str, names: Mapping[str, Imported]) -> str:
    """`unittest.mock.patch.object` of `mock.patch.object`, where `mock` was imported from `unittest`; "" of what no
    import of another package binds."""
    first, dot, rest = written.partition(".")
    found = names.get(first)
    if found is None or found.level:
        return ""
    return ".".join(part for part in (found.module, found.name) if part) + dot + rest
