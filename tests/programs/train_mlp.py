"""A plain loop; prints every loss."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn

seed()
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(30):
    loss = nn.functional.cross_entropy(model(torch.randn(8, 16)), torch.randint(4, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
print_fingerprint(model, optimizers=(optimizer,))
