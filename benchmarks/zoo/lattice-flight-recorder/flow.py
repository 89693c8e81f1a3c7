import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, size, parity, width):
        super().__init__()
        board = torch.arange(size)[:, None] + torch.arange(size)
        self.register_buffer("mask", (board % 2 == parity).float())
        self.inner = nn.Conv2d(1, width, 3, padding=1, padding_mode="circular")
        self.outer = nn.Conv2d(width, 2, 3, padding=1, padding_mode="circular")

    def forward(self, field, log_density):
        scale, shift = self.outer(torch.tanh(self.inner((field * self.mask)[:, None]))).unbind(1)
        free = 1 - self.mask
        scale = scale.tanh() * free
        return field * scale.exp() + shift * free, log_density - scale.sum((1, 2))


class LatticeFlow(nn.Module):
    def __init__(self, size=12, depth=4, width=12):
        super().__init__()
        self.steps = nn.ModuleList(Coupling(size, number % 2, width) for number in range(depth))

    def forward(self, noise):
        field, log_density = noise, -0.5 * noise.square().sum((1, 2))
        for step in self.steps:
            field, log_density = step(field, log_density)
        return field, log_density
