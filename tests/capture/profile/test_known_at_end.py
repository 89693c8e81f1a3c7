from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tenure.capture.profile.known_at_end import known_optimizer
from tenure.model.known import KnownOptimizer

MAKERS: list[Callable[[Any], torch.optim.Optimizer]] = [
    torch.optim.AdamW,
    lambda parameters: torch.optim.Adam(parameters, amsgrad=True),
    torch.optim.NAdam,
    torch.optim.RAdam,
    torch.optim.Adamax,
    torch.optim.Adadelta,
    torch.optim.Adagrad,
    torch.optim.SGD,
    lambda parameters: torch.optim.SGD(parameters, momentum=0.9),
    lambda parameters: torch.optim.RMSprop(parameters, momentum=0.9, centered=True),
]


@pytest.mark.parametrize("make", MAKERS)
def test_state_by_arithmetic_is_what_the_first_step_makes(make: Callable[[Any], torch.optim.Optimizer]) -> None:
    weight = torch.nn.Parameter(torch.ones(300, 7))
    optimizer = make([weight])
    told = known_optimizer(optimizer).state_bytes

    weight.grad = torch.ones_like(weight)
    optimizer.step()

    made = [value for entry in optimizer.state.values() for value in entry.values() if isinstance(value, torch.Tensor)]
    assert told == sum(each.numel() * each.element_size() for each in made if each.dim())


def test_what_a_class_of_its_own_will_keep_is_not_known() -> None:
    class Own(torch.optim.SGD):
        pass

    assert known_optimizer(Own([torch.nn.Parameter(torch.ones(3))])) == KnownOptimizer("Own", None, was_there=False)
