"""References of a census that the collector cannot see: tensors to storages, gradients and bases, and the graphs."""

from __future__ import annotations

from typing import Any

import torch

from tenure.capture.guarding.classes import name_of
from tenure.capture.heap import autograd
from tenure.capture.heap.checkpoints import is_checkpoint, saved_inputs
from tenure.capture.heap.under_way import UnderWay
from tenure.capture.tensors.fakes import is_no_tensor_of_the_program
from tenure.model.heap import BUFFERS_FREED, GRAPH_CONTINUES, NodeKind, ReferenceKind, Role


def add_tensors_and_graphs(census: UnderWay, *, bases: bool) -> None:
    """Adds what hangs on the tensors that were found. `bases` says that each view has a wrapper of its base already,
    as it has while a step is profiled: asking for one makes it.

    Nothing is unpacked or recomputed. Costs microseconds per tensor and per node of a graph.
    """
    reader = _GraphReader(census, bases)
    reader.read_tensors()
    reader.read_graphs()


class _GraphReader:
    def __init__(self, census: UnderWay, bases: bool) -> None:
        self.census = census
        self._bases = bases
        self._with_grad_fn: list[tuple[int, Any]] = []

    def read_tensors(self) -> None:
        for position, kind in enumerate(self.census.kinds):
            if kind is NodeKind.TENSOR:
                self._read_tensor(position, self.census.walk.nodes[position])
        for position, item in enumerate(self.census.walk.nodes):
            if self.census.in_degree[position] and issubclass(type(item), torch._C.StorageBase):
                self.census.link_storages(position, self.census.storages.add_bare(item))
        self._link_bases()

    def _link_bases(self) -> None:
        """From views to their bases, where a base has a Python object that C++ alone keeps: its views do."""
        kept = {number for number, kind in enumerate(self.census.kinds) if kind is NodeKind.TENSOR
                and self.census.columns.nodes["native"][number] and not self.census.held_by_python[number]}  # fmt: skip
        if self._bases or not kept:
            return
        shared = {storage for number, storage, _, _ in self.census.to_storage if number in kept}
        for number, storage, _, _ in list(self.census.to_storage):
            if storage in shared and number not in kept and self.census.kinds[number] is NodeKind.TENSOR:
                self._link_base(number, self.census.walk.nodes[number])

    def _link_base(self, number: int, tensor: Any) -> None:
        base = self.census.numbers.get(id(tensor._base)) if tensor._is_view() else None
        if base is not None:
            self.census.columns.add_reference(number, base, ReferenceKind.BASE, "_base")

    def _read_tensor(self, number: int, tensor: Any) -> None:
        if is_no_tensor_of_the_program(tensor):
            return
        ids = self.census.storages.add(tensor, view=self.census.held_by_python[number])
        self.census.link_storages(number, ids)
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
        if self.census.held_by_python[number]:
            self._with_grad_fn.append((number, tensor))
        for storage_id in ids:
            self.census.storages.by_id[storage_id].roles.add(Role.ACTIVATION)

    def _link_gradient(self, number: int, gradient: Any) -> None:
        if gradient is None:
            return
        target = self.census.number_of_tensor(gradient)
        by_python = target < len(self.census.held_by_python) and self.census.held_by_python[target]
        if gradient.requires_grad and not autograd.is_leaf(gradient) and not by_python:
            self._with_grad_fn.append((target, gradient))  # by backward(create_graph=True): one per tensor
        self.census.columns.add_reference(number, target, ReferenceKind.GRAD, "grad")
        self.census.add_role(gradient, Role.GRADIENT)

    def read_graphs(self) -> None:
        existing = [id(item) for item, kind in zip(self.census.walk.nodes, self.census.kinds, strict=True)
                    if kind is NodeKind.AUTOGRAD]  # fmt: skip
        graphs = autograd.GraphWalk(existing, budget=autograd.node_budget())
        seen = set(zip(self.census.walk.source, self.census.walk.target, strict=True))
        graphs.walk(item for item, kind in zip(self.census.walk.nodes, self.census.kinds, strict=True)
                    if kind is NodeKind.AUTOGRAD)  # fmt: skip
        roots = graphs.walk_tensors(tensor for _, tensor in self._with_grad_fn)
        numbers = [self._number_of_autograd_node(visited) for visited in graphs.nodes]
        for (number, _), node in zip(self._with_grad_fn, roots, strict=True):
            if node is None:
                self.census.columns.nodes["flags"][number] |= GRAPH_CONTINUES
                continue
            root = numbers[graphs.numbers[id(node)]]
            if (number, root) not in seen:
                self.census.columns.add_reference(number, root, ReferenceKind.GRAD_FN, "grad_fn")
        self._read_slot, why_unread = autograd.how_to_read()
        for number, visited in zip(numbers, graphs.nodes, strict=True):
            self._link_autograd_node(number, visited, numbers)
        self._link_checkpoints()
        if graphs.truncated:
            self.census.notes.append(
                "an autograd graph is deeper than can be walked safely: its far end is not in the census"
            )
        if why_unread and graphs.nodes:
            self.census.notes.append(why_unread)

    def _number_of_autograd_node(self, visited: autograd.VisitedNode) -> int:
        number = self.census.numbers.get(id(visited.node))
        if number is None:
            number = self.census.columns.add_node(
                NodeKind.AUTOGRAD, name_of(type(visited.node)), address=autograd.identity_of(visited.node)
            )
            self.census.numbers[id(visited.node)] = number
        return number

    def _link_autograd_node(self, number: int, visited: autograd.VisitedNode, numbers: list[int]) -> None:
        add = self.census.columns.add_reference
        for follower, label in visited.next:
            add(number, numbers[follower], ReferenceKind.NEXT, label)
        if visited.leaf is not None:
            add(number, self.census.number_of_tensor(visited.leaf), ReferenceKind.NEXT, "variable")
            return
        slots = autograd.saved_slots(visited.node, self._read_slot)
        for slot in slots:
            self._link_slot(number, slot)
        flags = GRAPH_CONTINUES if visited.continues else 0
        if slots and all(slot.data is None for slot in slots):
            flags |= BUFFERS_FREED
        self.census.columns.nodes["flags"][number] |= flags

    def _link_checkpoints(self) -> None:
        for number, item in enumerate(self.census.walk.nodes):
            if self.census.kinds[number] is NodeKind.OBJECT and is_checkpoint(type(item)):
                for slot in saved_inputs(item, self._read_slot):
                    self._link_slot(number, slot)

    def _link_slot(self, number: int, slot: autograd.SavedSlot) -> None:
        if slot.unpack_hook is None and issubclass(type(slot.data), torch.Tensor):
            if is_no_tensor_of_the_program(slot.data):
                return  # of a graph that a compiler has traced
            for storage_id in self.census.storages.add(slot.data, view=False):
                self.census.storages.by_id[storage_id].roles.add(Role.ACTIVATION)
                self.census.to_storage.append((number, storage_id, ReferenceKind.SAVED, slot.label))
            return
        for referent in (slot.data, slot.unpack_hook):
            target = self.census.numbers.get(id(referent))
            if referent is not None and target is not None:
                self.census.columns.add_reference(number, target, ReferenceKind.HOOK, slot.label)
                self._explain(target)

    def _explain(self, number: int) -> None:
        """One of a node's references has its owner now: what a hook packed, and the hook, each slot holds once."""
        unseen = self.census.columns.nodes["unseen"]
        unseen[number] = max(0, unseen[number] - 1)
