import torch
from torch import nn


class TrapNet(nn.Module):
    """A coarse grid of scores: is there a weevil in this cell?"""

    def __init__(self, width=12):
        super().__init__()
        self.down = nn.Conv2d(1, width, 5, stride=4, padding=2)
        self.look = nn.Conv2d(width, width, 3, padding=1)
        self.score = nn.Conv2d(width, 1, 1)

    def forward(self, traps):
        x = torch.tanh(self.down(traps))
        return self.score(torch.tanh(self.look(x))).squeeze(1)
