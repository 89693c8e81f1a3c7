from torch import nn


class EchoNet(nn.Module):
    """Range profile of one ping to a target score per range cell."""

    def __init__(self, width=24, depth=4):
        super().__init__()
        layers, inside = [], 1
        for number in range(depth):
            layers += [nn.Conv1d(inside, width, 9, padding=4 * 2**number, dilation=2**number), nn.GELU()]
            inside = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Conv1d(width, 1, 1)

    def forward(self, profiles):
        return self.head(self.body(profiles.unsqueeze(1))).squeeze(1)
