import torch
from torch import nn


def perceptron(inner, seed, inputs=128, classes=10):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(inputs, inner), nn.ReLU(), nn.Linear(inner, inner), nn.ReLU(), nn.Linear(inner, classes)
    )


def load_teacher():
    return perceptron(640, seed=1).eval().requires_grad_(False)


def spectra(batch=64, inputs=128, classes=10):
    generator = torch.Generator().manual_seed(33)
    lines = torch.randn(classes, inputs, generator=generator)
    while True:
        y = torch.randint(classes, (batch,), generator=generator)
        yield lines[y] + 0.8 * torch.randn(batch, inputs, generator=generator), y
