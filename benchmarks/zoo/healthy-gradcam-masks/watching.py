import torch
from torch import nn
from torch.nn import functional


class Watched(nn.Module):
    """A layer whose maps and their gradients are kept for the one who watches."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.maps = None

    def forward(self, x):
        maps = self.layer(x)
        if torch.is_grad_enabled():
            maps.retain_grad()
            self.maps = maps
        return maps

    def cam(self, size):
        """Where the decision came from, per picture, between 0 and 1."""
        maps, self.maps = self.maps, None
        weight = maps.grad.mean((2, 3), keepdim=True)
        cam = (weight * maps.detach()).sum(1, keepdim=True).relu()
        cam = functional.interpolate(cam, size=size, mode="bilinear")
        return cam / cam.amax((2, 3), keepdim=True).clamp_min(1e-8)


class Eraser:
    """Covers what the net looked at most, so that it learns to look elsewhere too."""

    def __init__(self, above=0.7):
        self.above = above
        self.covered = 0.0

    def __call__(self, pictures, cam):
        cover = cam > self.above
        self.covered = cover.float().mean().item()
        return pictures.masked_fill(cover, 0.0)
