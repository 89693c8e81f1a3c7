"""`tenure.compute_metric()` and `tenure.reset_metric()`: a metric's value without a copy of it, and a reset that is
looked at.

Loggers copy a metric in each step so that computing does not disturb it, and a metric that wraps its own methods is
then a ring that waits for the collector (TN402, TN301). What computing may disturb are the metric's attributes:
those are put back here, and nothing large is copied.
"""

from __future__ import annotations

import functools
import gc
import operator
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from tenure.capture.tensors.nested import instance_dict
from tenure.errors import UsageError
from tenure.model.units import format_bytes
from tenure.release.cut_graph import carries_graph, without_graph
from tenure.release.device_bytes import compare, compare_storages, read_device_bytes
from tenure.release.held import who_holds_memory
from tenure.release.outcome import ByDevice, DeviceBytes, Outcome, Survivor
from tenure.release.storage_refs import StorageRef, StorageRefs, addresses_of
from tenure.release.verify import Verification

_MOST_OBJECTS = 10_000


@dataclass(frozen=True)
class MetricReading(ByDevice):
    """A metric's value, without graphs and without a share in the metric's own memory.

    `state_bytes` is what the metric keeps; `devices` has it before and after, and what computing had bound anew to the
    metric as expected back. `changed` names state that computing wrote into in place, which could not be put back: such
    a metric is disturbed by computing.
    """

    value: Any
    state_bytes: int
    changed: tuple[str, ...] = ()
    devices: tuple[DeviceBytes, ...] = ()
    _let_go: tuple[StorageRef, ...] = field(default=(), compare=False, repr=False)

    @functools.cached_property
    def survivors(self) -> tuple[Survivor, ...]:
        """Who holds what computing had bound to the metric and the metric has let go of again; () where all is gone.

        Costs a census, one to two collections, where something is alive, and nothing elsewhere.
        """
        return who_holds_memory(self._let_go)


def compute_metric(metric: Any) -> MetricReading:
    """`metric.compute()` without a deep copy: afterwards the metric's attributes are what they were before.

    Works for any object with `compute`, torchmetrics' among them; attributes that computing bound anew (a cached
    result, a counter) and lists that it changed are put back, also where it raises. Costs some microseconds per
    attribute and no memory but the value's. What other ranks have is up to the metric's own `compute`.

    Raises UsageError where there is nothing to compute.
    """
    if not callable(getattr(metric, "compute", None)):
        raise UsageError(f"compute_metric needs an object with compute(); a {type(metric).__name__} was given")
    attributes = [(each, _shallow(each)) for _, each in _attributes_of(metric)]
    before = _refs_to_state(metric)
    versions = _versions_of(metric)
    try:
        value = metric.compute()
        made = _refs_to_state(metric)
    finally:
        for each, saved in attributes:
            _put_back(each, saved)
    value = _own_value(value, set(before.by_address))
    made.leave_out([*before.by_address, *_addresses_in(value)])
    return MetricReading(
        value=value,
        state_bytes=sum(each.bytes for each in before),
        changed=tuple(name for name, version in _versions_of(metric).items() if versions.get(name) != version),
        devices=compare_storages(before, _refs_to_state(metric), made),
        _let_go=tuple(made),
    )


def reset_metric(metric: Any) -> Outcome:
    """`metric.reset()`, and what came of it: bytes before and after, and who holds state that was let go.

    Expected back is every storage of the state that the metric does not have any more after its reset. `kept` names
    what the metric still has: a list that is not empty after a reset goes on growing. Collects garbage once, and
    takes a census only where something survived. Raises UsageError where there is nothing to reset.
    """
    if not callable(getattr(metric, "reset", None)):
        raise UsageError(f"reset_metric needs an object with reset(); a {type(metric).__name__} was given")
    started = time.perf_counter()
    before = read_device_bytes()
    state = _refs_to_state(metric)
    num_bytes = sum(each.bytes for each in state)
    metric.reset()
    gc.collect()
    kept = _refs_to_state(metric)
    state.leave_out(list(kept.by_address))
    after = read_device_bytes()
    survivors = Verification().survivors(state) if any(each.is_alive for each in state) else ()
    return Outcome(
        what=f"reset {type(metric).__name__}",
        devices=compare(before, after, state),
        survivors=survivors,
        did=(f"state {format_bytes(num_bytes)} -> {format_bytes(sum(each.bytes for each in kept))}",),
        kept=tuple(_not_emptied(metric)),
        seconds=time.perf_counter() - started,
    )


def _refs_to_state(metric: Any) -> StorageRefs:
    """In a function of its own: a loop's variable would be one more owner."""
    refs = StorageRefs()
    for name, tensor in _state_of(metric):
        refs.add(tensor, f"`{name}` of {type(metric).__name__}")
    return refs


def _attributes_of(metric: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The attributes of a metric and of the metrics and modules inside it, each with the name that leads there."""
    waiting: list[tuple[str, Any]] = [("", metric)]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_OBJECTS:
        prefix, item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        attributes = instance_dict(item)
        if attributes is None or isinstance(item, type | torch.Tensor):
            continue
        yield prefix, attributes
        for name, value in list(attributes.items()):
            for label, inner in _members(value):
                if hasattr(inner, "compute") or isinstance(inner, torch.nn.Module):
                    waiting.append((f"{prefix}{name}{label}.", inner))


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    yield "", value
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", each) for key, each in dict.items(value))
    elif isinstance(value, list | tuple | deque):
        yield from ((f"[{number}]", each) for number, each in enumerate(value))


def _state_of(metric: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """All tensors in attributes, lists and dicts of a metric, by name."""
    for prefix, attributes in _attributes_of(metric):
        for name, value in list(attributes.items()):
            for label, inner in _members(value):
                if isinstance(inner, torch.Tensor):
                    yield f"{prefix}{name}{label}", inner


def _versions_of(metric: Any) -> dict[str, int]:
    """How often each tensor of the state was written to in place, by name; those made in inference mode do not tell."""
    return {name: tensor._version for name, tensor in _state_of(metric) if not tensor.is_inference()}


def _addresses_in(value: Any) -> set[int]:
    """Of all tensors in a value's dicts, lists and tuples."""
    if isinstance(value, torch.Tensor):
        return addresses_of(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return set().union(*map(_addresses_in, inner))


def _shallow(attributes: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Each attribute with the contents of its list or dict: references, no copies of tensors."""
    return {name: (value, _contents(value)) for name, value in attributes.items()}


def _contents(value: Any) -> Any:
    if type(value) in (list, deque):
        return list(value)
    return dict(value) if type(value) is dict else None


def _put_back(attributes: dict[str, Any], saved: dict[str, tuple[Any, Any]]) -> None:
    for name in attributes.keys() - saved.keys():
        del attributes[name]
    for name, (value, contents) in saved.items():
        if attributes.get(name) is not value:
            attributes[name] = value
        if contents is not None and not _same_items(value, contents):
            value.clear()
            (value.update if isinstance(value, dict) else value.extend)(contents)


def _same_items(value: Any, contents: Any) -> bool:
    if isinstance(value, dict):
        return value.keys() == contents.keys() and all(value[key] is contents[key] for key in value)
    return len(value) == len(contents) and all(map(operator.is_, value, contents))


def _own_value(value: Any, own: set[int]) -> Any:
    """The value detached, and copied where it shares memory with the metric: the next update would change it."""
    if isinstance(value, torch.Tensor):
        plain = without_graph(value) if carries_graph(value) else value
        return plain.clone() if addresses_of(plain) & own else plain
    if isinstance(value, dict):
        return {key: _own_value(each, own) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_own_value(each, own) for each in value)
    return value


def _not_emptied(metric: Any) -> Iterator[str]:
    for prefix, attributes in _attributes_of(metric):
        for name, value in attributes.items():
            if isinstance(value, list | deque) and any(isinstance(each, torch.Tensor) for each in value):
                yield f"`{prefix}{name}` still has {len(value)} tensors"
