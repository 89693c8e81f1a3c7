"""How large what goes into a model is: elements of all tensors, and the longest sequence."""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

MOST_LOOKED_AT = 256
"""Containers and values of one call's arguments; what lies behind them is not counted."""


def measure_inputs(inputs: Any) -> dict[str, int]:
    """`input_elements` and `input_longest`, the largest size along a second dimension; empty without plain tensors.

    Looks into lists, tuples and dicts alone, and at no tensor of a class of its own, which might see it.
    """
    waiting, elements, longest, seen = deque([inputs]), 0, 0, 0
    found = False
    while waiting and seen < MOST_LOOKED_AT:
        item = waiting.popleft()
        seen += 1
        kind = type(item)
        if kind is torch.Tensor and not item.is_nested:
            found = True
            elements += item.numel()
            longest = max(longest, item.shape[1] if item.dim() > 1 else 0)
        elif kind in (list, tuple):
            waiting.extend(item)
        elif kind is dict:
            waiting.extend(item.values())
    return {"input_elements": elements, "input_longest": longest} if found else {}


class InputSizes:
    """The largest input of a step's root calls, for the steps in which they are watched."""

    def __init__(self) -> None:
        self.largest: dict[str, int] = {}
        """Since the last step's end; empty where nothing was measured."""

    def take(self, inputs: Any) -> None:
        """Of one root call."""
        found = measure_inputs(inputs)
        if found.get("input_elements", 0) >= self.largest.get("input_elements", 0):
            self.largest = found or self.largest

    def end_step(self) -> dict[str, int]:
        """Hands over the largest."""
        largest, self.largest = self.largest, {}
        return largest
