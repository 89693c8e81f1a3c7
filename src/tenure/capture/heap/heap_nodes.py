"""Nodes and references of a census that the collector, running functions and hidden roots show."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from array import array
from collections import defaultdict
from collections.abc import Sequence
from types import CellType

import torch

from tenure.capture.guarding.classes import found_in, name_of
from tenure.capture.heap import frames, heapwalk, labels
from tenure.capture.heap.autograd import identity_of
from tenure.capture.heap.columns import CensusColumns
from tenure.capture.heap.descriptions import Description, describe, type_name
from tenure.capture.heap.host_buffers import LEAST_BYTES, find_host_buffers
from tenure.capture.heap.kinds import array_contents, category_of, is_array, kind_of
from tenure.capture.heap.origins import is_library_file
from tenure.capture.heap.own_tables import own_tables
from tenure.capture.heap.roots import (
    describe_hidden,
    file_of_code,
    file_of_namespace,
    find_hidden_roots,
    find_namespaces,
    is_ours,
)
from tenure.capture.heap.under_way import UnderWay
from tenure.capture.tensors.use_counts import HAS_USE_COUNT, count_native
from tenure.model.heap import FROZEN, ITERATOR, NAMED_BY_LIBRARY, OWNER_UNKNOWN, NodeKind, ReferenceKind

_FROZEN_BY_PYTHON = 1_000 if sys.version_info[:2] == (3, 12) else 0
"""Python 3.12 freezes a few hundred objects of its own before the program starts (375 in 3.12.1)."""


def read_heap(ignore: Sequence[object]) -> UnderWay:
    """A census with all nodes and references but those that only torch knows; objects in `ignore` are no one's owners.

    Costs one to two full garbage collections.
    """
    objects = gc.get_objects()
    reader = _HeapReader()
    reader.walk_heap(objects, ignore)
    del objects
    reader.add_nodes()
    reader.add_references()
    reader.add_host_buffers()
    reader.add_frames()
    reader.add_hidden_roots()
    return reader.found()


def _names_in_cells(frame: frames.Frame) -> frozenset[str]:
    """Variables of a function that it shares with functions inside of it, or with the one around it."""
    code = frame.frame.f_code
    return frozenset((*code.co_cellvars, *code.co_freevars))


class _HeapReader:
    def __init__(self) -> None:
        self.columns = CensusColumns()
        self._kind_by_type: dict[int, NodeKind] = {}
        self._iterators: dict[int, bool] = {}
        self._running = [frame for frame in frames.running_frames() if frame.readable]

    def found(self) -> UnderWay:
        frozen = gc.get_freeze_count()
        notes = [f"{frozen} objects are frozen (gc.freeze) and cannot be listed"] if frozen > _FROZEN_BY_PYTHON else []
        return UnderWay(
            walk=self.walk,
            kinds=self._kinds,
            in_degree=self._in_degree,
            columns=self.columns,
            numbers=self._numbers,
            held_by_python=self._held_by_python,
            notes=notes,
        )

    def walk_heap(self, objects: list[object], ignore: Sequence[object]) -> None:
        self._namespaces = find_namespaces(self._running)
        self._threads = {id(thread): thread for thread in threading.enumerate()}
        self._hidden = list(find_hidden_roots())
        own = [namespace for namespace in self._namespaces.values() if is_ours(namespace)]
        passed_over = {id(item) for item in (*ignore, *own)}
        passed_over.update(id(frame.frame) for frame in self._running)
        passed_over |= own_tables()
        self.walk = heapwalk.walk(
            objects,
            classify=category_of,
            roots=(self._namespaces.keys() | self._threads.keys()) - passed_over,
            ignore=passed_over,
            extra=[value for frame in self._running for _, value in frame.locals],
            contents=array_contents,
            least_bytes=LEAST_BYTES,
        )

    def add_nodes(self) -> None:
        self._kinds = [self._kind_of(item) for item in self.walk.nodes]
        self._numbers = {id(item): position for position, item in enumerate(self.walk.nodes)}
        self._in_degree = _counts(self.walk.target, len(self.walk.nodes))
        unseen, native = self._owners()
        for position, (item, kind) in enumerate(zip(self.walk.nodes, self._kinds, strict=True)):
            if kind in (NodeKind.TENSOR, NodeKind.AUTOGRAD):
                is_tensor = kind is NodeKind.TENSOR
                self.columns.add_node(
                    kind, type_name(type(item)) if is_tensor else name_of(type(item)),
                    address=id(item) if is_tensor else identity_of(item),
                    unseen=unseen[position], native=native[position], flags=_flags_of_tensor(item),
                )  # fmt: skip
                continue
            about = self._describe(item, kind)
            flags = self._flags(item, kind, about.file)
            self.columns.add_node(
                kind, type_name(type(item)), address=id(item), name=about.name, file=about.file, line=about.line,
                unseen=unseen[position], length=about.length, bound=about.bound, flags=flags,
            )  # fmt: skip

    def _kind_of(self, item: object) -> NodeKind:
        if id(item) in self._namespaces:
            return NodeKind.NAMESPACE
        if id(item) in self._threads:
            return NodeKind.HIDDEN
        cls = type(item)
        kind = self._kind_by_type.get(id(cls))
        if kind is None:
            kind = self._kind_by_type[id(cls)] = kind_of(cls)
        return kind

    def _flags(self, item: object, kind: NodeKind, file: str) -> int:
        if kind is not NodeKind.OBJECT:
            return NAMED_BY_LIBRARY if is_library_file(file) else 0
        cls = type(item)
        if id(cls) not in self._iterators:
            self._iterators[id(cls)] = found_in(cls, "__next__") is not None
        return ITERATOR if self._iterators[id(cls)] else 0

    def _describe(self, item: object, kind: NodeKind) -> Description:
        if kind is NodeKind.NAMESPACE:
            namespace = self._namespaces[id(item)]
            name, file = namespace.get("__name__", ""), file_of_namespace(namespace)
            line = self._line_of_module(item, file)
            return Description(str(name), file=file or file_of_code(namespace, self._running), line=line)
        if kind is NodeKind.HIDDEN:
            return describe_hidden(item)
        return describe(item)

    def _line_of_module(self, namespace: object, file: str) -> int:
        """The line that a module's own code executes; 0 where it has ended."""
        running = (each for each in self._running if each.frame.f_code.co_name == "<module>" and each.file == file)
        return next((each.line for each in running if each.frame.f_globals is namespace), 0)

    def _owners(self) -> tuple[list[int], list[int]]:
        """References to each node that nothing in the census explains: Python's, and C++'s for tensors."""
        explained = list(self._in_degree)
        for frame in self._running:
            in_cells = _names_in_cells(frame)
            for name, value in frame.locals:
                position = self._numbers.get(id(value))
                if position is not None:
                    explained[position] += 2 + (name not in in_cells)
        self._explain_cells(explained)
        for root in self._hidden:
            for _, value in root.held:
                position = self._numbers.get(id(value))
                if position is not None:
                    explained[position] += 2
        unseen, native = [], []
        for item, kind, count, known in zip(self.walk.nodes, self._kinds, self.walk.refcounts, explained, strict=True):
            num_native, from_native = count_native(item) if kind is NodeKind.TENSOR else (0, 0)
            if kind is NodeKind.AUTOGRAD:
                unseen.append(int(known == 0))  # C++ owners of nodes are not counted anywhere
            else:
                unseen.append(max(0, count - known - from_native))
            native.append(num_native)
        self._held_by_python = [bool(known or rest) for known, rest in zip(explained, unseen, strict=True)]
        return unseen, native

    def _explain_cells(self, explained: list[int]) -> None:
        """The cells of a running frame's variables, which functions inside of it share: the frame holds each, and does
        not say so to the collector (Python 3.11 and later)."""
        cells: dict[int, list[int]] = defaultdict(list)
        for position, item in enumerate(self.walk.nodes):
            for held in gc.get_referents(item) if type(item) is CellType else ():
                cells[id(held)].append(position)
        for frame in self._running if cells else ():
            in_cells = _names_in_cells(frame)
            for name, value in frame.locals:
                mine = cells.get(id(value), ()) if name in in_cells else ()
                unexplained = [each for each in mine if explained[each] < self.walk.refcounts[each]]
                if unexplained:
                    explained[unexplained[0]] += 1

    def add_references(self) -> None:
        nodes = self.walk.nodes
        by_source: dict[int, list[int]] = defaultdict(list)
        for source, target in zip(self.walk.source, self.walk.target, strict=True):
            by_source[source].append(target)
        self._parts = parts = self._inner_parts(by_source)
        for source, targets in by_source.items():
            owner, named = parts[source] if source in parts else (source, self._named(source))
            waiting: dict[int, list[tuple[ReferenceKind, str]]] = defaultdict(list)
            for referent, kind, label in named:
                waiting[id(referent)].append((kind, label))
            for target in targets:
                if target in parts and parts[target][0] == source:
                    continue
                names = waiting.get(id(nodes[target]))
                kind, label = names.pop(0) if names else self._unnamed(source, target)
                self.columns.add_reference(owner, target, kind, label)

    def add_host_buffers(self) -> None:
        for number, num_bytes in enumerate(self.walk.host_bytes):
            if num_bytes >= LEAST_BYTES and self._kinds[number] is NodeKind.OBJECT:
                owner = self._parts[number][0] if number in self._parts else number
                for kind, label, held, size in find_host_buffers(self.walk.nodes[number], num_bytes):
                    self.columns.add_host_buffers(owner, size, kind, label, held)

    def _inner_parts(self, by_source: dict[int, list[int]]) -> dict[int, tuple[int, list[labels.Named]]]:
        """Closure tuples, defaults, tables inside queues and thread-locals: their references are their owner's."""
        parts = {}
        for source in by_source:
            for container, named in labels.inner_parts(self.walk.nodes[source]):
                number = self._numbers.get(id(container))
                if number is not None:
                    parts[number] = (source, named)
        return parts

    def _named(self, source: int) -> list[labels.Named]:
        item = self.walk.nodes[source]
        if self._kinds[source] is NodeKind.NAMESPACE:
            return list(labels.dict_items(item, kind=ReferenceKind.GLOBAL))  # type: ignore[arg-type]
        return labels.named_referents(item)

    def _unnamed(self, source: int, target: int) -> tuple[ReferenceKind, str]:
        owner, referent = self.walk.nodes[source], self.walk.nodes[target]
        if issubclass(type(owner), functools._lru_cache_wrapper):
            return ReferenceKind.CACHED, "cache"
        if self._kinds[source] is NodeKind.TENSOR:
            if self._kinds[target] is NodeKind.AUTOGRAD:
                return ReferenceKind.GRAD_FN, "grad_fn"
            return ReferenceKind.HOOK, "hook"
        if self._kinds[source] is NodeKind.CLASS and type(referent) is dict:
            return ReferenceKind.DICT, "__dict__"
        if is_array(owner):
            is_view = owner.dtype.kind != "O"  # type: ignore[attr-defined]
            return (ReferenceKind.ATTRIBUTE, "base") if is_view else (ReferenceKind.INDEX, "*")
        return ReferenceKind.OTHER, ""

    def add_frames(self) -> None:
        for frame in self._running:
            held = [(name, self._numbers[id(value)]) for name, value in frame.locals if id(value) in self._numbers]
            if not held:
                continue
            number = self.columns.add_node(
                NodeKind.FRAME, "frame", address=id(frame.frame), name=frame.qualname, file=frame.file,
                line=frame.line, flags=NAMED_BY_LIBRARY if is_library_file(frame.file) else 0,
            )  # fmt: skip
            for name, target in held:
                self.columns.add_reference(number, target, ReferenceKind.LOCAL, name)

    def add_hidden_roots(self) -> None:
        for root in self._hidden:
            held = [(label, self._numbers[id(value)]) for label, value in root.held if id(value) in self._numbers]
            if held:
                number = self.columns.add_node(NodeKind.HIDDEN, "", name=root.name)
                for label, target in held:
                    self.columns.add_reference(number, target, ReferenceKind.OTHER, label)


def _flags_of_tensor(item: object) -> int:
    """Of plain parameters alone whether they are frozen: to ask one of another class may run the program's code."""
    is_plain = type(item) is torch.nn.Parameter
    frozen = FROZEN if is_plain and not item.requires_grad else 0  # type: ignore[attr-defined]
    return frozen if HAS_USE_COUNT else frozen | OWNER_UNKNOWN


def _counts(targets: array[int], length: int) -> list[int]:
    counts = [0] * length
    for target in targets:
        counts[target] += 1
    return counts
