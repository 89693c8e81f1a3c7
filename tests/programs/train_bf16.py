"""Autocast to bfloat16 on the CPU, with a scheduler and a norm that stays in float32."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn

seed()
model = nn.Sequential(nn.Conv1d(3, 16, 3), nn.BatchNorm1d(16), nn.GELU(), nn.Flatten(), nn.Linear(16 * 6, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
for _ in range(20):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(torch.randn(8, 3, 8)), torch.randint(5, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(loss.item(), scheduler.get_last_lr()[0])
print_fingerprint(model, optimizers=(optimizer,))
