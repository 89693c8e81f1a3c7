from __future__ import annotations

import torch

from tenure.capture.profile.resized_storages import call_at_resizes


def test_each_change_of_size_is_told_until_it_is_restored() -> None:
    told: list[tuple[int, int, bool]] = []
    storage = torch.empty(8).untyped_storage()
    restore = call_at_resizes(lambda each, size, gathers: told.append((each._cdata, size, gathers)))
    try:
        assert storage.resize_(0) is storage
        storage.resize_(0)
        storage.resize_(64)
    finally:
        restore()
    storage.resize_(0)

    assert told == [(storage._cdata, 0, False), (storage._cdata, 64, False)]


def test_what_fsdp_gathers_a_parameter_in_is_told_as_such() -> None:
    from torch.distributed.fsdp._fully_shard._fsdp_param import alloc_storage, free_storage

    told: list[tuple[int, bool]] = []
    tensor = torch.empty(8)
    restore = call_at_resizes(lambda _, size, gathers: told.append((size, gathers)))
    try:
        free_storage(tensor)
        alloc_storage(tensor)
    finally:
        restore()

    assert told == [(0, True), (32, True)]
