from __future__ import annotations

import pickle

import pytest
import torch

from heaps import census
from tenure.analysis.watching.owned_blocks import census_of_the_moment, find_owners
from tenure.capture.heap.census import take_census
from tenure.model.allocator import Frame, Snapshot
from tenure.model.heap import Census
from tenure.model.live_block import OwnedBlock
from tenure.model.recording import CensusEntry, HistoryEntry
from tenure.store.torch_snapshot import snapshot_from_bytes
from torch_snapshots import OF_TORCH, UNWINDING, block, frame, snapshot

OWN = frame("forward", "/p/model.py", 12)
OWN_FRAME = Frame("forward", "/p/model.py", 12)


def read(*blocks: dict[str, object]) -> Snapshot:
    return snapshot_from_bytes(pickle.dumps(snapshot(*blocks)), "test")


def owners(taken: Census | None, *blocks: dict[str, object]) -> list[tuple[object, ...]]:
    return [(each.owner, each.path, each.role, each.frame) for each in find_owners(read(*blocks), taken)]


def test_each_block_has_a_path_a_stack_or_a_native_owner() -> None:
    taken = census(
        """
        main.history -> list -> [0] tensor#kept 1KiB cuda pointer=0x1000
        main.weight -> Parameter#w 512B parameter cuda pointer=0x1400
        """
    )
    found = read(
        block(0x1000, 1024, frames=[OWN]),
        block(0x1400, 512),
        block(0x1600, 256, frames=[UNWINDING, OF_TORCH, OWN]),
        block(0x1700, 128, state="active_pending_free"),
        block(0x1780, 4096, state="inactive"),
    )

    assert find_owners(found, taken) == (
        OwnedBlock(
            0, 0x1000, 1024, 1012, False, "path", ("global `history` in main (main.py)", "[0]"), "other", OWN_FRAME
        ),
        OwnedBlock(0, 0x1400, 512, 500, False, "path", ("global `weight` in main (main.py)",), "parameter", None),
        OwnedBlock(0, 0x1600, 256, 244, False, "stack", frame=OWN_FRAME),
        OwnedBlock(0, 0x1700, 128, 116, True, "native"),
    )


def test_the_program_s_own_frame_is_told_else_python_s_never_c_s() -> None:
    stacks = [[UNWINDING, OF_TORCH, OWN], [UNWINDING, OF_TORCH], [UNWINDING]]

    told = owners(None, *(block(0x1000 + 512 * at, 512, frames=frames) for at, frames in enumerate(stacks)))

    of_torch = Frame(OF_TORCH["name"], OF_TORCH["filename"], OF_TORCH["line"])
    assert told == [("stack", (), "", OWN_FRAME), ("stack", (), "", of_torch), ("unknown", (), "", None)]


def test_of_several_storages_in_a_block_the_largest_that_a_root_holds_is_its_own() -> None:
    taken = census(
        """
        main.small -> tensor#a 64B cuda pointer=0x1000
        main.large -> tensor#b 128B cuda pointer=0x1040
        island -> tensor#c 256B cuda pointer=0x1100
        main.unknown -> tensor#d 8B
        """
    )

    assert owners(taken, block(0x1000, 512)) == [("path", ("global `large` in main (main.py)",), "other", None)]
    assert owners(taken, block(0x1100, 512)) == [("native", (), "", None)]


def test_only_a_census_of_the_same_moment_names_owners() -> None:
    def entry(step: int, moment: str) -> CensusEntry:
        return CensusEntry(step, moment, f"{step}-{moment}", 0.1, 5)

    def history(step: int, reason: str) -> HistoryEntry:
        return HistoryEntry(step, reason, "a.pickle", 0, 0.1)

    censuses = [entry(4, "step-end"), entry(4, "forward-entry"), entry(4, "out-of-memory"), entry(8, "forward-entry")]

    assert census_of_the_moment(history(4, "trend"), censuses) == censuses[0]
    assert census_of_the_moment(history(4, "out-of-memory"), censuses) == censuses[2]
    assert census_of_the_moment(history(4, "out-of-memory-2"), censuses) is None
    assert census_of_the_moment(history(8, "exit"), censuses) is None
    assert census_of_the_moment(history(5, "trend"), censuses) is None


@pytest.mark.slow
def test_a_real_census_names_the_owner_of_every_block_whose_address_a_tensor_has() -> None:
    kept = [torch.zeros(1000 + at) for at in range(4)]
    view = torch.zeros(5000)[100:]
    taken = take_census(step=1, moment="request")

    storages = [tensor.untyped_storage() for tensor in [*kept, view]]
    blocks = [snapshot(block(storage.data_ptr(), storage.nbytes())) for storage in storages]
    found = blocks[0] | {"segments": [each["segments"][0] for each in [*blocks, snapshot(block(0x10, 64))]]}
    told = find_owners(snapshot_from_bytes(pickle.dumps(found), "test"), taken)

    assert [owned.address for owned in told[:-1]] == [storages[at].data_ptr() for at in (4, 3, 2, 1, 0)]
    assert [owned.path[-1] for owned in told[1:-1]] == ["[3]", "[2]", "[1]", "[0]"]
    assert "local variable `view`" in told[0].path[0]
    assert told[-1].owner == "native"
