import torch
from torch import nn


def batches(n, size, seed):
    g = torch.Generator().manual_seed(seed)
    centres = torch.randn(6, 128, generator=g)
    for _ in range(n):
        y = torch.randint(6, (size,), generator=g)
        yield centres[y] + 0.8 * torch.randn(size, 128, generator=g), y


class PetalNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(128, 192), nn.Linear(192, 192), nn.Linear(192, 6)

    def forward(self, x):
        return self.c(torch.tanh(self.b(torch.tanh(self.a(x)))))
