from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tenure.capture.faking.fake_memory import FakeMemory, begin_fake_memory
from tenure.capture.tensors.storages import bytes_of

WIDTH = 1024


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    made = begin_fake_memory()
    yield made
    made.end()


def test_a_file_of_weights_is_read_without_its_data(tmp_path: Path) -> None:
    file = tmp_path / "weights.pt"
    torch.save({"weight": torch.ones(WIDTH, WIDTH), "few": torch.ones(2)}, file)

    memory = begin_fake_memory()
    try:
        read = torch.load(file)
        model = nn.Linear(WIDTH, WIDTH, bias=False)
        model.load_state_dict({"weight": read["weight"]})
    finally:
        memory.end()

    assert [(memory.is_fake(each), tuple(each.shape)) for each in read.values()] == [(True, (1024, 1024)), (True, (2,))]


def test_a_small_file_is_read_with_its_values(tmp_path: Path) -> None:
    torch.save([3, torch.tensor([1, 2])], tmp_path / "lengths.pt")

    memory = begin_fake_memory()
    try:
        number, lengths = torch.load(tmp_path / "lengths.pt")
    finally:
        memory.end()

    assert (number, lengths.tolist()) == (3, [1, 2])


def test_a_checkpoint_of_fakes_is_small_and_is_read_again(memory: FakeMemory, tmp_path: Path) -> None:
    model = nn.Linear(1 << 16, 1 << 16)
    torch.save(model.state_dict(), tmp_path / "checkpoint.pt")
    model.load_state_dict(torch.load(tmp_path / "checkpoint.pt"))

    assert (tmp_path / "checkpoint.pt").stat().st_size < 20_000


def test_modules_change_their_type_and_are_copied_with_all_that_they_are(memory: FakeMemory) -> None:
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH)).to(torch.bfloat16)
    copied = copy.deepcopy(model)

    for each in (model, copied):
        weight = each[0].weight
        assert (isinstance(weight, nn.Parameter), weight.requires_grad, bytes_of(weight)) == (True, True, 2 * WIDTH**2)
    assert copied[0].weight.untyped_storage()._cdata != model[0].weight.untyped_storage()._cdata


def test_lazy_modules_have_fake_parameters_at_their_first_call(memory: FakeMemory) -> None:
    model = nn.LazyLinear(5)
    before = model.weight
    model(torch.ones(2, 7))

    assert model.weight is before
    assert (memory.is_fake(before), isinstance(before, nn.Parameter), tuple(before.shape)) == (True, True, (5, 7))


def test_optimizers_take_fakes_in_one_call_as_they_take_others(memory: FakeMemory) -> None:
    model = nn.Linear(4, 4)
    model(torch.ones(1, 4)).sum().backward()

    torch.optim.SGD(model.parameters(), lr=0.1, foreach=True).step()
    torch.optim.AdamW(model.parameters(), fused=True).step()


@pytest.mark.slow
@pytest.mark.parametrize("width", [4, 1 << 18])
def test_workers_that_load_data_hand_over_tensors_of_the_right_size(width: int, memory: FakeMemory) -> None:
    data = TensorDataset(torch.zeros(4, width), torch.arange(4))

    shapes, labels = [], []
    for batch, numbers in DataLoader(data, batch_size=2, num_workers=1):
        shapes.append(tuple(batch.shape))
        labels += numbers.tolist()

    assert (shapes, labels) == ([(2, width)] * 2, [0, 1, 2, 3])
