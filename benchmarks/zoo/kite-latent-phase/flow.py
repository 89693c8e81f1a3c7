import torch
from torch import nn


class VelocityNet(nn.Module):
    def __init__(self, kinds=6, width=96):
        super().__init__()
        self.kind = nn.Embedding(kinds, width)
        self.time = nn.Linear(1, width)
        self.inp = nn.Linear(256, width)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU()) for _ in range(3))
        self.out = nn.Linear(width, 256)

    def forward(self, x, t, kind):
        h = self.inp(x.flatten(1)) + self.time(t[:, None]) + self.kind(kind)
        for block in self.blocks:
            h = h + block(h)
        return self.out(h).view_as(x)


def flow_loss(net, x, kind):
    t = torch.rand(len(x))
    noise = torch.randn_like(x)
    at = t[:, None, None, None]
    return (net((1 - at) * noise + at * x, t, kind) - (x - noise)).square().mean()


@torch.no_grad()
def sample_spread(net, kind, steps=6):
    x = torch.randn(len(kind), 4, 8, 8)
    for i in range(steps):
        x = x + net(x, torch.full((len(kind),), i / steps), kind) / steps
    return x.std().item()
