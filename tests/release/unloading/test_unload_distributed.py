"""Modules whose parameters are made of parts on several ranks: DTensor, and FSDP of both kinds."""

from __future__ import annotations

import pytest
import torch

from release.two_ranks import printed_by_two_ranks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch was built without torch.distributed"),
]

HEAD = """
import sys, torch, tenure, torch.distributed as distributed
from torch import nn
rank, port = int(sys.argv[1]), sys.argv[2]
distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
mesh = distributed.device_mesh.init_device_mesh("cpu", (2,))
from torch.distributed.tensor import Shard, distribute_tensor
def sharded(*layers):
    for layer in layers:
        layer.weight = nn.Parameter(distribute_tensor(layer.weight.data, mesh, [Shard(0)]))
    return nn.Sequential(*layers)
def tell(outcome):
    print(outcome.complete, outcome.freed_bytes, outcome.expected_bytes, [each.bytes for each in outcome.survivors])
"""
TAIL = """
distributed.barrier()
distributed.destroy_process_group()
"""
SHARE = 64 * 64 * 4 // 2


def test_each_rank_gives_back_its_share_of_a_distributed_tensor() -> None:
    program = """
model = sharded(nn.Linear(64, 64, bias=False), nn.Linear(64, 64, bias=False))
weight = model[0].weight
tell(tenure.release(model))
del weight
tell(tenure.release(model))
"""
    told = [f"False {SHARE} {2 * SHARE} [{SHARE}]", "True 0 0 []"]
    assert printed_by_two_ranks(HEAD + program + TAIL) == [told, told]


def test_a_distributed_weight_that_is_shared_is_kept_and_with_force_taken_whole() -> None:
    program = """
model, other = sharded(nn.Linear(64, 64, bias=False)), nn.Linear(64, 64, bias=False)
other.weight = model[0].weight
outcome = tenure.release(model)
print(len(outcome.kept))
tell(outcome)
tell(tenure.release(model, force=True))
"""
    told = ["1", "True 0 0 []", f"True {SHARE} {SHARE} []"]
    assert printed_by_two_ranks(HEAD + program + TAIL) == [told, told]


def test_fully_sharded_modules_go_with_their_optimizer_gradients_and_hooks() -> None:
    program = """
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
def second(model):
    return fully_shard(model, mesh=mesh)
def first(model):
    return FullyShardedDataParallel(model, device_id=torch.device("cpu"))
for shard in (second, first):
    model = shard(nn.Sequential(nn.Linear(64, 64, bias=False)))
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    model(torch.ones(2, 64)).sum().backward()
    optimizer.step()
    try:
        tenure.release(model)
    except tenure.ReleaseError as error:
        print("Adam" in str(error))
    outcome = tenure.release(model, optimizer)
    print(outcome.complete, outcome.freed_bytes >= 4 * SHARE, len(optimizer.state))
"""
    told = ["True", "True True 0"] * 2
    assert printed_by_two_ranks(HEAD + f"SHARE = {SHARE}" + program + TAIL) == [told, told]
