"""What helpers do that were made before CUDA was started, and where all of the device's memory goes back."""

from __future__ import annotations

import json
from dataclasses import asdict

import torch

import tenure


def counted() -> list[int]:
    return [torch.cuda.memory_allocated(), torch.cuda.memory_reserved()]


answer = {}
policy = tenure.TrimPolicy(pressure=0, unused=0)

pool = tenure.TensorPool()
first = pool.take((1024,), pinned=True)
address = first.data_ptr()
was_kept = pool.give_back(first)
del first
again, plain = pool.take((1024,), pinned=True), pool.take((1024,))
answer["pinned"] = [was_kept, again.data_ptr() == address, again.is_pinned(), plain.is_pinned()]

model = torch.nn.Module()
model.weight = torch.nn.Parameter(torch.zeros(8 << 20, device="cuda"))
torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
before = counted()
step = policy.step()
answer["trim"] = {"devices": [asdict(each) for each in step.devices], "torch": [before, counted()]}

before = counted()
outcome = tenure.release(model)
rows = [asdict(each) for each in outcome.devices if each.device == "cuda:0"]
answer["release"] = {"devices": rows, "complete": outcome.complete, "torch": [before, counted()]}

tensor = torch.zeros(8 << 20, device="cuda")
before = counted()
with tenure.expect_freed(tensor) as block:
    del tensor
rows = [asdict(each) for each in block.outcome.devices if each.device == "cuda:0"]
answer["expect_freed"] = {"devices": rows, "torch": [before, counted()]}
print(json.dumps(answer))
