"""Which settings recorded traces have confirmed: torch's own record came out of a replay, and of its requests alone."""

from __future__ import annotations

from tenure.allocator.settings import NO_LIMIT, AllocatorSettings

CONFIRMED = (
    frozenset[str](),
    frozenset(("expandable_segments",)),
    frozenset(("max_split_size_mb",)),
    frozenset(("roundup_power2_divisions",)),
    frozenset(("garbage_collection_threshold",)),
    frozenset(("large_segment_size_mb",)),
    frozenset(("large_segment_size_mb", "roundup_power2_divisions")),
)
"""What was set together in traces that torch recorded (tests/allocator/recorded_on_cuda; docs/accuracy/allocator.md),
whatever the values. A fraction of the device's memory is no rule of its own: it only says where memory ends."""


def rules_of(settings: AllocatorSettings) -> frozenset[str]:
    """The settings that change where blocks are placed, by torch's names."""
    plain = AllocatorSettings()
    told = {
        "expandable_segments": settings.expandable_segments,
        "max_split_size_mb": settings.max_split_bytes != NO_LIMIT,
        "roundup_power2_divisions": any(parts > 1 for parts in settings.roundup_power2_divisions),
        "garbage_collection_threshold": settings.collects,
        "large_segment_size_mb": settings.large_segment_bytes != plain.large_segment_bytes,
    }
    return frozenset(name for name, is_set in told.items() if is_set)


def is_confirmed(settings: AllocatorSettings) -> bool:
    """Whether traces that torch recorded with these set, and no others, have come out of a replay as recorded."""
    return rules_of(settings) in CONFIRMED
