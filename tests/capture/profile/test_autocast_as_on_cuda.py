"""In a process of its own: what is registered with torch stays until it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import torch
from torch.nn import functional as F
from tenure.capture.profile.autocast_as_on_cuda import autocast_as_on_cuda

autocast_as_on_cuda()
autocast_as_on_cuda()
x = torch.randn(2, 8, dtype=torch.bfloat16, requires_grad=True)
norm = torch.nn.LayerNorm(8)
with torch.autocast("cpu", dtype=torch.bfloat16):
    made = [norm(x), x.softmax(1), F.log_softmax(x, 1), x.sum(), x.sum(1, dtype=torch.bfloat16), F.relu(x), x @ x.T,
            x.exp(), F.softplus(x), (x * x).pow(0.5), torch.softmax(x.double(), 1), x.cumsum(0), x.long().sum()]
print(*(str(each.dtype).removeprefix("torch.") for each in made))
made[0].sum().backward()
print(x.grad.dtype, x.softmax(1).dtype)
"""


@pytest.mark.slow
def test_norms_softmax_and_sums_are_in_float32_as_on_cuda_and_nothing_without_autocast() -> None:
    run = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False)

    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "float32 float32 float32 float32 bfloat16 bfloat16 bfloat16 float32 float32 float32 float64 float32 int64",
        "torch.bfloat16 torch.bfloat16",
    ]
