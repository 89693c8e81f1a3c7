"""What variants of zoo programs call: healthy work of other kinds beside a leak, and ways to hand values on.

Copied beside each variant that `zoo_variants.py` writes; none of it keeps anything that grows.
"""

from __future__ import annotations

import functools
import gc
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace as SimpleNamespace
from typing import Any

import torch
from torch import nn

_turns: dict[str, int] = {}
_kept: dict[str, Any] = {}
_entries: OrderedDict[int, torch.Tensor] = OrderedDict()


def turn(name: str, every: int) -> bool:
    """Whether this is one of every so many calls by that name."""
    _turns[name] = _turns.get(name, 0) + 1
    return _turns[name] % every == 0


def handed(value: Any) -> Any:
    """The value, through a call."""
    return value


def handed_on(items: Iterable[Any]) -> Iterator[Any]:
    """The items, through a generator that has no name for any of them."""
    yield from items


def noted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that does nothing."""

    @functools.wraps(function)
    def noting(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return noting


@contextmanager
def span(name: str) -> Iterator[None]:
    """A context that does nothing."""
    _turns[name] = _turns.get(name, 0) + 1
    yield


@functools.cache
def fields(*names: str) -> type:
    """A named tuple's type with these fields."""
    return namedtuple("Results", names)


def _net(width: int) -> nn.Module:
    with torch.random.fork_rng():
        return nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))


def _fit_once(net: nn.Module, optimizer: torch.optim.Optimizer, width: int) -> None:
    loss = net(torch.ones(8, width)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def validate() -> None:
    """Every fourth time: another, small model is called twice without a graph."""
    net = _kept.setdefault("validated", None) or _kept.setdefault("net", _net(64))
    if turn("validate", 4):
        with torch.no_grad():
            for _ in range(2):
                net(torch.ones(8, 64)).mean().item()


def look() -> None:
    """Another, small model is called without a graph, each time."""
    if "looking" not in _kept:
        _kept["looking"] = _net(64)
    with torch.no_grad():
        _kept["looking"](torch.ones(8, 64)).mean().item()


def train() -> None:
    """Another, small model makes a step with its own optimizer."""
    if "trained" not in _kept:
        net = _net(64)
        _kept["trained"] = (net, torch.optim.SGD(net.parameters(), lr=0.01))
    _fit_once(*_kept["trained"], 64)


def warm_up(steps: int = 6) -> None:
    """Another, small model is trained and let go."""
    net = _net(64)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        _fit_once(net, optimizer, 64)


def remember() -> None:
    """A cache of at most eight tensors, that is read."""
    number = _turns["remember"] = _turns.get("remember", 0) + 1
    _entries[number % 12] = torch.full((16_384,), float(number))
    while len(_entries) > 8:
        _entries.popitem(last=False)
    next(iter(_entries.values())).sum().item()


def stock(size: int) -> None:
    """A data set in memory, of so many bytes."""
    _kept["stock"] = torch.zeros(max(1, size // 4096), 1024)


def draw() -> None:
    """Rows of the data set are read."""
    rows = _kept["stock"]
    number = _turns["draw"] = _turns.get("draw", 0) + 1
    rows[number % len(rows)].sum().item()


def collect() -> None:
    """Every tenth time the collector runs."""
    if turn("collect", 10):
        gc.collect()


def next_length() -> None:
    """The batches that are made from now on have another length."""
    _turns["length"] = _turns.get("length", 0) + 1


def length(size: int) -> int:
    """A batch's length now: the full one, or up to a half less."""
    return max(1, size - size * (_turns.get("length", 0) * 5 % 7) // 14)
