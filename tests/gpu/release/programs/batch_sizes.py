"""The largest batch for a process that may take 300 MiB: of a step that only takes memory, and of one that trains."""

from __future__ import annotations

import json
from typing import Any

import torch
from limited import allow

import tenure


def take(batch_size: int) -> None:
    torch.empty(batch_size * (8 << 20), dtype=torch.uint8, device="cuda")


def told(found: Any) -> dict[str, Any]:
    return {
        "batch_size": found.batch_size,
        "is_limit": found.is_limit,
        "limit_bytes": found.limit_bytes,
        "leaks": [str(each) for each in found.leaks],
        "survivors": [str(each) for each in found.survivors],
        "tries": [[each.size, each.fits, each.peak_bytes, each.left_bytes, each.error] for each in found.tries],
        "torch": [torch.cuda.memory_allocated(), torch.cuda.memory_reserved()],
        "num_ooms": torch.cuda.memory_stats()["num_ooms"],
    }


answer = {"allowed": allow(300), "take": told(tenure.find_batch_size(take, margin=0))}
answer["by_default"] = told(tenure.find_batch_size(take))

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 8)).cuda()
optimizer = torch.optim.Adam(model.parameters())


def train(batch_size: int) -> None:
    loss = model(torch.randn(batch_size, 1024, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def fits(batch_size: int) -> bool:
    torch.cuda.empty_cache()
    try:
        train(batch_size)
    except torch.OutOfMemoryError:
        return False
    return True


found = tenure.find_batch_size(train)
answer["train"] = told(found)
answer["train"]["again"] = [fits(found.batch_size), fits(2 * found.batch_size)]
print(json.dumps(answer))
