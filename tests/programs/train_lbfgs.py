"""An optimizer that calls the model itself, through a closure, many times per step."""

import torch
from fingerprint import print_fingerprint, seed
from torch import nn

seed()
model = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6, line_search_fn="strong_wolfe")
inputs = torch.randn(32, 3)
targets = inputs.prod(dim=1, keepdim=True)
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    return loss


for _ in range(12):
    print(optimizer.step(closure).item(), calls)
print_fingerprint(model, optimizers=(optimizer,))
