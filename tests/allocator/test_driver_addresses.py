"""Segments lie where the driver was seen to lay them in recorded traces."""

from __future__ import annotations

import pytest

from allocator.test_recorded_on_cuda import NAMES, recorded, snapshot_of
from tenure.allocator.driver_addresses import HIGHEST, REGION, DriverAddresses, first_regions
from tenure.allocator.earlier_state import EarlierSegment, EarlierState
from tenure.allocator.settings import MIB
from tenure.model.allocator import Action

PLAIN = [name for name in NAMES if name not in ("graphs", "pools_dropped", "streams", "training_collected")]
"""The others load kernels and make streams, for which the driver begins regions that are in no trace."""
FIRST_SMALL, FIRST_LARGE = HIGHEST + 30 * MIB, HIGHEST + 40 * MIB


def test_the_first_segments_lie_in_what_the_context_has_left_and_others_below() -> None:
    addresses = DriverAddresses()

    found = [addresses.take(size * MIB) for size in (2, 20, 52, 12, 20, 2)]

    assert found[:2] == [FIRST_SMALL, FIRST_LARGE]
    assert found[2] == HIGHEST - 2 * REGION
    assert found[3] == found[2] + 52 * MIB  # it fills the region
    assert found[4:] == [found[2] - REGION, found[2] - REGION + 20 * MIB]


def test_the_closest_fit_in_the_newest_region_is_taken() -> None:
    addresses = DriverAddresses()
    for size in (2, 24, 20):  # what the context has left, and a region that is not the newest
        addresses.take(size * MIB)
    newest, beside = addresses.take(44 * MIB), addresses.take(10 * MIB)
    addresses.give_back(newest, 44 * MIB)

    assert beside == newest + 44 * MIB
    assert addresses.take(8 * MIB) == newest + 54 * MIB
    assert addresses.take(12 * MIB) == newest


def test_an_empty_region_goes_and_its_gap_is_taken_from_above_with_a_region_to_spare() -> None:
    addresses = DriverAddresses()
    blocks = [addresses.take(size * MIB) for size in (32, 96, 32)]
    addresses.give_back(blocks[1], 96 * MIB)

    assert addresses.take(96 * MIB) == blocks[2] - 3 * REGION  # exactly as large as the gap
    assert addresses.take(64 * MIB) == blocks[0] - 2 * REGION


def test_what_the_lowest_region_leaves_is_given_again() -> None:
    addresses = DriverAddresses()
    lowest = addresses.take(96 * MIB)
    addresses.give_back(lowest, 96 * MIB)

    assert addresses.take(96 * MIB) == lowest


def test_segments_before_a_trace_make_regions_that_are_known_from_the_first_of_them_on() -> None:
    base = 0x7F0000000000
    segments = tuple(
        EarlierSegment(base + place * MIB, size * MIB, 0, size == 2, 0) for place, size in ((8, 20), (64, 40), (104, 2))
    )

    below, regions = first_regions(EarlierState(segments, ()), 0)

    assert below == base
    assert regions == ((base + 64 * MIB, base + 128 * MIB), (base + 8 * MIB, base + REGION))


@pytest.mark.parametrize("name", recorded(PLAIN))
def test_within_regions_recorded_segments_lie_where_they_are_predicted(name: str) -> None:
    """Where new regions lie is not compared: what else maps memory may have moved them."""
    events = snapshot_of(name).traces[0]
    addresses, predicted = DriverAddresses(), {}
    columns = (events.action.tolist(), events.address.tolist(), events.bytes.tolist())
    for action, address, size in zip(*columns, strict=True):
        if action == Action.SEGMENT_ALLOC:
            predicted[address] = addresses.take(size)
            assert predicted[address] % REGION == address % REGION
        elif action == Action.SEGMENT_FREE:
            addresses.give_back(predicted.pop(address), size)
