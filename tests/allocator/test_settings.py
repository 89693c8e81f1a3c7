"""Settings are parsed as torch parses them, and sizes are rounded as torch rounds them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.allocator.settings import MIB, NO_LIMIT, AllocatorSettings, parse_settings, settings_of_snapshot
from tenure.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", AllocatorSettings()),
        ("expandable_segments:True", AllocatorSettings(expandable_segments=True)),
        ("max_split_size_mb:128", AllocatorSettings(max_split_bytes=128 * MIB)),
        (
            " max_split_size_mb : 64 , garbage_collection_threshold:0.8",
            AllocatorSettings(max_split_bytes=64 * MIB, garbage_collection_threshold=0.8),
        ),
        ("roundup_power2_divisions:4", AllocatorSettings(roundup_power2_divisions=(4,) * 16)),
        (
            "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
            AllocatorSettings(roundup_power2_divisions=(1,) * 9 + (2, 4) + (8,) * 5),
        ),
        ("large_segment_size_mb:40", AllocatorSettings(large_segment_bytes=40 * MIB)),
        ("large_segment_size_mb:12", AllocatorSettings(large_segment_bytes=12 * MIB)),
        (
            "large_segment_size_mb:12,max_split_size_mb:12",
            AllocatorSettings(large_segment_bytes=12 * MIB, max_split_bytes=12 * MIB),
        ),
        ("max_non_split_rounding_mb:32", AllocatorSettings(max_non_split_rounding_bytes=32 * MIB)),
        ("per_process_memory_fraction:0.5", AllocatorSettings(memory_fraction=0.5)),
        ("pinned_use_cuda_host_register:True,backend:native", AllocatorSettings()),
    ],
)
def test_a_text_makes_settings(text: str, expected: AllocatorSettings) -> None:
    assert parse_settings(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_split:3", "torch knows no `max_split`"),
        ("max_split_size_mb", "`max_split_size_mb` is given no value; write max_split_size_mb:VALUE"),
        ("max_split_size_mb:19", "max_split_size_mb is 19; torch takes 20 and more"),
        ("large_segment_size_mb:10", "large_segment_size_mb is 10; torch takes 11 and more"),
        ("large_segment_size_mb:64,max_split_size_mb:32", "max_split_size_mb is 32; torch takes 64 and more"),
        ("max_split_size_mb:many", "max_split_size_mb takes a whole number, not `many`"),
        ("expandable_segments:yes", "expandable_segments takes True or False, not `yes`"),
        ("expandable_segments:True max_split_size_mb:64", "torch knows no `expandable_segments`"),
        (
            "garbage_collection_threshold:1.0",
            "garbage_collection_threshold is 1.0; torch takes numbers between 0 and 1",
        ),
        ("garbage_collection_threshold:x", "garbage_collection_threshold takes a number, not `x`"),
        ("roundup_power2_divisions:3", "roundup_power2_divisions takes parts that are powers of two, not 3"),
        ("roundup_power2_divisions:[256:2", "the list of roundup_power2_divisions is not closed by `]`"),
        (
            "roundup_power2_divisions:[300:2]",
            "roundup_power2_divisions takes sizes in MiB that are powers of two, not 300",
        ),
    ],
)
def test_what_torch_refuses_is_refused(text: str, expected: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_settings(text)

    told = str(raised.value)
    assert told.startswith("allocator settings: ")
    if "True max" not in text:
        assert told == f"allocator settings: {expected}"


@given(text=st.text(alphabet="abz_:,[]>0123456789. ", max_size=60))
def test_any_text_gives_settings_or_one_line(text: str) -> None:
    told = ""
    try:
        parse_settings(text)
    except UsageError as error:
        told = str(error)
    assert "\n" not in told


@pytest.mark.parametrize(
    ("asked", "parts", "expected"),
    [
        (1, 0, 512),
        (512, 0, 512),
        (513, 0, 1024),
        (MIB + 1, 0, MIB + 512),
        (1200 * MIB, 4, 1280 * MIB),
        (1024 * MIB, 4, 1024 * MIB),
        (1900 * MIB, 4, 2048 * MIB),
        (2000, 4, 2048),
        (2049, 4, 2560),
    ],
)
def test_sizes_are_rounded_as_torch_rounds_them(asked: int, parts: int, expected: int) -> None:
    assert AllocatorSettings(roundup_power2_divisions=(parts,) * 16).round_bytes(asked) == expected


@given(asked=st.integers(1, 1 << 40), parts=st.sampled_from([0, 1, 2, 4, 8, 16]))
def test_a_rounded_size_holds_what_was_asked_for(asked: int, parts: int) -> None:
    rounded = AllocatorSettings(roundup_power2_divisions=(parts,) * 16).round_bytes(asked)

    assert asked <= rounded < max(2 * asked, 1024)


@pytest.mark.parametrize(
    ("size", "expected"),
    [(512, 2 * MIB), (MIB, 2 * MIB), (MIB + 512, 20 * MIB), (10 * MIB, 10 * MIB), (11 * MIB + 512, 12 * MIB)],
)
def test_segments_have_torchs_sizes(size: int, expected: int) -> None:
    assert AllocatorSettings().segment_bytes(size) == expected


def test_a_snapshots_settings_are_read() -> None:
    told = {
        "PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:32,large_segment_size_mb:30",
        "max_split_size": 32 * MIB,
        "garbage_collection_threshold": 0.5,
        "expandable_segments": True,
        "roundup_power2_divisions": {"1": 2, "2": 0, "32768": 8},
    }

    assert settings_of_snapshot(told) == AllocatorSettings(
        max_split_bytes=32 * MIB,
        garbage_collection_threshold=0.5,
        expandable_segments=True,
        large_segment_bytes=30 * MIB,
        roundup_power2_divisions=(2, *(0,) * 14, 8),
    )


def test_settings_of_a_later_torch_leave_the_others_in_a_snapshot_as_they_are() -> None:
    text = (
        "from_the_future:7, large_segment_size_mb:12,roundup_power2_divisions:[1:2,>:8],per_process_memory_fraction:0.5"
    )

    assert settings_of_snapshot({"PYTORCH_CUDA_ALLOC_CONF": text}) == AllocatorSettings(
        large_segment_bytes=12 * MIB, memory_fraction=0.5
    )


@pytest.mark.parametrize("told", [None, {}, {"max_split_size": -1}, {"PYTORCH_CUDA_ALLOC_CONF": "???"}])
def test_settings_that_are_not_told_are_the_defaults(told: dict[str, object] | None) -> None:
    assert settings_of_snapshot(told) == AllocatorSettings(max_split_bytes=NO_LIMIT)


def test_a_threshold_without_a_fraction_collects_nothing() -> None:
    told = [
        AllocatorSettings(garbage_collection_threshold=0.5),
        AllocatorSettings(memory_fraction=0.5),
        AllocatorSettings(garbage_collection_threshold=0.5, memory_fraction=0.5),
    ]

    assert [each.collects for each in told] == [False, False, True]
