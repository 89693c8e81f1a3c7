"""Training whose steps take as long as those of large models, for what is sampled beside them."""

import time

import torch

model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(12):
    model(torch.randn(64, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    time.sleep(0.5)
