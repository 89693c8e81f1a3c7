"""Runs out of a real device's memory, 400 MiB being allowed, with a last recording written to the folder given."""

from __future__ import annotations

import json
import sys

import torch
from limited import allow

import tenure

allowed = allow(400)
weight = torch.ones(4 << 20, device="cuda", requires_grad=True)  # 16 MiB
history = [torch.ones(8 << 20, device="cuda") for _ in range(4)]  # 128 MiB


def step(copies: int) -> float:
    hidden = weight * 2
    outputs = [hidden.exp()]
    while len(outputs) < copies:
        outputs.append(outputs[-1] * 0.5)
    return outputs[-1].sum().item()


steps = []
for copies in (2, 40, 2):
    before = torch.cuda.memory_allocated()
    guard = tenure.oom_guard(then="skip", record=sys.argv[1])
    with guard:
        result = step(copies)
    steps.append([guard.happened, torch.cuda.memory_allocated() - before])
    if guard.happened:
        did, note = guard.outcome.did, guard.outcome.notes[0]
print(json.dumps({"allowed": allowed, "steps": steps, "did": did, "note": note}))
