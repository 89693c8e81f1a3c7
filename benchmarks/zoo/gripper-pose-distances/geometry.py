"""Distances between grasp poses: position and quaternion."""

from functools import lru_cache

import torch


class PoseMetric:
    def __init__(self, turn_weight=0.2):
        self.turn_weight = turn_weight

    @lru_cache(maxsize=512)
    def pairwise(self, poses):
        """All distances within a set of poses. Asked for several times in a step."""
        shift = torch.cdist(poses[:, :3], poses[:, :3])
        turn = 1 - (poses[:, 3:] @ poses[:, 3:].T).abs().clamp(max=1)
        return shift + self.turn_weight * turn

    def neighbours(self, poses, count=4):
        return self.pairwise(poses).topk(count + 1, largest=False).indices[:, 1:]

    def crowding(self, poses):
        """Small weights for poses that many others resemble."""
        return self.pairwise(poses).mean(1)
