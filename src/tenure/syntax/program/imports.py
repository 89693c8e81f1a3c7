"""What the names mean that a file imports: which of the program's files they come from, if any."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Imported:
    """`name` of `module`; a module itself has no name. `level` counts the dots that a relative import begins with."""

    module: str
    name: str = ""
    level: int = 0


def imported_names(statements: Iterable[ast.Import | ast.ImportFrom]) -> dict[str, Imported]:
    """Per name that import statements bind: what it is there."""
    found: dict[str, Imported] = {}
    for node in statements:
        for each in node.names:
            if isinstance(node, ast.ImportFrom):
                found[each.asname or each.name] = Imported(node.module or "", each.name, node.level)
            elif each.asname:
                found[each.asname] = Imported(each.name)
            else:
                found[each.name.partition(".")[0]] = Imported(each.name.partition(".")[0])
    return found


class FilePlaces:
    """The files of a program by how `import` finds them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = [path.replace("\\", "/") for path in paths]
        self._given = dict(zip(self._paths, paths, strict=True))

    def files_of(self, imported: Imported, near: str) -> list[str]:
        """Paths of the files that a module may be, seen from the file at `near`."""
        parts = imported.module.split(".") if imported.module else []
        if imported.level:
            folder = posixpath.dirname(near.replace("\\", "/"))
            for _ in range(imported.level - 1):
                folder = posixpath.dirname(folder)
            wanted = posixpath.join(folder, *parts) if parts else folder
            ends = (f"{wanted}.py", f"{wanted}/__init__.py")
            return [self._given[end] for end in ends if end in self._given]
        wanted = "/".join(parts)
        last = self._by_stem.get(parts[-1] if parts else "", ())
        ends = (f"{wanted}.py", f"{wanted}/__init__.py")
        return [self._given[path] for path in last if any(path == end or path.endswith(f"/{end}") for end in ends)]

    def called(self, name: str) -> list[str]:
        """Paths of the files whose module has this last name, a package's by its folder."""
        return [self._given[path] for path in self._by_stem.get(name, ())]

    def is_foreign(self, imported: Imported) -> bool:
        """Whether nothing of the program has the name that an import begins with."""
        return not imported.level and imported.module.partition(".")[0] not in self._words

    @cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self._paths:
            stem = posixpath.basename(path).removesuffix(".py")
            name = posixpath.basename(posixpath.dirname(path)) if stem == "__init__" else stem
            found.setdefault(name, []).append(path)
        return found

    @cached_property
    def _words(self) -> set[str]:
        """Names of folders and files."""
        return {part.removesuffix(".py") for path in self._paths for part in path.split("/")}
