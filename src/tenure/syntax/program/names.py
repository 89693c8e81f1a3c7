"""What a name means where it is written: a function, a class or a global variable of the program, in its own file, in
one that it imports from, else the nearest of that name."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from tenure.model.source import SourceFile
from tenure.syntax.program.file_walk import FileWalk
from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.imports import FilePlaces, Imported, imported_names

Defined = TypeVar("Defined", Function, Class)


class Names:
    """Of the files of a program that can be parsed. Each answer is found once."""

    def __init__(self, walks: Iterable[FileWalk]) -> None:
        self.functions: list[Function] = []
        self.functions_named: dict[str, list[Function]] = {}
        self.methods_named: dict[str, list[Function]] = {}
        self.classes: dict[str, list[Class]] = {}
        self._tops: dict[str, Function] = {}
        self._by_source: dict[str, list[Function]] = {}
        self._by_line: dict[str, list[Function]] = {}
        self._by_place: dict[tuple[str, str], Function] = {}
        self._imported: dict[str, dict[str, Imported]] = {}
        self._known_classes: dict[tuple[str, str], Class | None] = {}
        self._known_functions: dict[tuple[str, str], Function | None] = {}
        for walk in walks:
            self._enter(walk)

    def _enter(self, walk: FileWalk) -> None:
        path = walk.top.source.path
        self._tops[path] = walk.top
        self.functions += walk.functions
        self._by_source.setdefault(path, []).extend(walk.functions)
        for function in walk.functions:
            self._by_place.setdefault((path, function.qualname), function)
        for function in walk.functions[1:]:
            self.functions_named.setdefault(function.name, []).append(function)
            if function.class_name:
                self.methods_named.setdefault(function.name, []).append(function)
        for cls in walk.classes:
            self.classes.setdefault(cls.node.name, []).append(cls)

    def functions_in(self, source: SourceFile) -> Sequence[Function]:
        """Those of one file."""
        return self._by_source.get(source.path, ())

    def innermost_at(self, source: SourceFile, line: int) -> Function | None:
        """The innermost function of a file around a line, its top included; None for a file that is not known."""
        if source.path not in self._tops:
            return None
        by_line = self._by_line.get(source.path)
        if by_line is None:
            by_line = self._by_line[source.path] = _innermost_by_line(self.functions_in(source))
        return by_line[line] if 0 <= line < len(by_line) else self._tops[source.path]

    def around(self, function: Function) -> Function | None:
        """The function that another is defined in; None for one of a file's top or of a class there."""
        outer = function.qualname.rpartition(".<locals>.")[0]
        return self._by_place.get((function.source.path, outer)) if outer else None

    def top_of(self, source: SourceFile) -> Function:
        """What stands at the top of a file."""
        return self._tops[source.path]

    def tops_called(self, name: str) -> list[Function]:
        """What stands at the top of the files whose module has this last name."""
        return [self._tops[path] for path in self._places.called(name)]

    def top_with(self, name: str, near: SourceFile) -> Function | None:
        """The top of the file that binds a global variable which code of a file means."""
        own = self._tops.get(near.path)
        if own is not None and name in own.bound:
            return own
        imported = self._imports(near).get(name)
        files = self._places.files_of(imported, near.path) if imported is not None and imported.name == name else []
        found = [self._tops[path] for path in files if name in self._tops[path].bound]
        return found[0] if len(found) == 1 else None

    def imported_global(self, name: str, function: Function) -> tuple[str, Function] | None:
        """What a name from another file is called there, with that file's top: `ROWS`, `rows` of `import ROWS as
        rows`, `stats.ROWS`; None of anything else."""
        head, _, last = name.partition(".")
        if head in function.bound or head in function.parameters:
            return None
        imported = self._imports(function.source).get(head)
        if imported is None or (bool(last) and bool(imported.name) and not self._is_file(imported, function)):
            return None
        if last and imported.name:
            module = f"{imported.module}.{imported.name}" if imported.module else imported.name
            imported = Imported(module, "", imported.level)
        called = last or imported.name
        files = self._places.files_of(imported, function.source.path)
        tops = [self._tops[path] for path in files if called and called in self._tops[path].bound]
        return (called, tops[0]) if len(tops) == 1 else None

    def seen_from(self, name: str, function: Function) -> Function | None:
        """The function that a plain name means: one defined inside, else in a function around, else of the program."""
        inside: Function | None = function
        while inside is not None:
            place = (inside.source.path, f"{inside.qualname}.<locals>.{name}")
            if place in self._by_place:
                return self._by_place[place]
            inside = self.around(inside)
        return self.function_of(name, function.source)

    def class_of(self, name: str, near: SourceFile | None = None) -> Class | None:
        """The class of this name that code of a file means, where there is one alone."""
        if near is None:
            return _nearest(self.classes.get(name.rpartition(".")[2], ()), near)
        key = (name, near.path)
        if key not in self._known_classes:
            self._known_classes[key] = self._meant(self.classes, name, near)
        return self._known_classes[key]

    def function_of(self, name: str, near: SourceFile) -> Function | None:
        """The function, no method, of this name that code of a file means, where there is one alone."""
        key = (name, near.path)
        if key not in self._known_functions:
            own = self._by_place.get((near.path, name))  # rather than one inside another function of the file
            self._known_functions[key] = own or self._meant(self.plain_functions, name, near)
        return self._known_functions[key]

    @cached_property
    def plain_functions(self) -> dict[str, list[Function]]:
        """Functions that are no methods, by name."""
        found = {name: [each for each in them if not each.class_name] for name, them in self.functions_named.items()}
        return {name: them for name, them in found.items() if them}

    def in_file(self, alias: str, name: str, near: SourceFile) -> Function | None:
        """The function of `alias.name(...)` where the first is a file: by its own name, else by that of an import."""
        if alias in self._stems:
            found = [
                each
                for each in self.functions_named.get(name, ())
                if each.qualname == name and posixpath.basename(each.source.path) == f"{alias}.py"
            ]
            return found[0] if len(found) == 1 else None
        return self._in_renamed_file(alias, name, near) if name in self.plain_functions else None

    @cached_property
    def _stems(self) -> frozenset[str]:
        """Names of the program's files, as `import` has them."""
        return frozenset(posixpath.basename(path).removesuffix(".py") for path in self._by_source)

    def _in_renamed_file(self, alias: str, name: str, near: SourceFile) -> Function | None:
        """A function of a file that goes by another name where it is called: `from . import propagation as spread`."""
        imported = self._imports(near).get(alias)
        if imported is None or self._places.is_foreign(imported):
            return None
        paths = self._files_under(imported, near.path)
        return self._by_place.get((paths[0], name)) if len(paths) == 1 else None

    def _meant(self, defined: Mapping[str, Sequence[Defined]], name: str, near: SourceFile) -> Defined | None:
        """What a name of a file means: what it defines itself, what it imports, else the nearest of that name."""
        head, _, last = name.rpartition(".")
        found = defined.get(last, ())
        if not head and any(each.source.path == near.path for each in found):
            return _nearest(found, near)
        imported = self._imports(near).get(head.partition(".")[0] or last)
        if imported is None:
            return _nearest(found, near)
        if self._places.is_foreign(imported):
            return None
        if not head:
            found = defined.get(imported.name or last, ())
        paths = self._places.files_of(imported, near.path)
        return _nearest([each for each in found if each.source.path in paths] or found, near)

    def full_name(self, name: str, near: SourceFile) -> str:
        """A name as the imports of its file have it: `torch.nn.Module` for `nn.Module`; as it is without one."""
        head, _, rest = name.partition(".")
        imported = self._imports(near).get(head)
        if imported is None:
            return name
        return "." * imported.level + ".".join(part for part in (imported.module, imported.name, rest) if part)

    def _imports(self, source: SourceFile) -> dict[str, Imported]:
        known = self._imported.get(source.path)
        if known is None:
            inside = (each for function in self.functions_in(source) for each in function.imports)
            known = self._imported[source.path] = imported_names(inside)
        return known

    @cached_property
    def _places(self) -> FilePlaces:
        return FilePlaces(list(self._tops))

    def _is_file(self, imported: Imported, function: Function) -> bool:
        return bool(self._files_under(imported, function.source.path))

    def _files_under(self, imported: Imported, near: str) -> list[str]:
        """Paths of the files that an import may mean where what it names is a file itself."""
        module = ".".join(part for part in (imported.module, imported.name) if part)
        return self._places.files_of(Imported(module, "", imported.level), near)


def _innermost_by_line(functions: Sequence[Function]) -> list[Function]:
    """Per line of a file, of whose functions the first is its top."""
    top, *inside = functions
    spans = [(getattr(each.node, "lineno", 0), getattr(each.node, "end_lineno", 0), each) for each in inside]
    found = [top] * (1 + max((last for _, last, _ in spans), default=0))
    for first, last, each in sorted(spans, key=lambda span: span[0]):
        found[first : last + 1] = [each] * (last + 1 - first)
    return found


def _nearest(found: Sequence[Defined], near: SourceFile | None) -> Defined | None:
    """What is defined in the same file, else in the same folder, else anywhere; None where that are several."""
    if near is not None and len(found) > 1:
        here = [each for each in found if each.source.path == near.path]
        folder = posixpath.dirname(near.path)
        found = here or [each for each in found if posixpath.dirname(each.source.path) == folder] or found
    return found[0] if len(found) == 1 else None
