"""Calls helpers in a process that has not started CUDA, and says what they saw and whether it has now."""

from __future__ import annotations

import json

import torch

import tenure

report = tenure.memory()
caches = [each.name for each in tenure.caches()]
outcome = tenure.clear_caches("cufft", "cublas", "pinned", "allocator")
meter = tenure.LossMeter()
meter.update(0.5)
meter.read()
with tenure.step_scope() as scope:
    loss = torch.ones(3, requires_grad=True).sum()
policy = tenure.TrimPolicy(pressure=0)
step = policy.step()
tensor = torch.ones(3)
with tenure.expect_freed(tensor):
    del tensor
released = tenure.release(torch.nn.Linear(2, 2))
answer = {
    "devices": len(report.devices),
    "caches": caches,
    "kept": outcome.kept,
    "trim": [step.trimmed, step.reason],
    "released": [each.device for each in released.devices],
    "is_initialized": torch.cuda.is_initialized(),
}
print(json.dumps(answer))
