"""Plays a trace's requests under other settings, and says which would have reserved less.

What is asked for and freed, in which order, is the trace's; where it lies is predicted. Blocks that were there before
the first event are asked for first, in the order of their addresses. How soon another stream is done with a block is
taken from the record, as are calls of `empty_cache`; and what the recorded allocator gave back of itself where it was
short of memory, as far as the settings have such a rule and the device's memory is not known.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from tenure.allocator.confirmed import is_confirmed
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
    *(f"roundup_power2_divisions:{parts}" for parts in (2, 4, 8, 16, 32)),
    *(f"large_segment_size_mb:{size}" for size in (32, 64, 128)),
    *(f"expandable_segments:True,roundup_power2_divisions:{parts}" for parts in (4, 8, 16)),
    *(f"max_split_size_mb:{size},roundup_power2_divisions:8" for size in (64, 128, 256)),
    "large_segment_size_mb:64,roundup_power2_divisions:8",
)
"""What is tried. Not among them: a largest size to split with expandable segments, which grows without end
(pytorch#123548)."""
WITH_MEMORY = tuple(
    f"garbage_collection_threshold:{share},per_process_memory_fraction:0.95" for share in (0.6, 0.8, 0.9)
)
"""What is tried as well where the device's memory is known: a threshold for collecting is a share of a fraction of it,
and does nothing without (pytorch#106660)."""

_SOME = 0.5
"""Stands for the fraction that a call has set, which no snapshot tells; where something was collected there was one."""


@dataclass(frozen=True)
class Candidate:
    """One text of settings, and what a replay of the requests under it came to.

    `num_retries` requests found the device full at first, so that all that was free went back and every stream was
    waited for; `num_refused` were not served after that either. Both are 0 where the device's memory is not known.
    """

    settings: str
    peak_reserved_bytes: int
    peak_active_bytes: int
    num_device_allocations: int
    num_retries: int
    num_refused: int
    is_confirmed: bool
    """Whether traces that torch recorded under such settings have come out of a replay as recorded."""


@dataclass(frozen=True)
class Advice:
    """`floor_bytes` were asked for at the peak, rounded up to 512 bytes each: no setting reserves less.

    `recorded` is what a replay under the recorded settings predicts, `candidates` what others come to: those that serve
    most first, then least reserved first. `best` is None where nothing is to be gained.
    """

    floor_bytes: int
    recorded: Candidate
    candidates: tuple[Candidate, ...]
    best: Candidate | None


def advise(
    snapshot: Snapshot, device: int, texts: Sequence[str] | None = None, total_bytes: int | None = None
) -> Advice:
    """Try settings on the requests of one device, these or all that are known; it has `total_bytes`, None: without end.

    Settings that come to the recorded ones are left out. Cost: a tenth of a microsecond per event and setting on each
    of several cores; in Python two on one.
    """
    own = settings_of_snapshot(snapshot.settings)
    requests = requests_of(snapshot, device, own)
    effective = replace(own, memory_fraction=_SOME) if (requests.kind == Kind.COLLECT).any() else own
    if texts is None:
        texts = CANDIDATES if total_bytes is None else (*CANDIDATES, *WITH_MEMORY)
    chosen = [(text, parse_settings(text)) for text in texts]
    tried = [(_text_of(snapshot), own), *((text, each) for text, each in chosen if not comes_to(each, effective))]
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        played = list(threads.map(lambda each: _played(requests, each[1], each[0], total_bytes), tried))
    recorded = replace(played[0], is_confirmed=is_confirmed(effective))
    return _advice(_floor(requests), recorded, played[1:])


def advise_together(advices: Sequence[Advice]) -> Advice:
    """The same for several ranks of one program, which all get the same settings: of each the fullest rank counts."""
    tried = [{each.settings: each for each in advice.candidates} for advice in advices]
    texts = [text for text in tried[0] if all(text in each for each in tried)]
    recorded = _fullest([advice.recorded for advice in advices])
    candidates = [_fullest([each[text] for each in tried]) for text in texts]
    return _advice(max(advice.floor_bytes for advice in advices), recorded, candidates)


def _fullest(of_ranks: Sequence[Candidate]) -> Candidate:
    return replace(
        of_ranks[0],
        peak_reserved_bytes=max(each.peak_reserved_bytes for each in of_ranks),
        peak_active_bytes=max(each.peak_active_bytes for each in of_ranks),
        num_device_allocations=max(each.num_device_allocations for each in of_ranks),
        num_retries=max(each.num_retries for each in of_ranks),
        num_refused=max(each.num_refused for each in of_ranks),
    )


def _advice(floor: int, recorded: Candidate, candidates: Sequence[Candidate]) -> Advice:
    found = sorted(candidates, key=_rank)
    least = max(LEAST_GAIN * recorded.peak_reserved_bytes, LEAST_GAIN_BYTES)
    best = _simplest(found, least)
    return Advice(floor, recorded, tuple(found), best if best is not None and _gains(recorded, best, least) else None)


def _rank(each: Candidate) -> tuple[int, int, int, int, int]:
    return (
        each.num_refused,
        each.peak_reserved_bytes,
        each.num_retries,
        each.num_device_allocations,
        len(each.settings),
    )


def _gains(recorded: Candidate, best: Candidate, least: float) -> bool:
    if best.num_refused != recorded.num_refused:
        return best.num_refused < recorded.num_refused
    fewer = best.num_retries < recorded.num_retries and best.peak_reserved_bytes <= recorded.peak_reserved_bytes
    return fewer or recorded.peak_reserved_bytes - best.peak_reserved_bytes >= least


def _simplest(found: Sequence[Candidate], least: float) -> Candidate | None:
    """Of those that come near the one that reserves least, one that recorded traces have confirmed, or the shortest."""
    near = [
        each
        for each in found
        if each.num_refused == found[0].num_refused
        and each.num_retries <= found[0].num_retries
        and each.peak_reserved_bytes < found[0].peak_reserved_bytes + least
    ]
    return min(near, key=lambda each: (not each.is_confirmed, len(each.settings)), default=None)


def conflict_in(settings: AllocatorSettings) -> str:
    """Why these settings are not to be advised; "" where nothing is known against them."""
    if settings.garbage_collection_threshold and not settings.collects:
        return "garbage_collection_threshold does nothing without per_process_memory_fraction below 1 (pytorch#106660)"
    if settings.expandable_segments and settings.max_split_bytes != NO_LIMIT:
        return "max_split_size_mb with expandable_segments lets reserved memory grow without end (pytorch#123548)"
    return ""


def comes_to(settings: AllocatorSettings, other: AllocatorSettings) -> bool:
    """Whether both place every block alike: one part is no rounding, and a threshold alone does nothing."""
    return _effect(settings) == _effect(other)


def _effect(settings: AllocatorSettings) -> AllocatorSettings:
    plain = AllocatorSettings()
    splits = settings.max_split_bytes == NO_LIMIT
    return replace(
        settings,
        roundup_power2_divisions=tuple(parts if parts > 1 else 0 for parts in settings.roundup_power2_divisions),
        garbage_collection_threshold=settings.garbage_collection_threshold if settings.collects else 0.0,
        max_non_split_rounding_bytes=(
            plain.max_non_split_rounding_bytes if splits else settings.max_non_split_rounding_bytes
        ),
    )


def _played(requests: Requests, settings: AllocatorSettings, text: str, total_bytes: int | None) -> Candidate:
    found = played(requests, settings, total_bytes=total_bytes, limit_bytes=total_bytes)
    return Candidate(
        settings=text,
        peak_reserved_bytes=found.peak_reserved_bytes,
        peak_active_bytes=found.peak_active_bytes,
        num_device_allocations=found.num_device_allocations,
        num_retries=found.num_retries,
        num_refused=found.num_out_of_memory,
        is_confirmed=is_confirmed(settings),
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
