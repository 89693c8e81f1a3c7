import torch
from torch import nn
from torch.nn import functional


def conv(inputs, outputs, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), nn.ReLU(inplace=True))


class Restorer(nn.Module):
    """Fills holes: down through four levels, up again past what each level saw, then over the photograph."""

    def __init__(self, widths=(16, 24, 32, 48)):
        super().__init__()
        self.first = conv(4, widths[0])
        self.down = nn.ModuleList(conv(a, b, 2) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(conv(a + b, a) for a, b in reversed(list(zip(widths, widths[1:]))))
        self.paint = nn.Conv2d(widths[0], 3, 1)

    def forward(self, photo, hole):
        x = self.first(torch.cat((photo * (1 - hole), hole), 1))
        seen = []
        for layer in self.down:
            seen.append(x)
            x = layer(x)
        for layer in self.up:
            x = functional.interpolate(x, scale_factor=2, mode="nearest")
            x = torch.cat((x, seen.pop()), 1)
            x = layer(x)
        return torch.lerp(photo, self.paint(x).sigmoid_(), hole)
