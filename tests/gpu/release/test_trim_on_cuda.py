"""TrimPolicy on a device: what it says went is what torch's allocator gave back, and what pins a segment is named."""

from __future__ import annotations

import torch

import tenure
from gpu.release.devices import DEVICE, MIB, counted, does_not_wait, taken
from tenure.release.caching.shared_segments import who_keeps_segments
from tenure.release.caching.trim import AllocatorReading, read_cuda
from tenure.release.outcome import DeviceBytes


def reading() -> AllocatorReading:
    found = read_cuda(torch.device(DEVICE))
    assert found is not None
    return found


def test_what_a_trim_says_went_is_what_torch_gave_back() -> None:
    held = taken(16)
    taken(64)
    allocated, reserved = counted()
    policy = tenure.TrimPolicy(pressure=0)
    outcome = policy.step()
    after = torch.cuda.memory_reserved()

    assert (outcome.trimmed, outcome.step, outcome.freed_bytes, reserved - after) == (True, 1, 64 * MIB, 64 * MIB)
    assert outcome.devices == (DeviceBytes(DEVICE, allocated, allocated, None, None, reserved, after),)
    assert outcome.reason.endswith("of the device were used, 64.00 MiB could go")
    assert (policy.ledger.num_trims, policy.ledger.freed_bytes, policy.ledger.taken_back_bytes) == (1, 64 * MIB, 0)
    assert [each for each in outcome.survivors if "held" in "".join(each.path)] == []
    assert len(held) == 16 * MIB


def test_memory_that_is_taken_again_is_told_and_makes_the_policy_rest() -> None:
    policy = tenure.TrimPolicy(pressure=0, unused=0, rest=2)
    outcomes = []
    for _ in range(3):
        taken(64)
        outcomes.append(policy.step())

    assert [each.trimmed for each in outcomes] == [True, False, True]
    assert outcomes[1].reason == "resting until step 3 after the last trim"
    assert (policy.ledger.freed_bytes, policy.ledger.taken_back_bytes) == (128 * MIB, 64 * MIB)


def test_a_tensor_that_pins_a_segment_is_named_with_who_holds_it_and_the_segment_goes_with_it() -> None:
    stuck_before = reading().stuck_bytes
    wide = taken(4)
    small = {"kept": taken(2)}
    del wide
    taken(64)
    stuck = reading().stuck_bytes - stuck_before
    outcome = tenure.TrimPolicy(pressure=0, unused=0).step()
    (survivor,) = (each for each in outcome.survivors if "small" in "".join(each.path))
    small.clear()
    after = tenure.TrimPolicy(pressure=0, unused=0).step()

    assert (outcome.freed_bytes, stuck) == (64 * MIB, 18 * MIB)
    assert (survivor.what, survivor.device, survivor.bytes, survivor.num_storages) == (
        "a tensor [2097152] uint8",
        DEVICE,
        2 * MIB,
        1,
    )
    assert "small" in survivor.cut[0]
    assert after.freed_bytes == 20 * MIB
    assert [each for each in after.survivors if "small" in "".join(each.path)] == []


def test_the_holders_of_segments_are_those_of_the_devices_asked_for() -> None:
    wide = taken(4)
    small = [taken(2)]
    del wide

    assert [each.bytes for each in who_keeps_segments([DEVICE]) if "small" in "".join(each.path)] == [2 * MIB]
    assert who_keeps_segments(["cuda:7", "cpu"]) == ()
    assert len(small) == 1


def test_a_reading_is_what_torch_and_the_driver_count() -> None:
    held = taken(16)
    taken(64)
    found, stats = reading(), torch.cuda.memory_stats()

    assert (found.reserved_bytes, found.active_bytes, found.stuck_bytes) == (
        stats["reserved_bytes.all.current"],
        stats["active_bytes.all.current"],
        stats["inactive_split_bytes.all.current"],
    )
    assert found.free_cache_bytes == 64 * MIB
    assert found.total_bytes == torch.cuda.mem_get_info()[1]
    assert found.reserved_bytes <= found.used_bytes <= found.total_bytes
    assert len(held) == 16 * MIB


def test_a_step_that_gives_nothing_back_waits_for_nothing() -> None:
    policy = tenure.TrimPolicy(pressure=1)

    assert does_not_wait(policy.step)
    assert (policy.ledger.num_steps, policy.ledger.num_trims) == (2, 0)
