"""A judge that is called with autograd on: the second step's operations are 10 to 19, its peak is at 15."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from heaps import census
from profiles import MIB, profile
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.unused_graphs import find_unused_graphs
from tenure.model.heap import Census
from tenure.model.profile import Phase, StepProfile
from tenure.model.suspect import RUNNING
from tenure.rules.evaluation_with_graph import check_suspect

FRAMES = """\
Judge.forward(judge.py:9).self -> t.Judge#judge
Reward.score(reward.py:20).self -> t.Reward -> .judge t.Judge#judge
"""
LAYERS = ("Addmm", "Relu", "Addmm", "Tanh")


def seen(frames: str = FRAMES, freed: str = "", layers: Sequence[str] = LAYERS) -> Census:
    """A graph of four nodes that each have saved 2 MiB, which only a library's function leads to."""
    lines = [frames]
    at = "island -> "
    for number, layer in enumerate(layers):
        at += f"{layer}Backward0#n{number}{freed}"
        lines.append(f"{at} -> .saved tensor 2MiB activation")
        at = f"island -> {layer}Backward0#n{number} -> .next "
    made = census("\n".join(lines), step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = 100 + np.arange(len(layers))
    return replace(made, nodes=replace(made.nodes, address=address))


def steps(last_use: int = 14, birth: int = 10, phase: Phase = Phase.FORWARD) -> StepProfile:
    """Each storage is made by an operation from 10 on, used by the next and gone at 17, the last of them as given; one
    of 1 MiB is there throughout."""
    rows = [(100 + at, 2, 10 + at, 11 + at, 17) for at in range(4)]
    rows[3] = (103, 2, 13, last_use, 17)
    rows[0] = (100, 2, birth, 11, 17)
    first = [(200 + at, 2, at, 1 + at, 7) for at in range(4)]
    phases = [int(phase) if at == birth else int(Phase.FORWARD) for at in range(20)]
    return profile(*rows, *first, (300, 1, 0, 18, 19), operations=20, second=10, census_op=15, phases=phases)


def test_what_a_graph_saved_that_no_backward_pass_goes_through_is_told_at_the_call_that_made_it() -> None:
    (found,) = find_unused_graphs(Replay(steps(), seen()))

    assert (found.symptom, found.retained_bytes, found.peak_drop_bytes) == ("peak", 8 * MIB, 4 * MIB)
    assert found.facts[RUNNING] == (("reward.py", 20, "Reward.score"),)
    told = check_suspect(found)
    assert told is not None
    assert told.rule == "TN108"
    assert told.message.startswith("The model is called with autograd on, and its output holds")


@pytest.mark.parametrize(
    ("watched", "at_peak"),
    [
        (steps(last_use=18), seen()),
        (steps(birth=9), seen()),
        (steps(phase=Phase.BACKWARD), seen()),
        (steps(), seen(freed=" freed")),
        (steps(), seen(layers=LAYERS[:3])),
        (steps(), seen(frames="main.net -> t.Net")),
        (steps(), seen(frames=FRAMES.splitlines()[0])),
    ],
    ids=["a backward pass uses it", "made before", "made by a backward pass", "a backward pass has gone through it",
         "a few operations", "no call of the program", "no call outside of modules"],
)  # fmt: skip
def test_other_graphs_are_not_told(watched: StepProfile, at_peak: Census) -> None:
    assert find_unused_graphs(Replay(watched, at_peak)) == ()


def test_what_is_told_by_names_that_lead_to_it_is_not_told_again() -> None:
    replay = Replay(steps(), seen())
    (found,) = find_unused_graphs(replay)

    assert find_unused_graphs(replay, found.storages) == ()
