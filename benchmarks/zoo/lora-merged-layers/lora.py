import math
from functools import partial

import torch
from torch import nn


class LoraLinear(nn.Module):
    def __init__(self, base, rank=8, alpha=16):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.a.T @ self.b.T)

    @torch.no_grad()
    def merged(self):
        layer = nn.Linear(self.base.in_features, self.base.out_features)
        layer.weight.copy_(self.base.weight + self.scale * self.b @ self.a)
        layer.bias.copy_(self.base.bias)
        return layer


def inject(model, rank=8):
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and child.in_features == child.out_features:
                setattr(parent, name, LoraLinear(child, rank))
    return model


def swap(parent, name, layer):
    """Puts `layer` in place of the child `name`; returns it for chaining."""
    previous = getattr(parent, name)
    setattr(parent, name, layer)
    layer.revert = partial(setattr, parent, name, previous)
    return layer


def merge_and_unload(model, swap=swap):
    """Folds the adapters into plain layers and takes the wrapped layers out of the model."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, LoraLinear):
                swap(parent, name, child.merged())
    return model
