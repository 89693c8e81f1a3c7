"""Steps are taken while a tuple of their results is being filled: most of its places are empty meanwhile."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn


def step(batch):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return batch, loss.detach(), bytes(1 << 20)


def mean(*losses):
    return torch.stack(losses).mean().item()


seed()
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    batches, losses, records = zip(*(step(torch.randn(4, 6)) for _ in range(3)), strict=True)
    print(mean(*losses), sum(map(len, records)))
    print(mean(*(step(batch)[1] for batch in tuple(step(batch)[0] for batch in batches))))
    print(sum(map(len, tuple(step(batch)[2] for batch in batches))))
print_fingerprint(model, optimizers=(optimizer,))
