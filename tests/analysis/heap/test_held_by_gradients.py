from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

STEPS = (1, 2, 3, 4, 6, 8, 13, 16)
SOLVER = "Solver.fit(solver.py:9).self -> __main__.Solver#s -> .velocity tensor#v 9KiB"


def chain(step: int) -> str:
    """A graph that reaches back to the first step."""
    lines = [f"island -> Add#g{n} -> .saved tensor#s{n} 1MiB activation" for n in range(step)]
    return "\n".join([*lines, *(f"island -> Add#g{n} -> .next Add#g{n - 1}" for n in range(1, step))])


@pytest.mark.parametrize(
    ("gradient", "holder"),
    [
        ("-> .grad tensor#d 9KiB gradient -> .grad_fn Add#g{last}", ("gradient", "backward", "self.velocity.grad")),
        ("", ("local", "field", "field")),
    ],
    ids=["held by the gradient", "held by the variable alone"],
)
def test_a_graph_that_a_gradient_holds_by_itself_is_not_blamed_on_what_was_computed_from_it(
    gradient: str, holder: tuple[str, str, str]
) -> None:
    def after(step: int) -> str:
        trial = f"tensor#t{step} 9KiB -> .grad_fn Sub#x{step} -> .next Add#g{step - 1}"
        held = [f"Solver.fit(solver.py:9).trial -> {trial}", f"Solver.objective(solver.py:5).field -> {trial}"]
        return "\n".join([chain(step), f"{SOLVER} {gradient.format(last=step - 1)}", *held])

    found = find_suspects([census(after(step), step=step, moment="forward-entry") for step in STEPS])
    growing = next(each for each in found if each.symptom == "growth")

    assert (growing.holder.kind, growing.holder.name, growing.holder.expression) == holder
