from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from tenure.capture.faking.fake_memory import FakeMemory, begin_fake_memory


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    made = begin_fake_memory()
    yield made
    made.end()


def results() -> torch.Tensor:
    return torch.ones(4, 3) * nn.Parameter(torch.ones(3))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (lambda x: x.sum().item(), 1.0),
        (lambda x: float(x.mean().detach()) / 2, 0.5),
        (lambda x: (x > 0).sum().item(), 1),
        (lambda x: bool(x.isnan().any()), False),
        (lambda x: bool(torch.isfinite(x).all()), True),
        (lambda x: bool(torch.isfinite(x.sum())), True),
        (lambda x: bool(x.sum() != x.sum()), False),
        (lambda x: (x.mean().detach() * 3 + 1).item(), 4.0),
        (lambda x: x.argmax().item(), 0),
        (lambda x: torch.equal(x, x * 2), True),
        (lambda x: x.argmax(-1).tolist(), [1, 1, 1, 1]),
        (lambda x: x.sum().tolist(), 1.0),
        (lambda x: f"{x.sum():.2f}", "1.00"),
    ],
)
def test_a_program_that_asks_for_values_is_told_what_lets_it_go_on(asked: Any, told: Any, memory: FakeMemory) -> None:
    assert asked(results()) == told


def test_arrays_of_stand_ins_take_no_memory(memory: FakeMemory) -> None:
    large = torch.empty(1 << 30, 1 << 10)

    found = [large.numpy(), np.asarray(large)]
    assert [(array.shape, array.strides, float(array[7, 3])) for array in found] == [(large.shape, (0, 0), 1.0)] * 2


def test_what_was_written_in_place_is_a_stand_in_again(memory: FakeMemory) -> None:
    total = results().sum().detach() * 5
    before = total.item()
    total.add_(results().sum().detach())

    assert (before, total.item()) == (5.0, 1.0)


def test_the_notes_name_the_lines_that_read_values(memory: FakeMemory) -> None:
    code = compile("loss.item()\n\nfloat(loss), float(loss)", "train.py", "exec")
    exec(code, {"loss": results().sum().detach()})

    (note,) = memory.values.notes()
    assert note.startswith("fake tensors have no values: ")
    assert note.endswith(", at train.py:1 in <module>, train.py:3 in <module>")


def test_nothing_is_noted_where_no_value_was_read(memory: FakeMemory) -> None:
    results().sum().backward()

    assert memory.values.notes() == ()
