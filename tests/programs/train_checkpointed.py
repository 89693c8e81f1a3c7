"""Activation checkpointing, both kinds, around dropout: what is recomputed must draw the same numbers again."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

seed()
forwards = []


class Counting(nn.Linear):
    def forward(self, inputs):
        forwards.append(inputs.shape[0])
        return super().forward(inputs)


first = nn.Sequential(Counting(8, 64), nn.Dropout(0.4), nn.ReLU())
second = nn.Sequential(Counting(64, 64), nn.Dropout(0.4), nn.ReLU(), Counting(64, 64), nn.ReLU())
last = nn.Linear(64, 1)
model = nn.ModuleList([first, second, last])
optimizer = torch.optim.Adam(model.parameters())
for number in range(16):
    inputs = torch.randn(4, 8, requires_grad=True)
    hidden = checkpoint(first, inputs, use_reentrant=number % 2 == 0)
    hidden = checkpoint_sequential(second, 2, hidden, use_reentrant=False)
    loss = last(hidden).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), len(forwards), inputs.grad.sum().item())
print_fingerprint(model, optimizers=(optimizer,))
