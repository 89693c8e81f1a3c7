"""The autograd graph, of which Python's collector sees nothing: nodes, next functions, raw saved slots.

Safe to run inside a training process because of three rules (torch 2.13, measured; see docs/decisions/census.md):

* Saved tensors are read raw (`_raw_saved_*`, its `.data` or `saved_variables`): never unpacked, recomputed, copied.
* A node that was walked keeps its Python wrapper, and torch frees a chain of wrapped nodes recursively. So no
  connected graph ever gets more wrapped nodes, over all censuses, than the smallest thread stack can free.
* Every SavedTensor is a reference into its node and is dropped before the node is.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from types import MethodDescriptorType
from typing import Any

import torch

from tenure.capture.guarding.classes import bases_of, found_in, module_of, own_of, qualname_of
from tenure.capture.heap import frames

STACK_BYTES_PER_NODE = 800
"""Three times what freeing one wrapped node was seen to take of the C stack (245): a whole graph and one that goes
on out of sight may lie on the same path, each within the budget, and the thread has frames of its own."""
MAX_NODES_PER_GRAPH = 10_000

_SAVED_PREFIX = "_raw_saved_"
_SPREAD = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio: numbers that follow each other end far from each other (Knuth, TAOCP 6.4)."""
_LARGEST_IDENTITY = 2**62 - 1


def node_budget() -> int:
    """Nodes of one connected graph that may carry a wrapper, over all censuses of this process."""
    return max(0, min(frames.smallest_stack_bytes() // STACK_BYTES_PER_NODE, MAX_NODES_PER_GRAPH))


def is_autograd_type(cls: type) -> bool:
    """Whether instances of `cls` are autograd nodes, built-in or custom (`torch.autograd.Function`)."""
    return any("next_functions" in own_of(base) for base in bases_of(cls))


def identity_of(node: Any) -> int:
    """What tells an autograd node from all others, also from one that is made where it was when it is gone.

    Before torch 2.13 the wrapper of one of torch's own nodes goes with its last holder, and the next who asks gets
    another: the address of the node itself is read, which is a wrapper's first word (`THPCppFunction.cdata`). The next
    step's nodes mostly come to lie at the same addresses, so the number that torch gives each node of a thread as it
    is made (`_sequence_nr`) is mixed in; leaves (AccumulateGrad) have none.
    """
    cls = type(node)
    number_of = found_in(cls, "_sequence_nr")
    if type(number_of) is not MethodDescriptorType:  # a class of the program's with `next_functions`
        return id(node)
    address = id(node)
    if not issubclass(cls, torch._C._FunctionBase):
        address = ctypes.c_size_t.from_address(address + object.__basicsize__).value
    number: int = number_of(node)
    return (address ^ number * _SPREAD) & _LARGEST_IDENTITY


@dataclass(frozen=True)
class SavedSlot:
    """One saved slot of a node: a tensor to read the storage of, or what a saved-tensor hook packed, and that hook."""

    label: str
    data: Any
    unpack_hook: object | None


@dataclass
class VisitedNode:
    """A walked node. `next` holds node numbers in `GraphWalk.nodes` by edge index; `leaf` is AccumulateGrad's."""

    node: Any
    next: list[tuple[int, str]] = field(default_factory=list)
    leaf: object | None = None
    continues: bool = False


def is_leaf(tensor: Any) -> bool:
    """`tensor.is_leaf`, and False for what has a graph but cannot say so.

    Of several views that one call made (`split`, FSDP's parameters) torch answers for none once their base was written
    into in place: it raises RuntimeError for `is_leaf` and `grad_fn`.
    """
    try:
        return bool(tensor.is_leaf)
    except RuntimeError:
        return False


def retains_gradient(tensor: Any) -> bool:
    """Whether a tensor that has a graph keeps its own gradient, after `retain_grad()`; False where it cannot say so."""
    try:
        return bool(tensor.retains_grad)
    except RuntimeError:
        return False


def _grad_fn_of(tensor: Any) -> Any:
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


class GraphWalk:
    """Breadth-first walks from several tensors' `grad_fn`, within the budget.

    `existing` are the ids of the nodes that carried a wrapper before this census: earlier censuses' or the
    program's own. Those that no complete walk has accounted for are charged to every graph.
    Leaves (AccumulateGrad) are shared by all graphs of a model and lead nowhere: they neither connect nor count.
    Going on from a node that existed is nearly free (what follows it was mostly wrapped with it), and is how the
    graphs walked before are told apart: start with the roots that exist (`walk`).
    Graphs that go on out of sight may be one and the same there: they share one budget, also with full ones, into
    which there may be more ways.
    """

    def __init__(self, existing: Iterable[int], *, budget: int) -> None:
        self.nodes: list[VisitedNode] = []
        self.numbers: dict[int, int] = {}
        self.truncated = False
        self._existing = frozenset(existing)
        self._unclaimed = set(self._existing)
        self._budget = budget
        self._parent: list[int] = []
        self._size: list[int] = []
        self._open: set[int] = set()
        self._open_nodes = 0

    def walk(self, roots: Iterable[Any]) -> None:
        """Walk all that the nodes `roots` lead to, as far as the budget allows; fills `nodes` and `numbers`."""
        for root in sorted(roots, key=lambda node: id(node) not in self._existing):
            if id(root) not in self.numbers:
                self._walk_from(root)

    def walk_tensors(self, tensors: Iterable[Any]) -> list[Any]:
        """The same from each tensor's `grad_fn`; None for those that the budget does not even allow to ask for it, and
        for those that do not answer."""
        found = []
        for tensor in tensors:
            may_ask = len(self._unclaimed) + self._count_open() < self._budget
            node = _grad_fn_of(tensor) if may_ask else None
            self.truncated |= not may_ask
            if node is not None and id(node) not in self.numbers:
                self._walk_from(node)
            found.append(node)
        return found

    def _walk_from(self, node: Any) -> None:
        self._open_nodes = self._count_open()
        start = self._visit(node)
        queue, reached, complete = deque([start]), {id(node)}, True
        while queue:
            number = queue.popleft()
            visited = self.nodes[number]
            if visited.leaf is not None:
                continue
            if not self._may_go_on(number):
                visited.continues = True
                complete = False
                continue
            for index, (follower, _) in enumerate(visited.node.next_functions):
                if follower is None:
                    continue
                known = self.numbers.get(id(follower))
                if known is None:
                    known = self._visit(follower)
                    queue.append(known)
                    reached.add(id(follower))
                self._join(number, known)
                visited.next.append((known, str(index)))
        if complete:
            self._unclaimed -= reached
        else:
            self.truncated = True
        if not complete or self._size[self._graph_of(start)] >= self._budget:
            self._open.add(start)

    def _count_open(self) -> int:
        self._open = {self._graph_of(number) for number in self._open}
        return sum(self._size[number] for number in self._open)

    def _may_go_on(self, number: int) -> bool:
        size = self._size[self._graph_of(number)]
        if id(self.nodes[number].node) in self._existing:
            return size < self._budget + self._budget // 4
        return size + self._open_nodes + len(self._unclaimed) < self._budget

    def _visit(self, node: Any) -> int:
        number = len(self.nodes)
        self.numbers[id(node)] = number
        self.nodes.append(VisitedNode(node, leaf=getattr(node, "variable", None)))
        self._parent.append(number)
        self._size.append(1)
        return number

    def _graph_of(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = number = self._parent[self._parent[number]]
        return number

    def _join(self, first: int, second: int) -> None:
        if self.nodes[second].leaf is not None:
            return
        one, other = self._graph_of(first), self._graph_of(second)
        if one != other:
            self._parent[other] = one
            self._size[one] += self._size[other]


_SLOT_NAMES: dict[str, tuple[str, ...]] = {}


Contents = tuple[object | None, object | None]
"""A saved tensor and None; what a hook packed, and its unpack hook; (None, None) once freed."""
ReadSlot = Callable[[Any], Contents]

UNREAD = object()
"""Stands for the contents of a slot that could not be read, and for its hook."""


def saved_slots(node: Any, read: ReadSlot) -> list[SavedSlot]:
    """What `node` saved for backward, never unpacked; `read` comes from `how_to_read()`."""
    cls = type(node)
    is_torchs = module_of(cls) == "builtins"
    names = _SLOT_NAMES.get(qualname_of(cls)) if is_torchs else None
    if names is None:
        known = {name for base in bases_of(cls) for name in own_of(base)}
        names = tuple(sorted(name for name in known if name.startswith(_SAVED_PREFIX)))
        if is_torchs:
            _SLOT_NAMES[qualname_of(cls)] = names
    slots: list[SavedSlot] = []
    for name in names:
        label = name.removeprefix(_SAVED_PREFIX)
        try:
            raw = getattr(node, name)
        except (RuntimeError, AttributeError):
            continue
        if isinstance(raw, (tuple, list)):
            slots.extend(SavedSlot(f"{label}[{index}]", *read(item)) for index, item in enumerate(raw))
        elif raw is not None:
            slots.append(SavedSlot(label, *read(raw)))
    return slots


def prepare() -> None:
    """Learns how this torch saves tensors, once per process: under a millisecond, with other threads let in."""
    if not _has_data():
        from tenure.capture.heap import saved_variables

        saved_variables.reader()


def how_to_read() -> tuple[ReadSlot, str]:
    """How slots are read until other threads run again, and why not if they are not ("" if they are)."""
    if _has_data():
        return _read_data, ""
    from tenure.capture.heap import saved_variables

    reader = saved_variables.reader()
    if reader is None:
        return _read_nothing, "this torch does not show saved tensors without unpacking them: not read"
    if saved_variables.is_backward_running():
        return _read_nothing, "a backward pass was running, during which this torch's saved tensors are not read"
    return lambda raw: reader.read(raw) or (UNREAD, UNREAD), ""


@lru_cache(maxsize=1)
def _has_data() -> bool:
    saved_tensor = getattr(torch._C._autograd, "SavedTensor", None)
    return hasattr(saved_tensor, "data") and hasattr(saved_tensor, "unpack_hook")


def _read_data(raw: Any) -> Contents:
    try:
        return raw.data, raw.unpack_hook
    except (RuntimeError, AttributeError):
        return None, None


def _read_nothing(_: Any) -> Contents:
    return UNREAD, UNREAD
