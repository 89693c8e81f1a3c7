from torch import nn


def generator(out=1024):
    return nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, out), nn.Tanh())


def critic(inp=1024):
    return nn.Sequential(nn.Linear(inp, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
