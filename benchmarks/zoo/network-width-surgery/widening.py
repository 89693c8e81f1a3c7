"""Function-preserving widening of a layer pair during training (Net2Net)."""

import torch
from torch import nn


def widened(first, second, width):
    """Copies of two layers with `width` units between them that compute the same."""
    extra = torch.arange(width - first.out_features) % first.out_features
    source = torch.cat([torch.arange(first.out_features), extra])
    copies = torch.bincount(source, minlength=first.out_features)[source]
    wide_first = nn.Linear(first.in_features, width)
    wide_second = nn.Linear(width, second.out_features)
    with torch.no_grad():
        wide_first.weight.copy_(first.weight[source])
        wide_first.bias.copy_(first.bias[source])
        wide_second.weight.copy_(second.weight[:, source] / copies)
        wide_second.bias.copy_(second.bias)
    return wide_first, wide_second


class Surgeon:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def operate(self, width):
        first, second = self.model.expand, self.model.reduce
        self.model.expand, self.model.reduce = widened(first, second, width)
        self.adopt([*self.model.expand.parameters(), *self.model.reduce.parameters()])

    def adopt(self, parameters):
        self.optimizer.add_param_group({"params": parameters})
