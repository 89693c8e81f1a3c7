from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from tenure.capture.steps.module_calls import ModuleCalls


@pytest.fixture
def seen() -> list[Any]:
    return []


@pytest.fixture
def calls(seen: list[Any]) -> Iterator[ModuleCalls]:
    made = ModuleCalls(
        lambda function, *given: function(*given),
        lambda: False,
        lambda: None,
        lambda inputs, module: seen.append(module),
        lambda module, output: None,
    )
    made.install()
    yield made
    made.remove()


def test_a_root_call_is_told_and_those_inside_of_it_are_not(calls: ModuleCalls, seen: list[Any]) -> None:
    whole = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

    whole(torch.ones(2, 4))
    whole(torch.ones(2, 4))

    assert [module is whole for module in seen] == [True, True]


def test_a_module_with_buffers_alone_is_a_root_until_one_with_parameters_is_called(
    calls: ModuleCalls, seen: list[Any]
) -> None:
    operator, loss, model = nn.BatchNorm1d(4, affine=False), nn.MSELoss(), nn.Linear(4, 4)
    for _ in range(2):
        operator(torch.ones(2, 4))
        loss(torch.ones(2), torch.ones(2))
    for _ in range(2):
        model(operator(torch.ones(2, 4)))

    assert [module is operator for module in seen] == [True, True, True, False, False]
    assert [module is model for module in seen] == [False, False, False, True, True]


def test_a_new_model_where_a_layer_that_is_gone_had_its_address_is_a_root_all_the_same(
    calls: ModuleCalls, seen: list[Any]
) -> None:
    former = nn.Sequential(nn.Linear(4, 4))
    former(torch.ones(2, 4))
    seen.clear()
    later = nn.Linear(4, 4)
    calls._known[id(later)] = calls._known.pop(id(former[0]))
    del former

    later(torch.ones(2, 4))

    assert [module is later for module in seen] == [True]


class Loss(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self.model(batch).square().mean()


def test_a_model_inside_of_its_loss_is_a_root_where_it_is_evaluated_alone(calls: ModuleCalls, seen: list[Any]) -> None:
    loss = Loss(nn.Sequential(nn.Linear(4, 4)))

    for _ in range(2):
        loss.train()(torch.ones(2, 4))
        loss.model.eval()(torch.ones(2, 4))

    assert [module is loss.model for module in seen] == [False, True, False, True]
    assert id(loss.model) in calls.seen_training


class Again(torch.autograd.Function):
    """Computes a frozen layer once more in its backward pass, as checkpoints do."""

    @staticmethod
    def forward(ctx: Any, batch: torch.Tensor, layer: nn.Module) -> torch.Tensor:
        ctx.layer = layer
        return batch * 2

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.layer(gradient), None


def test_a_frozen_layer_that_backward_computes_again_is_no_root(calls: ModuleCalls, seen: list[Any]) -> None:
    frozen = nn.Linear(4, 4).eval().requires_grad_(False)
    loss = Loss(nn.Sequential(nn.Linear(4, 4), frozen))
    frozen.eval()

    Again.apply(loss.model[:1](torch.ones(2, 4)), frozen).sum()
    seen.clear()
    for _ in range(2):
        value = loss(torch.ones(2, 4)) + Again.apply(torch.ones(2, 4, requires_grad=True), frozen).sum()
        value.backward()

    assert [module is loss for module in seen] == [True, True]
