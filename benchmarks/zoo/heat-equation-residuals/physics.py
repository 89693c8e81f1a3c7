from dataclasses import dataclass

import torch


def slope(values, points):
    (result,) = torch.autograd.grad(values.sum(), points, create_graph=True)
    return result


def heat_residual(field, points, diffusion=0.1):
    points.requires_grad_(True)
    first = slope(field(points), points)
    second = slope(first[:, :1], points)
    return first[:, 1] - diffusion * second[:, 0]


@dataclass
class EpochSummary:
    """What one epoch came to."""

    physics: float = 0.0
    worst: float = 0.0
    batches: int = 0

    def add(self, physics, residual):
        self.physics += physics.item()
        self.worst = self.worst + residual.abs().topk(5).values.mean()
        self.batches += 1

    def line(self):
        return f"physics {self.physics / self.batches:.5f} worst {self.worst.item() / self.batches:.4f}"
