import torch
from torch import nn

from . import melt as gates


class Catchment(nn.Module):
    """Days in, discharge out; the pack of each cell is carried from day to day."""

    def __init__(self, inputs=6, cells=64):
        super().__init__()
        self.fall = nn.Linear(inputs, cells)
        self.warm = nn.Linear(inputs, cells)
        self.outlet = nn.Linear(cells, 1)

    def forward(self, days):
        pack = days.new_zeros(days.shape[0], self.fall.out_features)
        flow = []
        for day in days.unbind(1):
            pack = pack + torch.relu(self.fall(day))
            melted = gates.melt(pack, torch.relu(self.warm(day)))
            pack = pack - melted
            flow.append(self.outlet(melted))
        return torch.cat(flow, dim=1)
