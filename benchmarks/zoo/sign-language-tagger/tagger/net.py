from torch import nn


class TaggerBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.mix = nn.Conv1d(width, width, 3, padding=1, groups=4)
        self.out = nn.Conv1d(width, width, 1)

    def forward(self, x):
        return x + self.out(self.mix(x).relu())


class Tagger(nn.Module):
    def __init__(self, joints=42, width=64, glosses=30):
        super().__init__()
        self.lift = nn.Conv1d(joints * 2, width, 1)
        self.early = TaggerBlock(width)
        self.late = TaggerBlock(width)
        self.head = nn.Conv1d(width, glosses, 1)

    def forward(self, joints):
        return self.head(self.late(self.early(self.lift(joints))))
