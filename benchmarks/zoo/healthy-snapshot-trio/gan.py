import torch
from torch import nn


def generator(noise=32, out=784):
    return nn.Sequential(nn.Linear(noise, 128), nn.LeakyReLU(0.2), nn.Linear(128, 256), nn.LeakyReLU(0.2), nn.Linear(256, out), nn.Tanh())


def critic(inp=784):
    return nn.Sequential(nn.Linear(inp, 256), nn.LeakyReLU(0.2), nn.Linear(256, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))


class Duel:
    def __init__(self, rate=2e-4):
        self.g, self.d = generator(), critic()
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=rate, betas=(0.5, 0.9))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=rate, betas=(0.5, 0.9))

    def hinge(self, real, rivals):
        z = torch.randn(len(real), 32)
        with torch.no_grad():
            fakes = [self.g(z)] + [rival(z) for rival in rivals]
        loss = torch.relu(1 - self.d(real)).mean()
        for fake in fakes:
            loss = loss + torch.relu(1 + self.d(fake)).mean() / len(fakes)
        return loss

    def critic_step(self, real, rivals):
        loss = self.hinge(real, rivals)
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def generator_step(self, n):
        loss = -self.d(self.g(torch.randn(n, 32))).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()
