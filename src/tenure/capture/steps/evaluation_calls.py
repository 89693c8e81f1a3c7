"""Calls of a model between two steps of training that train nothing: at which of them to take a census.

What a long evaluation piles up is gone when the next step ends (transformers keeps all logits until then, see its
`eval_accumulation_steps`), so that no census between steps ever sees it; and after the last step there is none.
"""

from __future__ import annotations

from tenure.capture.steps.census_steps import is_geometric
from tenure.model.recording import EVALUATION, EVALUATION_WITH_GRAPH

FIRST_CALL, LAST_CALL = 4, 96
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
        self._phases = 0
        self._in_phase = False

    def take_call(self, *, with_graph: bool = False) -> str | None:
        """Count one call that trains nothing; the moment of the census that is due before it, or None. `with_graph`
        says that autograd records it, though its module is in evaluation mode and was seen to train in the other."""
        self._calls += 1
        if not _is_looked_at(self._calls) or self._calls <= MORE_THAN_USUAL * self._usual:
            return None
        if not self._in_phase:
            if self._phases == MOST_PHASES:
                return None
            self._in_phase = True
            self._phases += 1
        return f"{EVALUATION_WITH_GRAPH if with_graph else EVALUATION}{self._calls}"

    @property
    def is_over(self) -> bool:
        """Whether no later call of this phase is looked at."""
        return self._calls >= LAST_CALL

    def end_step(self) -> None:
        """The next call is the first of another phase."""
        self._usual = max(self._usual, self._calls)
        self._calls = 0
        self._in_phase = False


def _is_looked_at(call: int) -> bool:
    """Calls 4, 6, 8, 12, 16, 24, ..., 96."""
    return FIRST_CALL <= call <= LAST_CALL and is_geometric(call)
