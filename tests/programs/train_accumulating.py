"""Four micro-steps per optimizer step, the last one short; no_grad evaluation between."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn

seed()
model = nn.Sequential(nn.Linear(10, 40), nn.Tanh(), nn.Dropout(0.1), nn.Linear(40, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
for epoch in range(4):
    total = 0.0
    for micro in range(18):
        loss = model(torch.randn(4, 10)).square().mean() / 4
        loss.backward()
        total += loss.item()
        if micro % 4 == 3 or micro == 17:
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        model.eval()
        print(epoch, total, model(torch.ones(2, 10)).sum().item())
        model.train()
print_fingerprint(model, optimizers=(optimizer,))
