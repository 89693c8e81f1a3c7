"""Takes a census: everything that keeps tensor memory alive, in one labelled graph.

The pause is one pass over the heap (`heapwalk`), then reading what the collector cannot see: running functions'
variables, the autograd graph, storages, gradients. Nothing is freed, unpacked, recomputed or synchronised; the
collector is off meanwhile and restored after; no user code runs.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from tenure.capture.heap import autograd, frames, heapwalk, labels, native_owners, roles
from tenure.capture.heap.columns import CensusColumns
from tenure.capture.heap.descriptions import Description, describe, type_name
from tenure.capture.heap.foreign_storages import add_foreign_memory
from tenure.capture.heap.host_buffers import LEAST_BYTES, find_host_buffers
from tenure.capture.heap.kinds import array_contents, category_of, is_array, is_parameter, kind_of
from tenure.capture.heap.origins import is_library_file
from tenure.capture.heap.roots import describe_hidden, file_of_namespace, find_hidden_roots, find_namespaces, is_ours
from tenure.capture.system.child_memory import CHILDREN
from tenure.capture.system.system_counts import read_system_counts
from tenure.capture.tensors.storages import StorageTable, is_fake
from tenure.capture.tensors.use_counts import HAS_USE_COUNT, changes_hands, count_native
from tenure.model.heap import (
    BUFFERS_FREED,
    GRAPH_CONTINUES,
    NAMED_BY_LIBRARY,
    OWNER_UNKNOWN,
    Census,
    NodeKind,
    ReferenceKind,
    Role,
)

_FROZEN_BY_PYTHON = 1_000 if sys.version_info[:2] == (3, 12) else 0
"""Python 3.12 freezes a few hundred objects of its own before the program starts (375 in 3.12.1)."""


def take_census(
    *,
    step: int,
    moment: str,
    inputs: object = None,
    optimizers: Sequence[object] = (),
    ignore: Sequence[object] = (),
) -> Census:
    """A census of this process, now.

    `inputs` are the arguments of the root module call that is being entered; `optimizers` those known to the
    caller (others are found on the heap); `ignore` the caller's own objects, which are no one's owners.
    Costs about one to two full garbage collections of the process, and some microseconds per tensor.
    """
    started = time.perf_counter()
    autograd.prepare()
    changes_hands()
    with _quiet_interpreter(), torch._C.DisableTorchFunction():
        taker = _Taker(inputs=inputs, optimizers=optimizers, ignore=ignore, bases=moment == "peak")
        taker.read()
        counts, children = read_system_counts(), CHILDREN.read()
        return taker.columns.finish(
            step=step,
            moment=moment,
            seconds=time.perf_counter() - started,
            num_objects=taker.walk.num_objects,
            notes=tuple(taker.notes),
            counts=counts,
            children=children,
        )


@contextmanager
def _quiet_interpreter() -> Iterator[None]:
    """Automatic collection off, and no switch to another thread while we name what the walk has found."""
    was_enabled, interval = gc.isenabled(), sys.getswitchinterval()
    gc.disable()
    sys.setswitchinterval(60.0)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        if was_enabled:
            gc.enable()


class _Taker:
    """One census under way. Holds strong references to the program's objects, so it lives as short as the pause."""

    def __init__(
        self, *, inputs: object, optimizers: Sequence[object], ignore: Sequence[object], bases: bool = False
    ) -> None:
        self.columns = CensusColumns()
        self.notes: list[str] = []
        self._inputs = inputs
        self._optimizers = optimizers
        self._ignore = ignore
        # Asking for a view's base makes a wrapper; while a step is profiled, each has one already.
        self._bases = bases
        self._storages = StorageTable()
        self._numbers: dict[int, int] = {}
        self._kind_by_type: dict[type, NodeKind] = {}
        self._late: list[torch.Tensor] = []
        self._cast_nodes: list[int] = []
        self._to_storage: list[tuple[int, int, ReferenceKind, str]] = []

    def read(self) -> None:
        """The whole census, in the order in which each part needs the one before."""
        objects = gc.get_objects()
        if gc.get_freeze_count() > _FROZEN_BY_PYTHON:
            self.notes.append(f"{gc.get_freeze_count()} objects are frozen (gc.freeze) and cannot be listed")
        self._running = [frame for frame in frames.running_frames() if frame.readable]
        self._walk_heap(objects)
        del objects
        self._add_nodes()
        self._add_references()
        self._add_host_buffers()
        self._add_frames()
        self._add_hidden_roots()
        self._read_tensors()
        self._read_graphs()
        self._read_roles()
        self._read_reducers()
        self._read_autocast_cache()
        self._add_storages()

    # -- the heap -------------------------------------------------------------------------------------------------

    def _walk_heap(self, objects: list[object]) -> None:
        self._namespaces = find_namespaces(self._running)
        self._threads = {id(thread): thread for thread in threading.enumerate()}
        self._hidden = list(find_hidden_roots())
        own = [namespace for namespace in self._namespaces.values() if is_ours(namespace)]
        ignore = {id(item) for item in (*self._ignore, *own)}
        ignore.update(id(frame.frame) for frame in self._running)
        self.walk = heapwalk.walk(
            objects,
            classify=category_of,
            roots=(self._namespaces.keys() | self._threads.keys()) - ignore,
            ignore=ignore,
            extra=[value for frame in self._running for _, value in frame.locals],
            contents=array_contents,
            least_bytes=LEAST_BYTES,
        )

    def _add_nodes(self) -> None:
        self._kinds = [self._kind_of(item) for item in self.walk.nodes]
        self._numbers = {id(item): position for position, item in enumerate(self.walk.nodes)}
        self._in_degree = _counts(self.walk.target, len(self.walk.nodes))
        unseen, native = self._owners()
        for position, (item, kind) in enumerate(zip(self.walk.nodes, self._kinds, strict=True)):
            if kind in (NodeKind.TENSOR, NodeKind.AUTOGRAD):
                name = type_name(type(item)) if kind is NodeKind.TENSOR else type(item).__name__
                self.columns.add_node(
                    kind, name, address=id(item), unseen=unseen[position], native=native[position],
                    flags=0 if HAS_USE_COUNT else OWNER_UNKNOWN,
                )  # fmt: skip
                continue
            about = self._describe(item, kind)
            flags = NAMED_BY_LIBRARY if kind is not NodeKind.OBJECT and is_library_file(about.file) else 0
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
        kind = self._kind_by_type.get(cls)
        if kind is None:
            kind = self._kind_by_type[cls] = kind_of(cls)
        return kind

    def _describe(self, item: object, kind: NodeKind) -> Description:
        if kind is NodeKind.NAMESPACE:
            name, file = self._namespaces[id(item)].get("__name__", ""), file_of_namespace(self._namespaces[id(item)])
            return Description(name=str(name), file=file, line=self._line_of_module(item, file))
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
            code = frame.frame.f_code
            in_cells = {*code.co_cellvars, *code.co_freevars}
            for name, value in frame.locals:
                position = self._numbers.get(id(value))
                if position is not None:
                    explained[position] += 2 + (name not in in_cells)
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
        self._is_held_by_python = [bool(known or rest) for known, rest in zip(explained, unseen, strict=True)]
        return unseen, native

    # -- references -----------------------------------------------------------------------------------------------

    def _add_references(self) -> None:
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

    def _add_host_buffers(self) -> None:
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
        if isinstance(owner, functools._lru_cache_wrapper):
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

    def _add_frames(self) -> None:
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

    def _add_hidden_roots(self) -> None:
        for root in self._hidden:
            held = [(label, self._numbers[id(value)]) for label, value in root.held if id(value) in self._numbers]
            if held:
                number = self.columns.add_node(NodeKind.HIDDEN, "", name=root.name)
                for label, target in held:
                    self.columns.add_reference(number, target, ReferenceKind.OTHER, label)

    # -- what the collector cannot see ----------------------------------------------------------------------------

    def _read_tensors(self) -> None:
        self._with_grad_fn: list[tuple[int, Any]] = []
        for position, kind in enumerate(self._kinds):
            if kind is NodeKind.TENSOR:
                self._read_tensor(position, self.walk.nodes[position])
        for position, item in enumerate(self.walk.nodes):
            if self._in_degree[position] and isinstance(item, torch._C.StorageBase):
                self._link_storages(position, [item._cdata])
        self._link_bases()

    def _link_bases(self) -> None:
        """From views to their bases, where a base has a Python object that C++ alone keeps: its views do."""
        kept = {number for number, kind in enumerate(self._kinds) if kind is NodeKind.TENSOR
                and self.columns.nodes["native"][number] and not self._is_held_by_python[number]}  # fmt: skip
        if self._bases or not kept:
            return
        shared = {storage for number, storage, _, _ in self._to_storage if number in kept}
        for number, storage, _, _ in list(self._to_storage):
            if storage in shared and number not in kept and self._kinds[number] is NodeKind.TENSOR:
                self._link_base(number, self.walk.nodes[number])

    def _link_base(self, number: int, tensor: Any) -> None:
        base = self._numbers.get(id(tensor._base)) if tensor._is_view() else None
        if base is not None:
            self.columns.add_reference(number, base, ReferenceKind.BASE, "_base")

    def _read_tensor(self, number: int, tensor: Any) -> None:
        if is_fake(tensor):
            return
        ids = self._storages.add(tensor, view=self._is_held_by_python[number])
        self._link_storages(number, ids)
        if self._bases:
            self._link_base(number, tensor)
        is_frozen = not tensor.requires_grad
        if is_frozen and type(tensor) is torch.Tensor:
            return
        # A parameter that was frozen after a backward still has its gradient.
        if is_frozen or autograd.is_leaf(tensor):
            self._link_gradient(number, tensor.grad)
            return
        if autograd.retains_gradient(tensor):
            self._link_gradient(number, tensor.grad)
        # Asking for `grad_fn` makes a wrapper, so it is left to the graph walk and its budget. What only C++ holds
        # is reached through the graph that holds it.
        if self._is_held_by_python[number]:
            self._with_grad_fn.append((number, tensor))
        for storage_id in ids:
            self._storages.by_id[storage_id].roles.add(Role.ACTIVATION)

    def _link_gradient(self, number: int, gradient: Any) -> None:
        if gradient is None:
            return
        target = self._number_of_late_tensor(gradient)
        by_python = target < len(self._is_held_by_python) and self._is_held_by_python[target]
        if gradient.requires_grad and not autograd.is_leaf(gradient) and not by_python:
            self._with_grad_fn.append((target, gradient))  # by backward(create_graph=True): one per tensor
        self.columns.add_reference(number, target, ReferenceKind.GRAD, "grad")
        self._add_role(gradient, Role.GRADIENT)

    def _link_storages(self, number: int, ids: Iterable[int]) -> None:
        for storage_id in ids:
            if storage_id in self._storages.by_id:
                self._to_storage.append((number, storage_id, ReferenceKind.STORAGE, "storage"))

    def _number_of_late_tensor(self, tensor: Any) -> int:
        """Number of a tensor that may have had no Python object when the heap was walked."""
        number = self._numbers.get(id(tensor))
        if number is None:
            number = self.columns.add_node(NodeKind.TENSOR, type_name(type(tensor)), address=id(tensor))
            self._numbers[id(tensor)] = number
            self._late.append(tensor)
            self._link_storages(number, self._storages.add(tensor))
        return number

    def _read_graphs(self) -> None:
        existing = [id(item) for item, kind in zip(self.walk.nodes, self._kinds, strict=True)
                    if kind is NodeKind.AUTOGRAD]  # fmt: skip
        graphs = autograd.GraphWalk(existing, budget=autograd.node_budget())
        seen = set(zip(self.walk.source, self.walk.target, strict=True))
        graphs.walk(item for item, kind in zip(self.walk.nodes, self._kinds, strict=True)
                    if kind is NodeKind.AUTOGRAD)  # fmt: skip
        roots = graphs.walk_tensors(tensor for _, tensor in self._with_grad_fn)
        numbers = [self._number_of_autograd_node(visited) for visited in graphs.nodes]
        for (number, _), node in zip(self._with_grad_fn, roots, strict=True):
            if node is None:
                self.columns.nodes["flags"][number] |= GRAPH_CONTINUES
                continue
            root = numbers[graphs.numbers[id(node)]]
            if (number, root) not in seen:
                self.columns.add_reference(number, root, ReferenceKind.GRAD_FN, "grad_fn")
        self._read_slot, why_unread = autograd.how_to_read()
        for number, visited in zip(numbers, graphs.nodes, strict=True):
            self._link_autograd_node(number, visited, numbers)
        if graphs.truncated:
            self.notes.append("an autograd graph is deeper than can be walked safely: its far end is not in the census")
        if why_unread and graphs.nodes:
            self.notes.append(why_unread)

    def _number_of_autograd_node(self, visited: autograd.VisitedNode) -> int:
        number = self._numbers.get(id(visited.node))
        if number is None:
            number = self.columns.add_node(NodeKind.AUTOGRAD, type(visited.node).__name__, address=id(visited.node))
            self._numbers[id(visited.node)] = number
        return number

    def _link_autograd_node(self, number: int, visited: autograd.VisitedNode, numbers: list[int]) -> None:
        add = self.columns.add_reference
        for follower, label in visited.next:
            add(number, numbers[follower], ReferenceKind.NEXT, label)
        if visited.leaf is not None:
            add(number, self._number_of_late_tensor(visited.leaf), ReferenceKind.NEXT, "variable")
            return
        if type(visited.node).__name__ == native_owners.CAST_NODE:
            self._cast_nodes.append(number)
        slots = autograd.saved_slots(visited.node, self._read_slot)
        for slot in slots:
            self._link_slot(number, slot)
        flags = GRAPH_CONTINUES if visited.continues else 0
        if slots and all(slot.data is None for slot in slots):
            flags |= BUFFERS_FREED
        self.columns.nodes["flags"][number] |= flags

    def _link_slot(self, number: int, slot: autograd.SavedSlot) -> None:
        if slot.unpack_hook is None and isinstance(slot.data, torch.Tensor):
            for storage_id in self._storages.add(slot.data, view=False):
                self._storages.by_id[storage_id].roles.add(Role.ACTIVATION)
                self._to_storage.append((number, storage_id, ReferenceKind.SAVED, slot.label))
            return
        for referent in (slot.data, slot.unpack_hook):
            target = self._numbers.get(id(referent))
            if referent is not None and target is not None:
                self.columns.add_reference(number, target, ReferenceKind.HOOK, slot.label)
                self._explain(target)

    def _explain(self, number: int) -> None:
        """One of a node's references has its owner now: what a hook packed, and the hook, each slot holds once."""
        unseen = self.columns.nodes["unseen"]
        unseen[number] = max(0, unseen[number] - 1)

    # -- owners in C++ ----------------------------------------------------------------------------------------------

    def _read_reducers(self) -> None:
        data_parallel = native_owners.data_parallel_type()
        if data_parallel is None:
            return
        for number, item in enumerate(self.walk.nodes):
            if self._kinds[number] is NodeKind.OBJECT and issubclass(type(item), data_parallel):
                reducer = native_owners.reducer_of(item)
                if reducer is not None:
                    self._add_reducer(number, item, reducer)

    def _add_reducer(self, module: int, item: object, held: native_owners.Reducer) -> None:
        address = id(held.reducer)
        number = self.columns.add_node(NodeKind.OBJECT, native_owners.REDUCER_TYPE, address=address)
        table = self._numbers.get(id(labels.instance_dict(item)))
        if table is None:
            self.columns.add_reference(module, number, ReferenceKind.ATTRIBUTE, "reducer")
        else:
            self.columns.add_reference(table, number, ReferenceKind.ITEM, "'reducer'")
        for parameter in held.parameters:
            target = self._numbers.get(id(parameter))
            if target is not None:
                self.columns.add_reference(number, target, ReferenceKind.NATIVE, "parameter")
        buckets = [found for gradient in held.bucketed_gradients for found in self._storages.add(gradient, view=False)]
        for storage_id in dict.fromkeys(buckets):
            self._to_storage.append((number, storage_id, ReferenceKind.NATIVE, "gradient bucket"))
        if held.unseen_bytes:
            self.notes.append(native_owners.describe_unseen(held))

    def _read_autocast_cache(self) -> None:
        """What hangs below copies that only the cache holds: their graph nodes, or the leaves where no node is seen."""
        if not native_owners.is_autocast_caching():
            return
        known = set(self.columns.references["target"])
        held = [number for number in self._cast_nodes if number not in known]
        below_graphs = {target for target, kind in zip(self.columns.references["target"],
                                                       self.columns.references["kind"], strict=True)
                        if kind in (ReferenceKind.NEXT, ReferenceKind.NATIVE)}  # fmt: skip
        for number, item in enumerate(self.walk.nodes):
            is_held_natively = self._kinds[number] is NodeKind.TENSOR and self.columns.nodes["native"][number] > 0
            if is_held_natively and number not in below_graphs and native_owners.is_cast_by_autocast(item):
                held.append(number)
        if held:
            cache = self.columns.add_node(NodeKind.HIDDEN, "", name=native_owners.AUTOCAST_CACHE)
            for number in held:
                self.columns.add_reference(cache, number, ReferenceKind.NATIVE, "graph of a copy")
            self.notes.append("an autocast region keeps lower-precision copies of weights that only C++ holds")

    # -- storages -------------------------------------------------------------------------------------------------

    def _read_roles(self) -> None:
        optimizer = roles.optimizer_type()
        for item, kind in zip(self.walk.nodes, self._kinds, strict=True):
            if kind is NodeKind.TENSOR and is_parameter(item):
                self._add_role(item, Role.PARAMETER)
            elif kind is NodeKind.OBJECT and issubclass(type(item), torch.nn.Module):
                for tensor, role in roles.roles_from_module(item):
                    self._add_role(tensor, role)
            elif kind is NodeKind.OBJECT and optimizer is not None and issubclass(type(item), optimizer):
                self._add_optimizer(item)
        for item in self._optimizers:
            self._add_optimizer(item)
        for tensor in roles.tensors_in(self._inputs):
            self._add_role(tensor, Role.INPUT)

    def _add_optimizer(self, optimizer: object) -> None:
        for tensor, role in roles.roles_from_optimizer(optimizer):
            self._add_role(tensor, role)

    def _add_role(self, tensor: Any, role: Role) -> None:
        if is_fake(tensor):
            return
        for storage_id in self._storages.add(tensor, view=False):
            self._storages.by_id[storage_id].roles.add(role)

    def _add_storages(self) -> None:
        for storage_id, facts in self._storages.by_id.items():
            facts.number = self.columns.add_node(NodeKind.STORAGE, "storage", address=storage_id)
            self.columns.add_storage(
                facts.number,
                num_bytes=facts.num_bytes,
                view_bytes=facts.view_bytes,
                num_views=facts.num_views,
                role=min(facts.roles, default=Role.OTHER),
                device=facts.device,
                dtype=facts.dtype,
                shape=facts.shape,
                pointer=facts.pointer,
            )
        known = ((facts.pointer, facts.pointer + facts.num_bytes, facts.number)
                 for facts in self._storages.by_id.values() if facts.pointer)  # fmt: skip
        self.notes += add_foreign_memory(self.columns, self.walk.nodes, known)
        for number, storage_id, kind, label in self._to_storage:
            self.columns.add_reference(number, self._storages.by_id[storage_id].number, kind, label)
        if self._storages.num_unreadable:
            self.notes.append(f"{self._storages.num_unreadable} opaque tensors have no readable storage")


def _counts(targets: array[int], length: int) -> list[int]:
    counts = [0] * length
    for target in targets:
        counts[target] += 1
    return counts
