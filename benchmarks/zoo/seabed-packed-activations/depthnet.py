import torch
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return x + self.second(functional.silu(self.first(functional.silu(x))))


def depth_net(width=12, depth=3):
    return nn.Sequential(nn.Conv2d(2, width, 5, 2, 2), *(Residual(width) for _ in range(depth)), nn.Conv2d(width, 1, 1))


class DepthFitting:
    def __init__(self, packer, lr=2e-3):
        self.net, self.packer = depth_net(), packer
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)

    def fit(self, survey, report=10):
        for number, (backscatter, depth) in enumerate(survey, 1):
            loss = self.step(backscatter, depth)
            if number % report == 0:
                print(f"{number:3d} {loss:.4f}")

    def step(self, backscatter, depth):
        with self.packer:
            loss = functional.smooth_l1_loss(self.net(backscatter), depth)
            self.optimizer.zero_grad()
            loss.backward()
        self.optimizer.step()
        return loss.item()
