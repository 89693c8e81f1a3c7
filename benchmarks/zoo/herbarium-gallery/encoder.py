import torch
from torch import nn


class SheetEncoder(nn.Module):
    """A photograph of a pressed plant to a vector; pale paper is ignored."""

    def __init__(self, width=16, vector=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, width, 5, 4, 2),
            nn.BatchNorm2d(width),
            nn.GELU(),
            nn.Conv2d(width, 2 * width, 3, 2, 1),
            nn.BatchNorm2d(2 * width),
            nn.GELU(),
            nn.Dropout(0.2),
        )
        self.out = nn.Linear(2 * width, vector)

    def forward(self, sheets):
        ink = 1 - sheets.amin(1, keepdim=True)
        hidden = self.body(sheets * ink)
        return self.out(hidden.mean((2, 3)))


def pretrained(seed=52):
    torch.manual_seed(seed)
    return SheetEncoder()
