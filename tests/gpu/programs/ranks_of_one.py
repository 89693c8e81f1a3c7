"""Data parallel training of one rank over NCCL: the reducer's buckets belong to no tensor of the program's."""

import os
import socket

import torch
from torch import nn

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free.getsockname()[1]), RANK="0", WORLD_SIZE="1")
torch.distributed.init_process_group("nccl")
model = nn.parallel.DistributedDataParallel(nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(20):
    loss = model(torch.randn(16, 1024, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.distributed.destroy_process_group()
