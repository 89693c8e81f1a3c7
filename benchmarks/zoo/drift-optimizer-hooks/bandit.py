import torch
from torch import nn


class ClickModel(nn.Module):
    def __init__(self, users=40, items=60, width=24):
        super().__init__()
        self.users, self.items = nn.Embedding(users, width), nn.Embedding(items, width)
        self.score = nn.Sequential(nn.Linear(2 * width, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, users, items):
        return self.score(torch.cat((self.users(users), self.items(items)), -1)).squeeze(-1)


def clicks(count, batch=128):
    generator = torch.Generator().manual_seed(44)
    taste = torch.randn(40, 60, generator=generator)
    for _ in range(count):
        users = torch.randint(40, (batch,), generator=generator)
        items = torch.randint(60, (batch,), generator=generator)
        yield users, items, (taste[users, items] > 0).float()
