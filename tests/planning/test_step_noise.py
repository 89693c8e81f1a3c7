from __future__ import annotations

import pytest

from profiles import MIB, profile
from streams import stream
from tenure.model.stream import StepStream
from tenure.planning.step_noise import noise_in_use, place_of_noise, twin_differences


def two_steps(first: int, second: int, *, names: tuple[str, ...] = ("aten.nonzero.default", "aten.relu.default") * 2,
              ) -> StepStream:  # fmt: skip
    """A weight from before, and what each step makes at its first operation: so many MiB, freed at its second."""
    made = profile((0, 8, -1, 3, -1), (1, first, 0, 1, 1), (2, second, 2, 3, 3), operations=4, second=2)
    return stream(made, operations=names)


def test_what_both_steps_made_at_one_place_is_compared() -> None:
    found = two_steps(5, 7)

    assert twin_differences(found).tolist() == [0, -2 * MIB, 2 * MIB]
    assert (noise_in_use(found), place_of_noise(found)) == (2 * MIB, "aten.nonzero.default in train.py:10")


@pytest.mark.parametrize(
    "found",
    [
        two_steps(5, 5),
        two_steps(5, 7, names=("aten.relu.default", "aten.relu.default", "aten.relu.default", "aten.mm.default")),
    ],
)
def test_equal_steps_and_steps_of_other_operations_have_no_noise(found: StepStream) -> None:
    assert (noise_in_use(found), place_of_noise(found)) == (0, "")
