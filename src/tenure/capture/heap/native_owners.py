"""Owners of tensors that are C++ objects: named where the program's state proves them.

What torch counts (`_use_count`) says that C++ holds a tensor, not who does. Two owners can be told without asking
them anything: autocast's weight cache, which lives exactly as long as an autocast region, and DDP's reducer, which
holds the parameters it was made with and buckets for all their gradients.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch

from tenure.capture.guarding.classes import is_made_from
from tenure.capture.heap.autograd import is_leaf
from tenure.capture.heap.under_way import UnderWay
from tenure.capture.tensors.nested import instance_dict
from tenure.model.heap import NodeKind, ReferenceKind
from tenure.model.recording import AUTOCAST_CACHE
from tenure.model.units import format_bytes

_CAST_NODE = "ToCopyBackward0"
REDUCER_TYPE = "torch._C._distributed_c10d.Reducer"


def add_native_owners(census: UnderWay) -> None:
    """Adds reducers and autocast's cache as nodes, with references to what they hold. After the graphs."""
    _add_reducers(census)
    _add_autocast_cache(census)


def _add_reducers(census: UnderWay) -> None:
    data_parallel = data_parallel_type()
    if data_parallel is None:
        return
    for number, item in enumerate(census.walk.nodes):
        if census.kinds[number] is NodeKind.OBJECT and is_made_from(type(item), data_parallel):
            reducer = reducer_of(item)
            if reducer is not None:
                _add_reducer(census, number, item, reducer)


def _add_reducer(census: UnderWay, module: int, item: object, held: Reducer) -> None:
    number = census.columns.add_node(NodeKind.OBJECT, REDUCER_TYPE, address=id(held.reducer))
    table = census.numbers.get(id(instance_dict(item)))
    if table is None:
        census.columns.add_reference(module, number, ReferenceKind.ATTRIBUTE, "reducer")
    else:
        census.columns.add_reference(table, number, ReferenceKind.ITEM, "'reducer'")
    for parameter in held.parameters:
        target = census.numbers.get(id(parameter))
        if target is not None:
            census.columns.add_reference(number, target, ReferenceKind.NATIVE, "parameter")
    buckets = [found for gradient in held.bucketed_gradients for found in census.storages.add(gradient, view=False)]
    for storage_id in dict.fromkeys(buckets):
        census.to_storage.append((number, storage_id, ReferenceKind.NATIVE, "gradient bucket"))
    if held.unseen_bytes:
        census.notes.append(_describe_unseen(held))


def _add_autocast_cache(census: UnderWay) -> None:
    """What hangs below copies that only the cache holds: their graph nodes, or the leaves where no node is seen."""
    if not is_autocast_caching():
        return
    nodes, references = census.columns.nodes, census.columns.references
    known = set(references["target"])
    cast = census.columns.strings.positions.get(_CAST_NODE)
    held = [number for number, name in enumerate(nodes["type"]) if name == cast and number not in known]
    below_graphs = {target for target, kind in zip(references["target"], references["kind"], strict=True)
                    if kind in (ReferenceKind.NEXT, ReferenceKind.NATIVE)}  # fmt: skip
    for number, item in enumerate(census.walk.nodes):
        is_held_natively = census.kinds[number] is NodeKind.TENSOR and nodes["native"][number] > 0
        if is_held_natively and number not in below_graphs and is_cast_by_autocast(item):
            held.append(number)
    if held:
        cache = census.columns.add_node(NodeKind.HIDDEN, "", name=AUTOCAST_CACHE)
        for number in held:
            census.columns.add_reference(cache, number, ReferenceKind.NATIVE, "graph of a copy")
        census.notes.append("an autocast region keeps lower-precision copies of weights that only C++ holds")


def is_autocast_caching() -> bool:
    """Whether this thread is inside an autocast region that keeps lower-precision copies of weights: they stay until
    the outermost region ends, also where one inside of it is switched off."""
    if not torch.is_autocast_cache_enabled():
        return False
    is_any_enabled = getattr(torch._C, "_is_any_autocast_enabled", torch.is_autocast_enabled)
    return _nested_regions() > (0 if is_any_enabled() else 1)


def _nested_regions() -> int:
    """The nesting can only be asked for by entering one level; leaving it by the same counter clears nothing."""
    nesting: int = torch.autocast_increment_nesting()
    torch.autocast_decrement_nesting()
    return nesting - 1


def is_cast_by_autocast(tensor: torch.Tensor) -> bool:
    """Whether autocast, as it is set now or in a region around it, would cast and cache this tensor: a leaf in float32
    that learns."""
    device = tensor.device.type
    if not (is_leaf(tensor) and tensor.requires_grad and tensor.dtype is torch.float32):
        return False
    try:
        return bool(torch.is_autocast_enabled(device)) or _nested_regions() > 1
    except (RuntimeError, TypeError):
        return False


@dataclass(frozen=True)
class Reducer:
    """What the C++ reducer of one `DistributedDataParallel` holds; the tensors are the program's own."""

    reducer: object
    parameters: tuple[torch.Tensor, ...]
    bucketed_gradients: tuple[torch.Tensor, ...]
    unseen_bytes: int
    """Of gradient buckets that no tensor in Python is a view of."""


def data_parallel_type() -> type | None:
    """`DistributedDataParallel` where the program has imported it."""
    found = getattr(sys.modules.get("torch.nn.parallel.distributed"), "DistributedDataParallel", None)
    return found if isinstance(found, type) else None


def reducer_of(module: Any) -> Reducer | None:
    """The reducer of a `DistributedDataParallel` module; None where it has none (yet).

    Its buckets are as large as the gradients of its parameters together (torch/csrc/distributed/c10d/reducer.cpp,
    initialize_buckets); with `gradient_as_bucket_view` the gradients lie in them.
    """
    attributes = instance_dict(module) or {}
    reducer = attributes.get("reducer")
    parameters = tuple(item for item in attributes.get("_module_parameters") or () if isinstance(item, torch.Tensor))
    if reducer is None or not parameters:
        return None
    gradients = [item.grad for item in parameters] if attributes.get("gradient_as_bucket_view") else []
    present = tuple(item for item in gradients if item is not None and item.layout is torch.strided)
    num_bytes = sum(item.numel() * item.element_size() for item in parameters if item.requires_grad)
    return Reducer(reducer, parameters, present, 0 if gradients else num_bytes)


def _describe_unseen(reducer: Reducer) -> str:
    """What the census cannot show of it, in a sentence."""
    return (
        f"DistributedDataParallel keeps {format_bytes(reducer.unseen_bytes)} of gradient buckets in C++, beside the "
        "gradients (with gradient_as_bucket_view=True these lie in the buckets)"
    )
