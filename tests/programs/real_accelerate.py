"""A loop with accelerate and gradient accumulation. Argument: healthy or average (a moving average keeps the graph)."""

import sys

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main(kind):
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(TensorDataset(torch.randn(192, 64)), batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    total = 0.0
    for (inputs,) in loader:
        with accelerator.accumulate(model):
            loss = model(inputs).square().mean()
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        if kind == "average":
            total = total + loss
        else:
            total += loss.item()
    print(float(total))


main(sys.argv[1])
