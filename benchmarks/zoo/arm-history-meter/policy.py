import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width, heads, number):
        super().__init__()
        self.heads, self.number = heads, number
        self.norm = nn.LayerNorm(width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x, history):
        batch, length, width = x.shape
        parts = self.project(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        query, keys, values = (part.contiguous() for part in parts)
        keys, values = history.extend(self.number, keys, values)
        mixed = functional.scaled_dot_product_attention(query, keys, values, is_causal=length > 1)
        return x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class ArmPolicy(nn.Module):
    def __init__(self, joints=7, width=96, heads=4, depth=8):
        super().__init__()
        self.depth = depth
        self.embed = nn.Linear(2 * joints, width)
        self.blocks = nn.ModuleList(Block(width, heads, number) for number in range(depth))
        self.head = nn.Linear(width, joints)

    def forward(self, states, history):
        x = self.embed(states)
        for block in self.blocks:
            x = block(x, history)
        return self.head(x[:, -1]).tanh()


class Arms:
    """Joint angles and speeds of several arms that are to come to rest."""

    def __init__(self, number=32, joints=7, seed=61):
        self.generator = torch.Generator().manual_seed(seed)
        self.number, self.joints = number, joints

    def demonstration(self, length=56):
        states = torch.randn(self.number, length, 2 * self.joints, generator=self.generator)
        return states.cumsum(1) * 0.1

    def move(self, states, torque, dt=0.05):
        angles, speeds = states.chunk(2, -1)
        speeds = 0.98 * speeds + dt * torque
        return torch.cat([angles + dt * speeds, speeds], -1)
