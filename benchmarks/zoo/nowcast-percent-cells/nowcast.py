import torch
from torch import nn


class ConvNowcast(nn.Module):
    def __init__(self, seen=4, ahead=3, width=20):
        super().__init__()
        self.seen, self.ahead = seen, ahead
        self.down = nn.Conv2d(seen, width, 3, padding=1)
        self.body = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(3))
        self.out = nn.Conv2d(width, ahead, 1)

    def forward(self, past):
        hidden = torch.relu(self.down(past))
        for layer in self.body:
            hidden = hidden + torch.relu(layer(hidden))
        return self.out(hidden).sigmoid()
