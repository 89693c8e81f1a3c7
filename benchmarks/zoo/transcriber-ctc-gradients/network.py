import torch
from torch import nn


class Transcriber(nn.Module):
    """Constant-Q frames to the 88 keys and a blank."""

    def __init__(self, bins=84, width=72, keys=88):
        super().__init__()
        self.inlet = nn.Conv1d(bins, width, 5, padding=2)
        self.memory = nn.GRU(width, width // 2, bidirectional=True)
        self.outlet = nn.Linear(width, keys + 1)

    def forward(self, spectrum):
        hidden = torch.relu(self.inlet(spectrum)).permute(2, 0, 1)
        return self.outlet(self.memory(hidden)[0])
