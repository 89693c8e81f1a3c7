from torch import nn


class DurationNet(nn.Module):
    def __init__(self, features, width=32):
        super().__init__()
        self.cell = nn.GRU(features, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, 1)

    def forward(self, phonemes):
        return self.out(self.cell(phonemes)[0]).squeeze(-1)
