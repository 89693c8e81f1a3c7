import torch
from torch import nn


class Ranker(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2 * width, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, left, right):
        return self.layers(torch.cat([left, right], dim=-1)).squeeze(-1)


def fit(ranker, rows, steps):
    optimizer = torch.optim.Adam(ranker.parameters(), lr=1e-3)
    for step in range(1, steps + 1):
        left, right = rows[torch.randint(len(rows), (2, 24))]
        loss = torch.nn.functional.softplus(-ranker(left, right) * (left[:, 0] - right[:, 0])).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 9 == 0:
            print(f"step {step}: {loss.item():.4f}")
