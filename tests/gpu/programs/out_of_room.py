"""Keeps every output with its graph until its share of the device is used up."""

import torch
from torch import nn

free, total = torch.cuda.mem_get_info()
torch.cuda.set_per_process_memory_fraction(600 * 2**20 / total)
model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1024)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
history = []
for step in range(200):
    output = model(torch.randn(2048, 1024, device="cuda"))
    loss = output.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(output)
