import torch
from torch import nn
from torch.nn import functional


def pair(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU(), nn.Conv2d(outside, outside, 3, padding=1))


def join(fine, coarse):
    return torch.cat([fine, functional.interpolate(coarse, scale_factor=2, mode="bilinear")], 1)


class SmallUNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.down = pair(1, width)
        self.deep = pair(width, 2 * width)
        self.up = pair(3 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x):
        fine = self.down(x)
        coarse = self.deep(functional.max_pool2d(fine, 2))
        return self.head(self.up(join(fine, coarse)).relu())


class Trainer:
    def __init__(self, net, criterion, every=9):
        self.net, self.criterion, self.every = net, criterion, every
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
        self.steps = 0

    def fit(self, source, steps):
        for _ in range(steps):
            self.step(*next(source))
            if self.steps % self.every == 0:
                print(f"{self.steps:3d}", self.criterion.line())

    def step(self, stain, masks):
        loss = self.criterion(self.net(stain), masks)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
