import torch
from torch import nn


class TrackLost(LookupError):
    def __init__(self, target):
        super().__init__(f"target {target} has no echo in its gate")


class EchoNet(nn.Module):
    """Embeds echoes so that those of one target come to lie together."""

    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, echoes):
        return self.net(echoes)


def associate(tracks, echoes, gate):
    """The echo of each track; TrackLost where the nearest lies outside of the gate."""
    offsets = echoes[None, :, :] - tracks[:, None, :]
    distance = offsets.square().sum(-1).sqrt()
    nearest = distance.min(dim=1)
    for target, gap in enumerate(nearest.values.tolist()):
        if gap > gate:
            raise TrackLost(target)
    return nearest.indices


class Sky:
    def __init__(self, targets=20, clutter=60, seed=400):
        self.gen = torch.Generator().manual_seed(seed)
        self.place = torch.randn(targets, 5, generator=self.gen)
        self.clutter = clutter

    def sweep(self):
        self.place += 0.05 * torch.randn(self.place.shape, generator=self.gen)
        noise = torch.randn(self.clutter, 5, generator=self.gen)
        return torch.cat([self.place + 0.02 * torch.randn(self.place.shape, generator=self.gen), noise])
