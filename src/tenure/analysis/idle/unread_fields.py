"""Fields of the program's own objects that none of its statements reads, or none that may run yet: of a rollout the
logits, where the log-probabilities are used; of a data set the recordings, once it has their tokens.

Another part of the object is in use, so that the object as a whole is, too; what its field holds is of no use to
anybody who asks for fields by their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from tenure.analysis.heap.cells import cell_kind
from tenure.analysis.heap.graph import is_builtin_type, object_of
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.wording import attribute_name
from tenure.analysis.sites.class_search import ClassPlace, bases_outside, class_family
from tenure.analysis.sites.own_program import own_program
from tenure.model.heap import Ints, NodeKind
from tenure.model.source import SourceFile
from tenure.syntax.program.functions import Function
from tenure.syntax.program.still_to_run import Running, StillToRun, can_be_told
from tenure.syntax.text.field_reads import lines_that_read, may_read_field

_READ_NO_FIELDS = re.compile(
    r"object|Exception|enum\.(Int|Str)?Enum|abc\.ABC|typing(_extensions)?\.(Generic|Protocol)"
    r"|torch\.utils\.data\.([a-z]+\.)?(Iterable)?Dataset"
)
"""Classes of libraries that ask nothing of the objects of those below them, by their full names."""
_RUNNING = (NodeKind.FRAME, NodeKind.NAMESPACE)
_WAITING = ("generator", "async_generator", "coroutine")
_Field: TypeAlias = tuple[str, str]
"""Type of the object and name of the attribute: of ten thousand records alike it is asked once."""


class FieldReads:
    """Who reads the fields of the program's own objects, as far as its text tells. Each answer is found once."""

    def __init__(self, view: View, sources: Mapping[str, SourceFile]) -> None:
        self._view, self._sources = view, sources
        self._own = [source for source in sources.values() if source.origin == "yours"]
        self._unread: dict[_Field, bool] = {}
        self._readers: dict[_Field, tuple[str, ...] | None] = {}
        self._families: dict[str, Sequence[ClassPlace]] = {}

    def without_readers(
        self, resting: Iterable[int], path_to: Callable[[int], Sequence[int]]
    ) -> dict[tuple[int, ...], Ints]:
        """Storages that rest, by the innermost object's field on the way to each that nothing reads which may yet run:
        by its reference."""
        found: dict[int, list[int]] = {}
        for node in resting:
            fields = (each for each in reversed(path_to(node)) if attribute_name(self._view.graph, each))
            unread = (each for each in fields if self.is_unread(each) or self.read_before(each) is not None)
            reference = next(unread, -1)
            if reference >= 0:
                found.setdefault(reference, []).append(node)
        return {(reference,): np.array(sorted(nodes), dtype=np.int64) for reference, nodes in found.items()}

    def is_unread(self, reference: int) -> bool:
        """Whether the class of a field's object and its bases are the program's and no file of the program reads a
        field of that name, but while the object is made."""
        field = self._field_of(reference)
        if field not in self._unread:
            self._unread[field] = self._find_unread(*field)
        return self._unread[field]

    def read_before(self, reference: int) -> tuple[str, ...] | None:
        """The functions that read such a field for more than its shape, where none of them may run any more; None where
        one may, or that cannot be told."""
        field = self._field_of(reference)
        if field not in self._readers:
            self._readers[field] = self._find_readers(*field)
        return self._readers[field]

    def _field_of(self, reference: int) -> _Field:
        owner = object_of(self._view.graph, int(self._view.census.references.source[reference]))
        return self._view.graph.type_names[owner], attribute_name(self._view.graph, reference)

    def _find_unread(self, owner_type: str, name: str) -> bool:
        family = self._family(owner_type) if name else ()
        if not family:
            return False
        made_by = {path: frozenset(name for there, name in family if there == path) for path, _ in family}
        return not any(may_read_field(each, name, made_by=made_by.get(each.path, frozenset())) for each in self._own)

    def _find_readers(self, owner_type: str, name: str) -> tuple[str, ...] | None:
        if not name or not self._family(owner_type) or self._still_to_run is None:
            return None
        readers: set[Function] = set()
        names = own_program(self._sources).names
        for source in self._own:
            lines = lines_that_read(source, name)
            if lines is None:
                return None
            for line in lines:
                function = names.innermost_at(source, line)
                if function is None or self._still_to_run.may_run(function, line):
                    return None
                readers.add(function)
        return tuple(sorted({each.qualname for each in readers}))

    def _family(self, owner_type: str) -> Sequence[ClassPlace]:
        """The places of a class and of those of its bases that are the program's; none where one may read fields that
        is not."""
        if owner_type not in self._families:
            self._families[owner_type] = self._find_family(owner_type)
        return self._families[owner_type]

    def _find_family(self, owner_type: str) -> Sequence[ClassPlace]:
        family = class_family(owner_type, self._sources)
        own = [place for place in family if self._sources[place[0]].origin == "yours"]
        others = [base for place in own for base in bases_outside(place, self._sources)]
        return own if family[:1] == tuple(own[:1]) and all(map(_READ_NO_FIELDS.fullmatch, others)) else ()

    @cached_property
    def _still_to_run(self) -> StillToRun | None:
        """None where it is not known what the program is at, or a notebook's next cell may be anything."""
        running, program = list(self._running()), own_program(self._sources)
        if not running or any(cell_kind(each.source.path) for each in running) or not can_be_told(program, running):
            return None
        return StillToRun(program, running)

    def _running(self) -> Iterator[Running]:
        """The lines that functions of the program execute, generators that wait included."""
        nodes, census, types = self._view.census.nodes, self._view.census, self._view.graph.type_names
        for node in np.flatnonzero((nodes.line > 0) & (nodes.file >= 0)).tolist():
            kind, source = nodes.kind[node], self._sources.get(census.text(int(nodes.file[node])))
            waits = kind == NodeKind.OBJECT and types[node].removeprefix("builtins.") in _WAITING
            if source is not None and source.origin == "yours" and (waits or kind in _RUNNING):
                yield Running(source, int(nodes.line[node]))


def by_field(
    view: View, resting: Iterable[int], path_to: Callable[[int], Sequence[int]]
) -> dict[tuple[int, ...], Ints]:
    """Storages by the reference of the innermost object's field that leads to each, where one does."""
    found: dict[int, list[int]] = {}
    for node in resting:
        reference = _field(view, path_to(node))
        if reference >= 0:
            found.setdefault(reference, []).append(node)
    return {(reference,): np.array(sorted(nodes), dtype=np.int64) for reference, nodes in found.items()}


def _field(view: View, path: Sequence[int]) -> int:
    """The last reference of a path by an attribute of an object of some class; -1 where a variable comes later."""
    references, kinds = view.census.references, view.census.nodes.kind
    for reference in reversed(path):
        source = int(references.source[reference])
        if kinds[source] in (NodeKind.TENSOR, NodeKind.STORAGE):
            continue
        if kinds[source] != NodeKind.OBJECT:
            return -1
        if attribute_name(view.graph, reference):
            return reference
        if not is_builtin_type(view.graph.type_names[source]):
            return -1
    return -1
