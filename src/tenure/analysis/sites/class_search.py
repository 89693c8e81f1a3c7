"""Where a class and its base classes are written, found by name over the recorded sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath, PureWindowsPath

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.bindings import bindings
from tenure.syntax.text.scopes import class_bases

ClassPlace = tuple[str, str]
"""Path of the file and qualified name of the class in it."""


def class_family(owner_type: str, sources: Mapping[str, SourceFile]) -> tuple[ClassPlace, ...]:
    """A class, then its base classes, nearest first; empty where no recorded source defines it.

    Types are known by name only: two classes of one name in modules that cannot be told apart are both given.
    """
    first = tuple(_classes_named(owner_type, sources))
    family: list[ClassPlace] = []
    waiting = list(first)
    while waiting:
        place = waiting.pop(0)
        if place in family:
            continue
        family.append(place)
        path, qualname = place
        for base in class_bases(sources[path]).get(qualname, ()):
            waiting.extend(item for item in _base_places(base, place, sources) if item not in family)
    return tuple(family)


def bases_outside(place: ClassPlace, sources: Mapping[str, SourceFile]) -> list[str]:
    """Base classes of a class that the program's own files do not define, by the names that imports say."""
    path, qualname = place
    own = {path: source for path, source in sources.items() if source.origin == "yours"}
    written = class_bases(sources[path]).get(qualname, ())
    return [_imported_name(base, sources[path]) or base for base in written if not _base_places(base, place, own)]


def classes_at(dotted_name: str, sources: Mapping[str, SourceFile]) -> list[ClassPlace]:
    """Classes that may go by just this dotted name, `pipes.Map` in `/x/pipes.py`."""
    return [place for place in _places(dotted_name.rpartition(".")[2], sources) if _is_called(place, dotted_name)]


def _classes_named(owner_type: str, sources: Mapping[str, SourceFile]) -> Iterable[ClassPlace]:
    owner_type = owner_type.replace(".<locals>", "")
    found = list(_places(owner_type.rpartition(".")[2], sources))
    if not found and owner_type.endswith("Backward"):
        # The context object of an autograd Function: its type is named after the function.
        return _classes_named(owner_type.removesuffix("Backward"), sources)
    exact = [place for place in found if _is_called(place, owner_type)]
    return exact or found


def _places(name: str, sources: Mapping[str, SourceFile]) -> Iterator[ClassPlace]:
    defined = re.compile(rf"\bclass\s+{re.escape(name)}\b")
    for path, source in sources.items():
        if f"class {name}" in source.text and defined.search(source.text):
            try:
                yield from ((path, qualname) for qualname in class_bases(source) if qualname.rpartition(".")[2] == name)
            except SourceError:
                continue


def _is_called(place: ClassPlace, dotted_name: str) -> bool:
    """Whether a class may go by a dotted name such as `torch.optim.adam.Adam`."""
    path, qualname = place
    qualname = qualname.replace(".<locals>", "")
    if dotted_name in (qualname, f"__main__.{qualname}"):
        return True
    if not dotted_name.endswith("." + qualname):
        return False
    module = dotted_name[: -len(qualname) - 1].split(".")
    parts = list(PureWindowsPath(path).with_suffix("").parts)  # which knows both separators
    if parts and parts[-1] == "__init__":
        parts.pop()
    return parts[-len(module) :] == module


def _base_places(base: str, child: ClassPlace, sources: Mapping[str, SourceFile]) -> list[ClassPlace]:
    """Where a base class, as written in its child's file, is defined: same file, by import, else by name."""
    path, _ = child
    name = base.rpartition(".")[2]
    found = [place for place in _places(name, sources) if place != child]
    imported = _imported_name(base, sources[path])
    if imported:
        exact = [place for place in found if _is_called(place, imported)]
        # A package may hand on what a deeper module defines: `nn.Module` lives in nn/modules/module.py.
        top = imported.lstrip(".").partition(".")[0]
        return exact or [place for place in found if top in PurePath(place[0]).parts] or found
    return [place for place in found if place[0] == path] or found


def _imported_name(base: str, source: SourceFile) -> str:
    root, dot, rest = base.partition(".")
    for binding in bindings(source):
        if binding.kind == "import" and binding.name == root:
            return binding.value_text.lstrip(".") + dot + rest
    return ""
