"""Tensors that a custom Function sets on its context inside of a container."""

from __future__ import annotations

import pytest

from told import rules

FUNCTION = """
    import torch
    class Soft(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, threshold):
            y = torch.relu(x - threshold)
            {stored}
            return y
        @staticmethod
        def backward(ctx, grad):
            return grad, None
"""


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ("ctx.kept = {'y': y, 'threshold': threshold}", ["TN103"]),
        ("ctx.kept = dict(mask=y > 0)", ["TN103"]),
        ("ctx.kept = Kept(y)", ["TN103"]),
        ("ctx.kept = {'shape': x.shape, 'threshold': threshold}", []),
    ],
)
def test_what_a_container_on_the_context_holds_is_set_on_it(stored: str, found: list[str]) -> None:
    assert rules(FUNCTION.format(stored=stored)) == found
