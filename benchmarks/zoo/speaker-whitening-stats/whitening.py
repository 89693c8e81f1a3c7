import torch
from torch import nn


class RunningWhitener(nn.Module):
    """Embeddings with the running covariance taken out."""

    def __init__(self, width, rate=0.05, ridge=1e-2):
        super().__init__()
        self.rate, self.ridge = rate, ridge
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("covariance", torch.eye(width))

    def track(self, z):
        with torch.no_grad():
            self.mean.lerp_(z.mean(0), self.rate)
        apart = z - self.mean
        batch = apart.T @ apart / len(z)
        self.covariance = torch.lerp(self.covariance, batch, self.rate)

    def matrix(self):
        values, vectors = torch.linalg.eigh(self.covariance.detach())
        return vectors * (values + self.ridge).rsqrt() @ vectors.T

    def forward(self, z):
        if self.training:
            self.track(z)
        return (z - self.mean) @ self.matrix()
