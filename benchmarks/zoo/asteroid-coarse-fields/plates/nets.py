from torch import nn


class CoarseNet(nn.Module):
    """Many directional fields per plate."""

    def __init__(self, fields=48):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, padding=1)
        self.head = nn.Conv2d(8, fields, 3, padding=1)

    def forward(self, plates):
        return self.head(self.stem(plates).relu())


class Refiner(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.enter = nn.Conv2d(2, width, 3, padding=1)
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 1, 3, padding=1)

    def forward(self, rows):
        hidden = self.enter(rows).relu()
        return self.leave(self.middle(hidden).relu() + hidden)
