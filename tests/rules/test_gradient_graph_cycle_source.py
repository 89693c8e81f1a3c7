"""TN104 in source: flags, dictionaries of arguments, gradients that are stored."""

from __future__ import annotations

import pytest

from told import rules

STEP = """
    import torch
    from torch import nn
    FIRST = {{"create_graph": True}}
    SECOND = {{"create_graph": False}}
    class Meta:
        def __init__(self, first_order=False):
            self.first_order = first_order
    def step(model, meta, x, y, second={default}):
        loss = nn.functional.mse_loss(model(x), y)
        {run}
        return [p - 0.1 * p.grad for p in model.parameters()]
    def main(loader):
        model, meta = nn.Linear(4, 4), Meta()
        for x, y in loader:
            step(model, meta, x, y{given})
"""


@pytest.mark.parametrize(
    ("default", "run", "given", "found"),
    [
        ("True", "loss.backward(create_graph=second)", "", ["TN104"]),
        ("False", "loss.backward(create_graph=second)", "", []),
        ("False", "loss.backward(create_graph=second)", ", second=True", ["TN104"]),
        ("True", "loss.backward(create_graph=second)", ", False", []),
        ("True", "loss.backward(create_graph=not second)", "", []),
        ("True", "loss.backward(**FIRST)", "", ["TN104"]),
        ("True", "loss.backward(**SECOND)", "", []),
    ],
)
def test_a_flag_that_may_be_true_makes_graphs_of_gradients(
    default: str, run: str, given: str, found: list[str]
) -> None:
    assert rules(STEP.format(default=default, run=run, given=given)) == found


ADAPT = """
    from torch import nn
    class Meta(nn.Module):
        def __init__(self, first_order={first_order}):
            super().__init__()
            self.first_order, self.net = first_order, nn.Linear(3, 3)
        def adapt(self, x, y):
            nn.functional.mse_loss(self.net(x), y).backward(create_graph=not self.first_order)
            return [p - 0.1 * p.grad for p in self.net.parameters()]
"""


@pytest.mark.parametrize(("first_order", "found"), [("False", ["TN104"]), ("True", [])])
def test_an_attribute_may_be_the_flag(first_order: str, found: list[str]) -> None:
    assert rules(ADAPT.format(first_order=first_order)) == found


STORED = """
    import torch
    from torch import nn
    def fill(model, loss):
        grads = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)
        for p, g in zip(model.parameters(), grads):
            p.grad = {stored}
    def main(loader, optimizer):
        model = nn.Linear(4, 4)
        for x, y in loader:
            fill(model, nn.functional.mse_loss(model(x), y))
            optimizer.step()
            {leave}
"""


@pytest.mark.parametrize(
    ("stored", "leave", "found"),
    [("g", "", ["TN104"]), ("g.detach()", "", []), ("g", "optimizer.zero_grad()", [])],
)
def test_a_gradient_that_is_stored_with_its_graph_is_told(stored: str, leave: str, found: list[str]) -> None:
    assert rules(STORED.format(stored=stored, leave=leave)) == found
