"""Dropout in a small transformer: every step draws random numbers in the forward."""

import random

import numpy as np
import torch
from fingerprint import print_fingerprint, seed
from torch import nn

seed()
layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.3, batch_first=True)
model = nn.Sequential(nn.TransformerEncoder(layer, 2), nn.Dropout(0.5), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for _ in range(25):
    inputs = torch.from_numpy(np.random.rand(4, 6, 32).astype(np.float32)) * random.random()
    loss = model(inputs).square().mean()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(loss.item())
print_fingerprint(model, optimizers=(optimizer,))
