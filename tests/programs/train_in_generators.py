"""The loop lives in suspended generators; its batches come from another, and an exception goes through them."""

import contextlib

import torch
from fingerprint import print_fingerprint, seed
from torch import nn


def batches(count):
    for number in range(count):
        batch = torch.randn(4, 6)
        try:
            yield number, batch
        except ValueError:
            print("batch refused", number, batch.sum().item())
            yield number, batch * 0


def losses(model, optimizer, source):
    for number, batch in source:
        if number % 7 == 6:
            _, batch = source.throw(ValueError("again"))
        loss = model(batch).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss


@contextlib.contextmanager
def frozen(module):
    module.requires_grad_(False)
    yield module
    module.requires_grad_(True)


seed()
model = nn.Sequential(nn.Linear(6, 12), nn.ELU(), nn.Linear(12, 1))
optimizer = torch.optim.Adagrad(model.parameters())
for loss in losses(model, optimizer, batches(24)):
    with frozen(model[0]):
        print(loss.item(), model(torch.ones(1, 6)).item())
print_fingerprint(model, optimizers=(optimizer,))
