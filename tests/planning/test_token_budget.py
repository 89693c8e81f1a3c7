from __future__ import annotations

from collections.abc import Callable

import pytest

from planning.test_largest_size import run
from profiles import MIB
from tenure.errors import UsageError
from tenure.model.plan import LargestAtLength, TokenBudget
from tenure.model.stream import StepStream
from tenure.planning.predict import predict
from tenure.planning.size_model import Axis, sizes_of
from tenure.planning.token_budget import find_token_budget

BATCHES, LENGTHS = Axis("--batch", (1, 2, 3)), Axis("--length", (1, 2, 3))
CHECKED = (4, 4)
Size = Callable[[int, int], int]
"""MiB over batch and length."""


def at(batch: int, length: int, sizes: list[Size]) -> StepStream:
    return run(batch, [lambda _, size=size: size(batch, length) * MIB for size in sizes])  # type: ignore[misc]


def budget(sizes: list[Size], device_bytes: int, *, last: list[Size] | None = None) -> TokenBudget:
    streams = [at(*each, sizes) for each in sizes_of([BATCHES, LENGTHS])]
    checks = at(*CHECKED, last or sizes)
    return find_token_budget(BATCHES, LENGTHS, streams, CHECKED, checks, predict(streams[0]), device_bytes=device_bytes)


def test_each_length_has_its_largest_batch_until_none_fits() -> None:
    # 100 MiB of weights; 20 for a sequence, and with the square of its length: attention's scores
    found = budget([lambda b, s: 100, lambda b, s: 20 * b * s, lambda b, s: 20 * b * s * s], 1000 * MIB)

    def largest(length: int) -> int:
        return 900 // (20 * length + 20 * length * length)

    tokens = [min(largest(length) * length for length in range(1, up_to + 1)) for up_to in (1, 2, 3, 4)]
    assert found == TokenBudget(
        "--batch", "--length", (1, 2, 3), (1, 2, 3), (4, 4), 1700 * MIB, 1700 * MIB,
        (
            *(LargestAtLength(n, largest(n), largest(n), up_to) for n, up_to in zip((1, 2, 3, 4), tokens, strict=True)),
            LargestAtLength(8, 0, 0, 0),
        ),
    )  # fmt: skip


def test_a_size_that_checks_otherwise_gives_no_answer() -> None:
    weights: Size = lambda b, s: 100  # noqa: E731
    with pytest.raises(UsageError, match=r"no token budget: for --batch 4 --length 4 smaller ones predict"):
        budget([weights, lambda b, s: b * s], 1000 * MIB, last=[weights, lambda b, s: 2 * b * s])


@pytest.mark.parametrize(("size", "option"), [(lambda b, s: b, "--length"), (lambda b, s: s, "--batch")])
def test_an_option_that_changes_nothing_gives_no_answer(size: Size, option: str) -> None:
    with pytest.raises(UsageError, match=f"no token budget: {option} changes nothing of what the steps need"):
        budget([size], 1000 * MIB)
