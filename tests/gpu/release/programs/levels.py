"""Takes known amounts of the device's memory, and says what `tenure.memory()` and torch make of them."""

from __future__ import annotations

import json
from dataclasses import asdict

import torch

import tenure

kept = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
views = [kept[:10], kept.view(2, -1)]
small = torch.ones(1000, device="cuda")
torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
report = tenure.memory()
(device,) = report.devices
answer = {
    "tensors": [asdict(each) for each in report.tensors if each.device != "cpu"],
    "device": asdict(device),
    "cache": device.cache_bytes,
    "context": device.context_bytes,
    "others": device.other_bytes,
    "lines": str(report).splitlines(),
    "torch": [torch.cuda.get_device_name(), torch.cuda.memory_allocated(), torch.cuda.memory_reserved()],
}
print(json.dumps(answer))
