from __future__ import annotations

from collections.abc import Sequence

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8, 13, 16, 22)
NET = "main.model -> t.Net#net -> ._parameters dict -> ['w'] parameter#w 1MiB parameter\n"


def chain(step: int, best: int) -> str:
    """A moving average after `step` steps, of which `best` was the lowest: both are names for it."""
    nodes = [f"AddBackward0#{number}" for number in range(step, 0, -1)]
    lines = NET + f"main(train.py:9).smoothed -> tensor#t{step} 4B -> .grad_fn {' -> .next '.join(nodes)}\n"
    if best:
        lines += (
            f"Stop.look(stop.py:5).stopper -> t.Stopper#s -> .best tensor#t{best} 4B -> .grad_fn {nodes[step - best]}\n"
        )
    return lines


def growing(bests: Sequence[int]) -> list[Suspect]:
    found = find_suspects([census(chain(s, b), step=s) for s, b in zip(STEPS, bests, strict=True)])
    return [suspect for suspect in found if suspect.symptom == "growth"]


@pytest.mark.parametrize(
    "bests",
    [
        (0, 0, 0, 0, 0, 0, 0, 0, 0),  # nothing but the average itself
        (1, 1, 2, 2, 5, 5, 12, 12, 21),  # now and then
        (0, 0, 2, 4, 4, 8, 12, 16, 20),  # at some censuses the newest
        (0, 0, 0, 0, 0, 7, 7, 14, 21),  # every seven steps
    ],
)
def test_a_chain_grows_whatever_other_names_lead_into_the_middle_of_it(bests: Sequence[int]) -> None:
    (suspect,) = growing(bests)

    assert (suspect.through_graph, suspect.series.graph_nodes[-1] >= 20) == (True, True)
    assert "smoothed" in {each.name for each in (suspect.holder, *suspect.chain_entries)}


@pytest.mark.parametrize("bests", [(1, 1, 1, 1, 1, 1, 13, 13, 22), (1, 1, 3, 3, 6, 6, 6, 16, 16)])
def test_of_two_attributes_of_one_object_the_one_that_is_always_the_newest_shows_the_growth(
    bests: Sequence[int],
) -> None:
    """Where the best average is the newest one, its name is as near as the other."""
    newest = ("main(train.py:9).smoothed ->", "Stop.look(stop.py:5).stopper -> t.Stopper#s -> .smoothed")
    drawn = [chain(step, best).replace(*newest) for step, best in zip(STEPS, bests, strict=True)]

    found = find_suspects([census(text, step=step) for text, step in zip(drawn, STEPS, strict=True)])
    (suspect,) = (suspect for suspect in found if suspect.symptom == "growth")

    assert (suspect.through_graph, suspect.series.graph_nodes[-1] >= 20) == (True, True)


def test_a_chain_that_is_begun_anew_does_not_grow() -> None:
    found = find_suspects([census(chain(1 + step % 2, 1), step=step) for step in STEPS])

    assert [suspect for suspect in found if suspect.symptom == "growth"] == []
