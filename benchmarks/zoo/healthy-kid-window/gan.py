import copy

import torch
from torch import nn
from torch.nn.functional import softplus


class Player:
    """A network with the optimizer that moves it."""

    def __init__(self, net, lr):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr, betas=(0.5, 0.9))

    def __call__(self, x):
        return self.net(x)

    def move(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


class GAN:
    def __init__(self, noise=16, size=256, width=128):
        self.noise = noise
        self.maker = Player(nn.Sequential(nn.Linear(noise, width), nn.ReLU(), nn.Linear(width, size)), 1e-3)
        self.judge = Player(nn.Sequential(nn.Linear(size, width), nn.SiLU(), nn.Linear(width, 1)), 1e-3)
        self.smooth = copy.deepcopy(self.maker.net).requires_grad_(False)

    def samples(self, number):
        return self.maker(torch.randn(number, self.noise))

    @torch.no_grad()
    def follow(self, rate=0.1):
        for slow, fast in zip(self.smooth.parameters(), self.maker.net.parameters()):
            slow.lerp_(fast, rate)

    def step(self, real):
        made = self.samples(len(real))
        judged = self.judge.move((softplus(-self.judge(real)) + softplus(self.judge(made.detach()))).mean())
        fooled = self.maker.move(softplus(-self.judge(made)).mean())
        self.follow()
        return judged, fooled
