import torch
from torch import nn
from torch.nn import functional


def double_conv(inward, outward):
    return nn.Sequential(
        nn.Conv3d(inward, outward, 3, padding=1),
        nn.GroupNorm(4, outward),
        nn.SiLU(),
        nn.Conv3d(outward, outward, 3, padding=1),
        nn.SiLU(),
    )


class SmallUNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fine = double_conv(1, width)
        self.coarse = double_conv(width, 2 * width)
        self.join = double_conv(3 * width, width)
        self.organ = nn.Conv3d(width, 2, 1)

    def both_scales(self, volume):
        fine = self.fine(volume)
        coarse = self.coarse(functional.max_pool3d(fine, 2))
        return torch.cat((fine, functional.interpolate(coarse, scale_factor=2.0, mode="nearest")), 1)

    def forward(self, volume):
        return self.organ(self.join(self.both_scales(volume)))
