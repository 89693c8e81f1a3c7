import torch
from torch import nn


def inception(width=96, features=128):
    """A fixed convolutional net whose features are compared."""
    return nn.Sequential(
        nn.Conv2d(1, width, 3, 2, 1),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, 2, 1),
        nn.ReLU(),
        nn.Conv2d(2 * width, 4 * width, 3, 2, 1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, features),
    )


class FrechetDistance:
    def __init__(self, net, real, every=16):
        self.net = net.eval().requires_grad_(False)
        self.every = every
        self.mean, self.cov = self.statistics(real)

    @torch.no_grad()
    def statistics(self, images):
        features = torch.cat([self.net(part) for part in images.split(64)])
        return features.mean(0), features.T.cov()

    @torch.no_grad()
    def distance(self, images):
        mean, cov = self.statistics(images)
        roots = torch.linalg.eigvals(self.cov @ cov).real.clamp(min=0).sqrt()
        return ((mean - self.mean).square().sum() + self.cov.trace() + cov.trace() - 2 * roots.sum()).item()

    def after_step(self, step, model):
        if step % self.every == 0:
            print(f"{step:3d} fid {self.distance(model.sample(128)):.4f}")
