"""Whether a backward pass comes to what a model gave back where none is expected: forces are gradients of an energy in
evaluation mode, and an attack or an attribution asks for those of its input."""

from __future__ import annotations

from typing import Any

import torch

from tenure.capture.tensors.nested import nested_tensors

MOST_OUTPUTS = 8
"""Tensors of one output whose nodes are watched."""
MOST_READ = 1000
_READ = iter(range(MOST_READ))
"""One for each call of this process whose nodes are read."""


class ReturnedGraphs:
    """A hook on the newest node of each output, there until the step ends; it holds nothing of the program's."""

    def __init__(self) -> None:
        self._handles: list[Any] = []
        self._passed: list[int] = []

    def watch(self, output: Any, number: int = 1) -> bool:
        """Whether there is a graph to watch, which is the case from now on; the call goes by its `number`. Costs
        microseconds."""
        nodes = _nodes(output)
        passed = self._passed

        def tenure_backward_hook(gradients: Any) -> None:
            passed.append(number)

        self._handles += [node.register_prehook(tenure_backward_hook) for node in nodes]
        return bool(nodes)

    def end(self) -> int:
        """Watch no longer; the lowest number of a call to which a backward pass came, 0 where none came."""
        first = min(self._passed, default=0)
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._passed.clear()
        return first


def has_graph(output: Any) -> bool:
    """Whether autograd recorded the call that gave this back. Reads the nodes of the first thousand calls alone: each
    has a Python object from then on, by which a census follows chains over steps further; a chain of tens of thousands
    of these (three thousand, on a stack of 512 KiB), which a recursion frees, ends the process."""
    if next(_READ, None) is not None:
        return bool(_nodes(output))
    try:
        with torch._C.DisableTorchFunction():  # a tensor of a class of its own sees nothing of us
            return any(each.requires_grad and not each.is_leaf for each in nested_tensors(output))
    except RuntimeError:  # of what `unbind` gave, whose base was changed since, nothing may be asked
        return False


def _nodes(output: Any) -> list[Any]:
    try:
        with torch._C.DisableTorchFunction():
            return [node for each in nested_tensors(output) if (node := each.grad_fn) is not None][:MOST_OUTPUTS]
    except RuntimeError:
        return []
