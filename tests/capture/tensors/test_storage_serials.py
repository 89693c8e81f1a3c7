from __future__ import annotations

import torch

from tenure.capture.heap.census import take_census
from tenure.capture.tensors.storage_serials import StorageSerials
from tenure.model.heap import Census


def test_a_storage_keeps_its_serial_and_none_gets_that_of_a_dead_one() -> None:
    serials, addresses, seen = StorageSerials(), set(), []
    kept = torch.zeros(1000)
    for _ in range(50):
        passing = torch.zeros(1000)
        addresses.add(passing.untyped_storage()._cdata)
        seen.append((serials.of(kept.untyped_storage()), serials.of(passing.untyped_storage())))
        del passing

    assert len(addresses) < 50  # some lay where another had lain
    assert seen == [(1, number) for number in range(2, 52)]


def test_of_storages_that_are_gone_nothing_is_kept() -> None:
    serials = StorageSerials()
    kept, passing = torch.zeros(10), torch.zeros(10)
    serials.of(kept.untyped_storage()), serials.of(passing.untyped_storage())
    del passing

    serials.forget_dead()

    assert (len(serials._alive), serials._serials) == (1, {kept.untyped_storage()._cdata: 1})


def test_views_and_new_tensors_of_one_storage_have_its_serial_in_later_censuses() -> None:
    memory = torch.zeros(12_345)
    first = _serial_of(take_census(step=1, moment="request"), memory)
    view = memory[5:].view(-1)
    del memory
    second = _serial_of(take_census(step=2, moment="request"), view)

    assert first == second > 0


def _serial_of(census: Census, tensor: torch.Tensor) -> int:
    row = census.nodes.address[census.storages.node].tolist().index(tensor.untyped_storage()._cdata)
    return int(census.storages.serial[row])


def test_a_census_tells_how_often_operations_in_place_wrote_to_a_storage() -> None:
    memory, unchanged = torch.zeros(12_345), torch.zeros(12_345)
    with torch.inference_mode():
        uncounted = torch.zeros(12_345).add_(1)
    memory.add_(1)
    memory.view(5, -1).detach()[2].mul_(2)
    census = take_census(step=1, moment="request")

    assert [_version_of(census, each) for each in (memory, unchanged, uncounted)] == [2, 0, 0]


def _version_of(census: Census, tensor: torch.Tensor) -> int:
    row = census.nodes.address[census.storages.node].tolist().index(tensor.untyped_storage()._cdata)
    return int(census.storages.version[row])


def test_what_a_copy_sees_first_has_a_serial_that_its_process_never_gives() -> None:
    serials = StorageSerials()
    known, later = torch.ones(1), torch.ones(1)
    before = serials.of(known.untyped_storage())

    serials.begin_apart()

    assert (before, serials.of(known.untyped_storage())) == (1, 1)
    assert serials.of(later.untyped_storage()) > 1 << 40
