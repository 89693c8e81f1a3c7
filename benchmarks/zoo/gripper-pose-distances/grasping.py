import torch
import torch.nn.functional as F
from torch import nn


class GraspScorer(nn.Module):
    """Chance that a grasp succeeds."""

    def __init__(self, width=96):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(7, width), nn.ELU(), nn.Linear(width, width), nn.ELU(), nn.Linear(width, 1)
        )

    def forward(self, poses):
        return self.layers(poses).squeeze(-1)


def bin_scenes(count, grasps=144, seed=201):
    """Candidate grasps above a bin; those near the middle and upright work."""
    g = torch.Generator().manual_seed(seed)
    for _ in range(count):
        position = torch.rand(grasps, 3, generator=g) * 2 - 1
        quaternion = F.normalize(torch.randn(grasps, 4, generator=g), dim=1)
        works = (position.norm(dim=1) < 0.9) & (quaternion[:, 0].abs() > 0.3)
        yield torch.cat([position, quaternion], 1), works.float()


def smoothness(scores, neighbours):
    return (scores[:, None] - scores[neighbours]).square().mean()
