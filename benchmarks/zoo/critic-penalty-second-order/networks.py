import torch
from torch import nn


class PixelEncoder(nn.Module):
    """Shared with the actor, whose side of the code trains it."""

    def __init__(self, features=32):
        super().__init__()
        self.convs = nn.Sequential(nn.Conv2d(3, 8, 3, stride=2), nn.Tanh(), nn.Conv2d(8, 8, 3), nn.Tanh())
        self.fold = nn.Linear(8 * 13 * 13, features)

    def forward(self, frames):
        return torch.tanh(self.fold(self.convs(frames).flatten(1)))


class Critic(nn.Module):
    def __init__(self, encoder, features=32, actions=4):
        super().__init__()
        self.encoder = encoder
        self.q = nn.Sequential(nn.Linear(features + actions, 64), nn.Tanh(), nn.Linear(64, 1))

    def forward(self, frames, actions):
        return self.q(torch.cat([self.encoder(frames), actions], 1)).squeeze(1)


def head_groups(critic, lr):
    """The head learns here; biases without decay."""
    weights = [p for name, p in critic.q.named_parameters() if name.endswith("weight")]
    biases = [p for name, p in critic.q.named_parameters() if name.endswith("bias")]
    return [{"params": weights, "lr": lr, "weight_decay": 1e-4}, {"params": biases, "lr": lr}]
