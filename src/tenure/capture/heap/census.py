"""Takes a census: everything that keeps tensor memory alive, in one labelled graph.

The pause is one pass over the heap (`heapwalk`), then reading what the collector cannot see: running functions'
variables, the autograd graph, storages, gradients. Nothing is freed, unpacked, recomputed or synchronised; the
collector is off meanwhile and restored after; no user code runs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

from tenure.capture.guarding.collector import interpreter_rests
from tenure.capture.heap import autograd
from tenure.capture.heap.foreign_storages import add_foreign_memory
from tenure.capture.heap.graph_links import add_tensors_and_graphs
from tenure.capture.heap.heap_nodes import read_heap
from tenure.capture.heap.native_owners import add_native_owners
from tenure.capture.heap.roles import add_roles
from tenure.capture.heap.under_way import UnderWay
from tenure.capture.system.child_memory import CHILDREN
from tenure.capture.system.system_counts import read_system_counts
from tenure.capture.tensors.storage_serials import SERIALS
from tenure.capture.tensors.use_counts import changes_hands
from tenure.model.heap import Census, NodeKind, Role


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
    with interpreter_rests(), torch._C.DisableTorchFunction():
        autograd.prepare()
        changes_hands()
        census = read_heap(ignore)
        add_tensors_and_graphs(census, bases=moment == "peak")
        add_roles(census, inputs=inputs, optimizers=optimizers)
        add_native_owners(census)
        _add_storages(census)
        counts, children = read_system_counts(), CHILDREN.read()
        return census.columns.finish(
            step=step,
            moment=moment,
            seconds=time.perf_counter() - started,
            num_objects=census.walk.num_objects,
            notes=tuple(census.notes),
            counts=counts,
            children=children,
        )


def _add_storages(census: UnderWay) -> None:
    columns, storages = census.columns, census.storages
    for storage_id, facts in storages.by_id.items():
        facts.number = columns.add_node(NodeKind.STORAGE, "storage", address=storage_id)
        columns.add_storage(
            facts.number,
            num_bytes=facts.num_bytes,
            view_bytes=facts.view_bytes,
            num_views=facts.num_views,
            role=min(facts.roles, default=Role.OTHER),
            device=facts.device,
            dtype=facts.dtype,
            shape=facts.shape,
            pointer=facts.pointer,
            serial=facts.serial,
            version=facts.version,
        )
    SERIALS.forget_dead()
    known = ((facts.pointer, facts.pointer + facts.num_bytes, facts.number)
             for facts in storages.by_id.values() if facts.pointer)  # fmt: skip
    census.notes += add_foreign_memory(columns, census.walk.nodes, known)
    for number, storage_id, kind, label in census.to_storage:
        columns.add_reference(number, storages.by_id[storage_id].number, kind, label)
    if storages.num_unreadable:
        census.notes.append(f"{storages.num_unreadable} opaque tensors have no readable storage")
