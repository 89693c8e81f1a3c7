import torch
import torch.nn.functional as F
from torch import nn


def classifier():
    return nn.Sequential(
        nn.Conv2d(3, 12, 5, stride=3), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 5),
    )


def sharpen(p, temperature=0.5):
    p = p ** (1 / temperature)
    return p / p.sum(1, keepdim=True)


def mixmatch(net, x, y, u1, u2, weight):
    with torch.no_grad():
        guess = sharpen((net(u1).softmax(1) + net(u2).softmax(1)) / 2)
    inputs = torch.cat([x, u1, u2])
    targets = torch.cat([F.one_hot(y, 5).float(), guess, guess])
    order = torch.randperm(len(inputs))
    lam = float(torch.distributions.Beta(0.75, 0.75).sample())
    lam = max(lam, 1 - lam)
    logits = net(lam * inputs + (1 - lam) * inputs[order])
    targets = lam * targets + (1 - lam) * targets[order]
    n = len(x)
    return F.cross_entropy(logits[:n], targets[:n]) + weight * (logits[n:].softmax(1) - targets[n:]).square().mean()
