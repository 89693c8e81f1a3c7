import torch
from torch import nn


class Quiet(nn.Module):
    """A layer that asks for small activities: weight times their mean size is its term of the loss."""

    def __init__(self, inner, weight=1e-2):
        super().__init__()
        self.inner, self.weight = inner, weight
        self.terms = []

    def forward(self, x):
        out = torch.relu(self.inner(x))
        if self.training:
            self.terms.append(self.weight * out.square().mean())
        return out

    def term(self):
        return self.terms[-1]


def quiet_terms(model):
    return sum(module.term() for module in model.modules() if isinstance(module, Quiet))
