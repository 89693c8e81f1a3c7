"""A shallow 3D U-Net for organ masks."""

import torch
from torch import nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.conv = nn.Conv3d(inp, out, 3, padding=1)
        self.norm = nn.GroupNorm(2, out)

    def forward(self, x):
        return F.silu(self.norm(self.conv(x)))


class OrganNet(nn.Module):
    def __init__(self, organs=4, width=8):
        super().__init__()
        self.down = Block(1, width)
        self.deep = Block(width, 2 * width)
        self.up = Block(3 * width, width)
        self.head = nn.Conv3d(width, organs, 1)

    def forward(self, scan):
        fine = self.down(scan)
        coarse = self.deep(F.avg_pool3d(fine, 2))
        back = F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        return self.head(self.up(torch.cat([fine, back], dim=1)))


def dice_loss(logits, mask):
    probs = logits.softmax(dim=1)
    target = F.one_hot(mask, logits.shape[1]).movedim(-1, 1).float()
    overlap = (probs * target).sum(dim=(2, 3, 4))
    total = probs.sum(dim=(2, 3, 4)) + target.sum(dim=(2, 3, 4))
    return 1 - (2 * overlap / total.clamp_min(1e-6)).mean()
