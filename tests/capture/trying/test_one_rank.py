from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
from tenure.capture.trying.one_rank import stand_for_rank

stand_for_rank(4)

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh

distributed.init_process_group(backend="nccl", timeout=None)
pair = distributed.new_group([0, 1], backend="gloo")
print(distributed.get_rank(), distributed.get_world_size(), distributed.get_backend(), pair.size())
print(init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model")).size(1))
model = nn.parallel.DistributedDataParallel(nn.Linear(2, 3))
model.register_comm_hook(None, lambda state, bucket: 1 / 0)
distributed.barrier()
loss = model(torch.ones(5, 2)).sum()
loss.backward()
print(model.module.bias.grad.tolist())
"""


@pytest.mark.slow
def test_whatever_group_the_program_asks_for_this_process_is_the_first_of_it() -> None:
    child = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)

    assert child.stdout.splitlines() == ["0 4 fake 2", "2", "[5.0, 5.0, 5.0]"], child.stderr
