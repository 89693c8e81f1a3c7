import torch
from torch import nn


class Robot:
    """Torques of a simulated arm from joint angles and speeds."""

    def __init__(self, joints=24, batch=96, seed=81):
        self.generator = torch.Generator().manual_seed(seed)
        self.mix = torch.randn(joints, joints, generator=self.generator) / joints**0.5
        self.joints, self.batch = joints, batch

    def sample(self):
        angles = torch.randn(self.batch, self.joints, generator=self.generator)
        speeds = torch.randn(self.batch, self.joints, generator=self.generator)
        return torch.cat((angles, speeds), 1), angles.sin() @ self.mix + 0.1 * speeds


def dynamics_net(joints=24, width=224):
    return nn.Sequential(
        nn.Linear(2 * joints, width),
        nn.Tanh(),
        nn.Linear(width, width),
        nn.Tanh(),
        nn.Linear(width, joints),
    )
