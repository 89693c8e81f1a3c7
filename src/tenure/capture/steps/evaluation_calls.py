"""Calls of a model between two steps of training that train nothing: at which of them to take a census.

What a long evaluation piles up is gone when the next step ends (transformers keeps all logits until then, see its
`eval_accumulation_steps`), so that no census between steps ever sees it; and after the last step there is none.
"""

from __future__ import annotations

from typing import Any

from tenure.capture.steps.census_steps import is_geometric
from tenure.capture.steps.returned_graphs import ReturnedGraphs
from tenure.model.recording import EVALUATION, EVALUATION_BACKWARD, EVALUATION_RETURNED, EVALUATION_WITH_GRAPH

FIRST_CALL, LAST_CALL = 4, 96
SECOND_CALL = 2
"""Looked at too of calls that autograd records, where some step went without any: a full frame or two at each epoch's
end are enough to have their activations saved for nothing."""
MOST_PHASES = 3
"""Evaluations that are looked into."""
MORE_THAN_USUAL = 2
"""So many times the calls in any step before make another evaluation worth a look: one like the last is none, nor
is a policy that acts in every step."""


class EvaluationCalls:
    """Counts; told of every root call that is watched, and of every step's end."""

    def __init__(self) -> None:
        self._calls = 0
        self._usual = 0
        self._some_step_had_none = False
        self._phases = 0
        self._in_phase = False
        self._returns = False
        self._graphs = ReturnedGraphs()

    def take_call(self, *, with_graph: bool = False) -> str | None:
        """Count one call that trains nothing; the moment of the census that is due before it, or None. `with_graph`
        says that autograd records it, though its module is in evaluation mode and was seen to train in the other."""
        self._calls += 1
        is_early = with_graph and self._some_step_had_none and self._calls == SECOND_CALL
        if not (is_early or (FIRST_CALL <= self._calls <= LAST_CALL and is_geometric(self._calls))):
            return None
        if self._calls <= MORE_THAN_USUAL * self._usual:
            return None
        if not self._in_phase:
            if self._phases == MOST_PHASES:
                return None
            self._in_phase = True
            self._phases += 1
            self._returns = with_graph
        return f"{EVALUATION_WITH_GRAPH if with_graph else EVALUATION}{self._calls}"

    def take_return(self, output: Any) -> str | None:
        """The call has given its output back: the moment of the census that is due, or None. One comes after the first
        call of an evaluation that a census was due before, where autograd recorded it and the output has a graph."""
        returns, self._returns = self._returns, False
        return f"{EVALUATION_RETURNED}{self._calls}" if returns and self._graphs.watch(output) else None

    def take_backward(self) -> dict[str, int]:
        """A step has ended: the counter that says that a backward pass went through such an output, if one did."""
        return {EVALUATION_BACKWARD: 1} if self._graphs.end() else {}

    @property
    def is_over(self) -> bool:
        """Whether no later call of this phase is looked at."""
        return self._calls >= LAST_CALL

    def end_step(self, *, watched: bool = True) -> None:
        """The next call is the first of another phase. `watched`: whether a call in this step would have been told."""
        self._some_step_had_none |= watched and not self._calls
        self._usual = max(self._usual, self._calls)
        self._calls = 0
        self._in_phase = False
