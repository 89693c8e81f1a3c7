"""Hooks of tensors that lead back to their tensor, which torch 2.13 never frees."""

from __future__ import annotations

import pytest

from told import rules

STEP = """
    import torch
    from functools import partial
    from torch import nn
    class Rule:
        def __init__(self):
            self.seen = None
        def backward(self, gradient):
            return gradient
        def see(self, module, args, output):
            {see}
    def scaled(y, gradient):
        return gradient * y
    def step(net, x):
        y = net(x)
        {register}
        y.sum().backward()
    def main():
        net = nn.Linear(2, 2)
        net.register_forward_hook(Rule().see)
        for _ in range(9):
            step(net, torch.randn(2, 2))
"""


@pytest.mark.parametrize(
    ("register", "found"),
    [
        ("y.register_hook(lambda g: g * y)", ["TN303"]),
        ("y.register_hook(lambda g, y=y: g * y)", ["TN303"]),
        ("y.register_hook(partial(scaled, y))", ["TN303"]),
        ("s = y.detach(); y.register_hook(lambda g: g * s)", []),
        ("y.register_hook(lambda g: g * 2)", []),
        ("y.register_hook(lambda y: y * 2)", []),
        ("y = net(x).detach()\n        y.register_hook(lambda g: g * y)", []),
        ("with torch.no_grad(): y = net(x); y.register_hook(lambda g: g * y)", []),
    ],
)
def test_a_hook_over_its_own_tensor_is_told(register: str, found: list[str]) -> None:
    assert rules(STEP.format(see="pass", register=register)) == found


@pytest.mark.parametrize(
    ("see", "found"),
    [
        ("self.seen = output; output.register_hook(self.backward)", ["TN303"]),
        ("self.seen = output.detach(); output.register_hook(self.backward)", []),
        ("output.register_hook(self.backward)", []),
    ],
)
def test_a_hook_of_an_object_that_has_the_tensor_is_told(see: str, found: list[str]) -> None:
    assert rules(STEP.format(see=see, register="pass")) == found
