"""Lesion classifier: a small residual network over 112 px dermoscopy crops."""

import torch
from torch import nn


class ResidualUnit(nn.Module):
    def __init__(self, width, stride=1, out=None):
        super().__init__()
        out = out or width
        self.conv1 = nn.Conv2d(width, out, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(out)
        self.skip = nn.Identity() if out == width and stride == 1 else nn.Conv2d(width, out, 1, stride=stride)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(y)) + self.skip(x))


class LesionNet(nn.Module):
    def __init__(self, classes=7):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 5, stride=2, padding=2)
        self.stage1 = ResidualUnit(12)
        self.stage2 = ResidualUnit(12, stride=2, out=24)
        self.stage3 = ResidualUnit(24, stride=2, out=48)
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        x = self.stage3(self.stage2(self.stage1(torch.relu(self.stem(x)))))
        return self.head(x.mean(dim=(2, 3)))
