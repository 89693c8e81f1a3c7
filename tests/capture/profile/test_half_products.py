"""In a process of its own: what is registered with torch stays until it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import torch
from tenure.capture.profile import half_products

half_products._halves = lambda: [(torch.bfloat16, False), (torch.float16, True)]
torch.manual_seed(0)
HALVES = torch.bfloat16, torch.float16
TYPES = (*HALVES, torch.float32, torch.int64)


def products(dtype):
    x, y = torch.arange(12).reshape(3, 4).to(dtype), torch.arange(20).reshape(4, 5).to(dtype)
    xs, ys, row = torch.stack([x, -x]), torch.stack([y, y]), torch.ones(5, dtype=dtype)
    return [x @ y, (y.T @ x.T).T, torch.addmm(row, x, y, beta=2, alpha=3), xs @ ys, torch.baddbmm(row, xs, ys, beta=2)]


before = [products(dtype) for dtype in TYPES]
half_products.multiply_halves_as_floats()
half_products.multiply_halves_as_floats()
after = [products(dtype) for dtype in TYPES]
assert all(
    torch.equal(one, other) and one.dtype == other.dtype and one.stride() == other.stride()
    for ones, others in zip(before, after) for one, other in zip(ones, others)
)

layer, kept = torch.nn.Linear(64, 32, dtype=torch.bfloat16), []
x = torch.randn(16, 64, dtype=torch.bfloat16, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor):
    y = layer(x)
y.sum().backward()
print(*((str(each.dtype), tuple(each.shape)) for each in (*kept, y, x.grad, layer.weight.grad)))
rounded = (x.detach().double() @ layer.weight.detach().double().T).bfloat16()
print(torch.equal(torch.mm(x.detach(), layer.weight.detach().T), rounded))
try:
    torch.mm(torch.ones(3, 4), torch.ones(3, 4))
except RuntimeError as error:
    print(error)
"""


@pytest.mark.slow
def test_products_of_halves_are_rounded_ones_of_floats_and_others_are_torchs() -> None:
    run = subprocess.run([sys.executable, "-W", "error", "-c", PROGRAM], capture_output=True, text=True, check=False)

    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "('torch.bfloat16', (16, 64)) ('torch.bfloat16', (64, 32)) ('torch.bfloat16', (16, 32)) "
        "('torch.bfloat16', (16, 64)) ('torch.bfloat16', (32, 64))",
        "True",
        "mat1 and mat2 shapes cannot be multiplied (3x4 and 3x4)",
    ]
