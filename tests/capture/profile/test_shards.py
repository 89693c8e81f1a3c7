from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import distributed
from torch.testing._internal.distributed.fake_pg import FakeStore

from tenure.capture.profile.shards import are_fake_beside_shards, are_sharded, parts_of
from tenure.capture.tensors.storages import bytes_of, is_wrapper


@pytest.fixture
def shard() -> Iterator[torch.Tensor]:
    """Two of eight rows."""
    from torch.distributed.tensor import Shard, distribute_tensor, init_device_mesh

    distributed.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
    try:
        yield distribute_tensor(torch.randn(8, 16), init_device_mesh("cpu", (4,)), [Shard(0)])
    finally:
        distributed.destroy_process_group()


def test_of_a_shard_its_own_part_takes_memory(shard: torch.Tensor) -> None:
    (local,) = parts_of(shard)

    assert (tuple(shard.shape), tuple(local.shape), type(local)) == ((8, 16), (2, 16), torch.Tensor)
    assert (bytes_of(shard), bytes_of(local)) == (None, 2 * 16 * 4)
    assert (is_wrapper(shard), is_wrapper(local)) == (True, False)


def test_shards_are_told_from_tensors_by_their_class(shard: torch.Tensor) -> None:
    parameter = torch.nn.Parameter(shard)

    assert are_sharded([torch.Tensor, type(parameter)])
    assert not are_sharded([torch.Tensor, torch.nn.Parameter])
    assert not are_sharded([])


def test_tensors_are_their_own_parts() -> None:
    tensor = torch.ones(2)

    (own,) = parts_of(tensor)
    assert own is tensor


def test_fake_tensors_beside_shards_are_told(shard: torch.Tensor) -> None:
    from torch._subclasses.fake_tensor import FakeTensor

    assert are_fake_beside_shards([FakeTensor])
    assert not are_fake_beside_shards([type(shard)])
