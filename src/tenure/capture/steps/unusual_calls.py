"""Calls of a model in training mode that autograd records, more of them than any step before had: an evaluation that
asks neither for evaluation mode nor for `no_grad`, unless a backward pass comes to them."""

from __future__ import annotations

from typing import Any

from tenure.capture.steps.returned_graphs import ReturnedGraphs, has_graph
from tenure.model.recording import EVALUATION_UNUSUAL, UNUSUAL_BACKWARD

FEWEST_STEPS = 2
"""Steps that were watched, before it is known how many calls are usual."""
LOOKED_AT = (1, 2, 4, 8)
"""Of the calls beyond the usual ones."""
MOST_PHASES = 4
"""Series of such calls that are looked into: micro-batches that become more are one, and so is a penalty that comes
every so many steps."""


class UnusualCalls:
    """Counts; told of every root call in training mode that is watched, and of every step's end."""

    def __init__(self) -> None:
        self._calls = 0
        self._usual = 0
        self._steps = 0
        self._phases = 0
        self._graphs = ReturnedGraphs()

    def take_return(self, output: Any) -> str | None:
        """Count one call, where it gives a graph back; the moment of the census that is due now, or None."""
        if not has_graph(output):
            return None
        self._calls += 1
        beyond = self._calls - self._usual
        if self._steps < FEWEST_STEPS or beyond not in LOOKED_AT or self._phases >= MOST_PHASES:
            return None
        self._graphs.watch(output, self._calls)
        return f"{EVALUATION_UNUSUAL}{self._calls}"

    def take_backward(self) -> dict[str, int]:
        """A step has ended: the counter that tells the first of these calls that a backward pass went through."""
        first = self._graphs.end()
        return {UNUSUAL_BACKWARD: first} if first else {}

    def end_step(self, *, watched: bool = True) -> None:
        """The next call is the first of another step. `watched`: whether a call in this step would have been told."""
        self._phases += self._steps >= FEWEST_STEPS and self._calls > self._usual
        self._steps += watched and self._calls > 0
        self._usual = max(self._usual, self._calls)
        self._calls = 0
