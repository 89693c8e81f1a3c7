import functools

import torch
from torch import nn


class LowRankLinear(nn.Linear):
    def __init__(self, inputs, outputs, rank=4):
        super().__init__(inputs, outputs)
        self.lora_a = nn.Parameter(torch.randn(rank, inputs) / inputs**0.5)
        self.lora_b = nn.Parameter(torch.zeros(outputs, rank))

    def forward(self, x):
        return super().forward(x) + x @ self.lora_a.T @ self.lora_b.T


@functools.lru_cache
def adapter_parameters(model):
    """The trainable part of a model, by name."""
    return {name: value for name, value in model.named_parameters() if "lora_" in name}


def freeze_base(model):
    chosen = adapter_parameters(model)
    for name, value in model.named_parameters():
        value.requires_grad_(name in chosen)
    return model
