import torch
from torch import nn


class PoseNet(nn.Module):
    def __init__(self, joints=15, width=16):
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, width, 5, 2, 2), nn.ReLU(), nn.Conv2d(width, width, 3, 1, 1), nn.ReLU())
        self.maps = nn.Conv2d(width, joints, 3, 1, 1)

    def forward(self, images):
        return self.maps(self.down(images))


def peaks(heatmaps):
    """Row and column of each joint."""
    places = heatmaps.detach().flatten(2).argmax(-1)
    return torch.stack((places // heatmaps.size(-1), places % heatmaps.size(-1)), -1)


def people(batches, batch=4, side=80, joints=15, seed=2):
    generator = torch.Generator().manual_seed(seed)
    grid = torch.stack(torch.meshgrid(torch.arange(side // 2), torch.arange(side // 2), indexing="ij"), -1).float()
    for _ in range(batches):
        where = torch.rand(batch, joints, 1, 1, 2, generator=generator) * side / 2
        blobs = (-(grid - where).square().sum(-1) / 18).exp()
        coarse = blobs.amax(1, keepdim=True).expand(-1, 3, -1, -1)
        yield nn.functional.interpolate(coarse, scale_factor=2.0), blobs, where[:, :, 0, 0]
