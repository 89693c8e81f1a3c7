from __future__ import annotations

from functools import wraps
from typing import Any

import torch

from tenure.capture.compiled.compiled_steps import CompiledSteps, stepping_optimizer


def sgd() -> torch.optim.SGD:
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    return torch.optim.SGD([weight], lr=0.1)


class Trainer:
    def __init__(self) -> None:
        self.optimizers = [sgd(), sgd()]

    def train(self) -> None:
        for optimizer in self.optimizers:
            optimizer.step()


def test_a_bound_step_names_its_optimizer_however_wrapped() -> None:
    plain, scheduled = sgd(), sgd()
    scheduler = torch.optim.lr_scheduler.StepLR(scheduled, 1)

    @wraps(plain.step)
    def wrapped() -> None:
        plain.step()

    functions: list[Any] = [plain.step, wrapped, scheduled.step, plain.zero_grad, scheduler.step, len]
    found = [stepping_optimizer(function) for function in functions]
    assert list(map(id, found)) == list(map(id, (plain, plain, scheduled, None, None, None)))


def test_optimizers_that_a_function_reaches_by_name_are_asked_whether_they_stepped() -> None:
    trainer, captured, idle, given = Trainer(), sgd(), sgd(), sgd()

    def train(optimizer: Any) -> None:
        captured.step()
        optimizer.step()
        assert idle is not None

    by_argument, by_object = CompiledSteps(train, (given,), {}), CompiledSteps(trainer.train, (), {})
    train(given)
    trainer.train()

    assert set(map(id, by_argument.unseen())) == {id(captured), id(given)}
    assert list(map(id, by_object.unseen())) == list(map(id, trainer.optimizers))


def test_a_step_that_its_hook_counted_is_not_counted_twice() -> None:
    optimizer = sgd()
    steps = CompiledSteps(optimizer.step, (), {})
    steps.count(optimizer)

    assert list(steps.unseen()) == []


def test_a_function_that_steps_nothing_and_one_without_code_ask_nobody() -> None:
    optimizer = sgd()

    def forward() -> None:
        optimizer.zero_grad()

    assert [list(CompiledSteps(function, (optimizer,), None).unseen()) for function in (forward, None, len)] == [[]] * 3
