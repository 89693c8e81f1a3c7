"""Trains on two ranks over gloo, as torchrun starts them; the last argument says what else happens.

Prints one line per rank: how often each function of torch.distributed was called from anywhere.
"""

import os
import sys
import time
from collections import Counter
from pathlib import Path

import torch
import torch.distributed as distributed

COLLECTIVES = [
    "all_reduce", "all_gather", "all_gather_object", "barrier", "broadcast", "broadcast_object_list", "gather",
    "new_group", "reduce", "reduce_scatter", "scatter", "send", "recv", "isend", "irecv", "all_to_all",
]  # fmt: skip
calls = Counter()


def count(name):
    original = getattr(distributed, name)

    def counted(*args, **kwargs):
        calls[name] += 1
        return original(*args, **kwargs)

    setattr(distributed, name, counted)


for name in COLLECTIVES:
    count(name)
what = sys.argv[1] if len(sys.argv) > 1 else ""
rank = int(os.environ["RANK"])
if what != "restart":  # gloo itself may not come back
    distributed.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
kept = []
for step in range(1, 25):
    loss = model(torch.randn(8, 64)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    if what != "restart":
        distributed.all_reduce(model.weight.grad)
    optimizer.step()
    if what == "leak" and rank == 1:
        kept.append(torch.ones(1 << 16))
    if what == "restart" and step == 12 and rank == 0:
        Path("twelve-steps-of-rank-0").touch()
    if what == "restart" and step == 12 and rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        while not Path("twelve-steps-of-rank-0").exists():
            time.sleep(0.05)
        os._exit(3)
os.write(1, f"rank {rank} {dict(calls)} {model.weight.sum().item().hex()}\n".encode())  # whole, beside the other's
if what != "restart":
    distributed.destroy_process_group()
