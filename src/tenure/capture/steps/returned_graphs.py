"""Whether a backward pass comes to what a model gave back in evaluation mode: forces are gradients of an energy, and an
attack or an attribution asks for those of its input."""

from __future__ import annotations

from typing import Any

import torch

from tenure.capture.tensors.nested import nested_tensors

MOST_OUTPUTS = 8
"""Tensors of one output whose nodes are watched."""


class ReturnedGraphs:
    """A hook on the newest node of each output, there until the step ends; it holds nothing of the program's."""

    def __init__(self) -> None:
        self._handles: list[Any] = []
        self._passed: list[bool] = []

    def watch(self, output: Any) -> bool:
        """Whether there is a graph to watch, which is the case from now on. Costs microseconds."""
        with torch._C.DisableTorchFunction():  # a tensor of a class of its own sees nothing of us
            nodes = [node for each in nested_tensors(output) if (node := each.grad_fn) is not None][:MOST_OUTPUTS]
        passed = self._passed

        def tenure_backward_hook(gradients: Any) -> None:
            passed.append(True)

        self._handles += [node.register_prehook(tenure_backward_hook) for node in nodes]
        return bool(nodes)

    def end(self) -> bool:
        """Watch no longer; whether a backward pass came."""
        came = bool(self._passed)
        for handle in self._handles:
            handle.remove()
        self._handles.clear()
        self._passed.clear()
        return came
