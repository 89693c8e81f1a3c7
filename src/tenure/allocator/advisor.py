"""Plays a trace's requests under other settings, and says which would have reserved less.

What is asked for and freed, in which order, is the trace's; where it lies is predicted. Blocks that were there before
the first event are asked for first, in the order of their addresses. How soon another stream is done with a block is
taken from the record, as are calls of `empty_cache`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tenure.allocator.played import played
from tenure.allocator.requests import Kind, Requests, requests_of
from tenure.allocator.settings import (
    MIB,
    MIN_BLOCK,
    NO_LIMIT,
    AllocatorSettings,
    parse_settings,
    settings_of_snapshot,
)
from tenure.model.allocator import Snapshot

LEAST_GAIN = 0.02
"""Of what was reserved: less is not worth a setting."""
LEAST_GAIN_BYTES = 32 * MIB
CANDIDATES = (
    "",
    "expandable_segments:True",
    *(f"max_split_size_mb:{size}" for size in (20, 32, 64, 128, 256, 512, 1024)),
    *(f"roundup_power2_divisions:{parts}" for parts in (1, 2, 4, 8, 16, 32)),
    *(f"large_segment_size_mb:{size}" for size in (32, 64, 128)),
    *(f"expandable_segments:True,roundup_power2_divisions:{parts}" for parts in (4, 8, 16)),
    *(f"max_split_size_mb:{size},roundup_power2_divisions:8" for size in (64, 128, 256)),
)
"""What is tried. Not among them: a threshold for collecting, which does nothing without a fraction of the device's
memory, and a largest size to split with expandable segments, which grows without end (pytorch#123548)."""

CONFIRMED = (AllocatorSettings(), AllocatorSettings(expandable_segments=True))
"""Under these settings recorded traces have come out as recorded (docs/accuracy.md)."""


@dataclass(frozen=True)
class Candidate:
    """One text of settings, and what a replay of the requests under it came to."""

    settings: str
    peak_reserved_bytes: int
    peak_active_bytes: int
    num_device_allocations: int
    is_confirmed: bool
    """Whether traces that torch recorded under such settings have come out of a replay as recorded."""


@dataclass(frozen=True)
class Advice:
    """`floor_bytes` were asked for at the peak, rounded up to 512 bytes each: no setting reserves less.

    `recorded` is what a replay under the recorded settings predicts, `candidates` what others come to, least reserved
    first. `best` is None where nothing is to be gained.
    """

    floor_bytes: int
    recorded: Candidate
    candidates: tuple[Candidate, ...]
    best: Candidate | None


def advise(snapshot: Snapshot, device: int, texts: Sequence[str] = CANDIDATES) -> Advice:
    """Try these settings on the requests of one device. Cost: two to four microseconds per event and setting."""
    own = settings_of_snapshot(snapshot.settings)
    requests = requests_of(snapshot, device, own)
    recorded = _played(requests, own, _text_of(snapshot))
    tried = [text for text in texts if parse_settings(text) != own]
    found = [_played(requests, parse_settings(text), text) for text in tried]
    found.sort(key=lambda each: (each.peak_reserved_bytes, each.num_device_allocations, len(each.settings)))
    least = max(LEAST_GAIN * recorded.peak_reserved_bytes, LEAST_GAIN_BYTES)
    best = _simplest(found, least)
    gains = best is not None and recorded.peak_reserved_bytes - best.peak_reserved_bytes >= least
    return Advice(_floor(requests), recorded, tuple(found), best if gains else None)


def _simplest(found: Sequence[Candidate], least: float) -> Candidate | None:
    """Of those that come near the one that reserves least, one that recorded traces have confirmed, or the shortest."""
    near = [each for each in found if each.peak_reserved_bytes < found[0].peak_reserved_bytes + least]
    return min(near, key=lambda each: (not each.is_confirmed, len(each.settings)), default=None)


def conflict_in(settings: AllocatorSettings) -> str:
    """Why these settings are not to be advised; "" where nothing is known against them."""
    if settings.garbage_collection_threshold and not settings.collects:
        return "garbage_collection_threshold does nothing without per_process_memory_fraction below 1 (pytorch#106660)"
    if settings.expandable_segments and settings.max_split_bytes != NO_LIMIT:
        return "max_split_size_mb with expandable_segments lets reserved memory grow without end (pytorch#123548)"
    return ""


def _played(requests: Requests, settings: AllocatorSettings, text: str) -> Candidate:
    found = played(requests, settings)
    return Candidate(
        text,
        found.peak_reserved_bytes,
        found.peak_active_bytes,
        found.num_device_allocations,
        settings in CONFIRMED,
    )


def _floor(requests: Requests) -> int:
    """The most that was in use at once, of blocks as small as they can be."""
    least = -(-np.maximum(requests.bytes, 1) // MIN_BLOCK) * MIN_BLOCK
    size = np.zeros(int(requests.number.max(initial=-1)) + 1, dtype=np.int64)
    is_asked, is_freed = requests.kind == Kind.ALLOCATE, requests.kind == Kind.FREE
    size[requests.number[is_asked]] = least[is_asked]
    change = np.where(is_asked, least, 0)
    change[is_freed] = -size[requests.number[is_freed]]
    return int(np.cumsum(change).max(initial=0))


def _text_of(snapshot: Snapshot) -> str:
    told = snapshot.settings or {}
    return str(told.get("PYTORCH_CUDA_ALLOC_CONF") or told.get("PYTORCH_ALLOC_CONF") or "")
