"""The settings of torch's caching allocator, as `PYTORCH_ALLOC_CONF` spells them and as a snapshot tells them.

What each does, and since when: docs.pytorch.org, "Optimizing memory usage with PYTORCH_ALLOC_CONF"; the parsing follows
c10/core/AllocatorConfig.h and c10/cuda/CUDAAllocatorConfig.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tenure.errors import SnapshotError, UsageError

MIB = 1 << 20
MIN_BLOCK = 512
"""All sizes are rounded up to it."""
SMALL_SIZE = MIB
"""Requests up to it are served by the small pool; remainders of large blocks have to be larger."""
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
MIN_LARGE_ALLOC = 10 * MIB
"""From here on a request gets a segment of its own, of a multiple of 2 MiB."""
ROUND_LARGE = 2 * MIB
NO_LIMIT = (1 << 63) - 1
_INTERVALS = 16
"""Of sizes, for the roundings to parts of a power of two: 1 MiB to 2 MiB and below, ..., 32 GiB and above."""
_FIRST_INTERVAL = 20
_BETWEEN_SETTINGS = re.compile(r",(?![^\[]*\])")
"""Commas outside of brackets."""


@dataclass(frozen=True)
class AllocatorSettings:
    """What the allocator was told; bytes where torch's names say mb.

    `roundup_power2_divisions` has a number of parts for each of 16 intervals, 0 where sizes are rounded to 512 bytes.
    `memory_fraction` of the device's memory may be reserved, 1.0: all.
    """

    max_split_bytes: int = NO_LIMIT
    max_non_split_rounding_bytes: int = LARGE_SEGMENT
    roundup_power2_divisions: tuple[int, ...] = (0,) * _INTERVALS
    garbage_collection_threshold: float = 0.0
    expandable_segments: bool = False
    large_segment_bytes: int = LARGE_SEGMENT
    memory_fraction: float = 1.0

    def round_bytes(self, asked: int) -> int:
        """The size that a block for `asked` bytes needs."""
        if asked < MIN_BLOCK:
            return MIN_BLOCK
        interval = min(max(asked.bit_length() - 1 - _FIRST_INTERVAL, 0), _INTERVALS - 1)
        parts = self.roundup_power2_divisions[interval]
        if parts > 1 and asked > MIN_BLOCK * parts:
            return _rounded_to_parts(asked, parts)
        return (asked + MIN_BLOCK - 1) // MIN_BLOCK * MIN_BLOCK

    def segment_bytes(self, size: int) -> int:
        """What the device is asked for where no free block holds `size` bytes (rounded already)."""
        if size <= SMALL_SIZE:
            return SMALL_SEGMENT
        if size < MIN_LARGE_ALLOC:
            return self.large_segment_bytes
        return (size + ROUND_LARGE - 1) // ROUND_LARGE * ROUND_LARGE

    @property
    def gives_back_parts(self) -> bool:
        """Whether the allocator gives back a part of what is free by itself: of sizes that are not split, or what was
        not taken for long."""
        return self.max_split_bytes != NO_LIMIT or self.garbage_collection_threshold > 0

    @property
    def collects(self) -> bool:
        """Whether the threshold does anything: without a fraction below one it does not (pytorch#106660)."""
        return self.garbage_collection_threshold > 0 and self.memory_fraction < 1


def _rounded_to_parts(size: int, parts: int) -> int:
    """Up to the next of `parts` equal steps between two powers of two."""
    lower = 1 << (size.bit_length() - 1)
    if size == lower:
        return size
    step = lower // parts
    return 2 * lower if step == 0 else (size + step - 1) // step * step


def parse_settings(text: str) -> AllocatorSettings:
    """The settings that this text of `PYTORCH_ALLOC_CONF` makes; "" makes the defaults.

    Settings of the host's pinned memory and others that place no block are accepted and have no part in the result.
    Raises UsageError as torch raises: unknown names, numbers out of range, lists that are not closed.
    """
    settings = AllocatorSettings()
    tokens = _tokens(text)
    while tokens:
        name = tokens.pop(0)
        if name == ",":
            continue
        if not tokens or tokens.pop(0) != ":":
            raise UsageError(f"allocator settings: `{name}` is given no value; write {name}:VALUE")
        settings = _with_setting(settings, name, tokens)
        if tokens and tokens[0] != ",":
            raise UsageError(f"allocator settings: `,` was expected after {name}, not `{tokens[0]}`")
    return settings


_PINNED = frozenset(
    (
        "pinned_use_cuda_host_register",
        "pinned_num_register_threads",
        "pinned_use_background_threads",
        "pinned_reserve_segment_size_mb",
        "pinned_max_round_threshold_mb",
        "pinned_max_cached_size_mb",
    )
)
_PLACES_NO_BLOCK = frozenset(
    (*_PINNED, "release_lock_on_cudamalloc", "graph_capture_record_stream_reuse", "throw_on_cudamalloc_oom", "backend")
)


def _tokens(text: str) -> list[str]:
    found, word = [], ""
    for sign in text:
        if sign in ",:[]":
            found += [word] if word else []
            found.append(sign)
            word = ""
        elif not sign.isspace():
            word += sign
    return found + ([word] if word else [])


def _with_setting(settings: AllocatorSettings, asked: str, tokens: list[str]) -> AllocatorSettings:
    """The settings with one more; takes its value off the tokens."""
    if asked == "roundup_power2_divisions":
        return replace(settings, roundup_power2_divisions=_divisions(tokens))
    value = tokens.pop(0) if tokens else ""
    if asked == "max_split_size_mb":
        size = _whole(asked, value, least=settings.large_segment_bytes // MIB)
        return replace(settings, max_split_bytes=min(size * MIB, NO_LIMIT))
    if asked == "max_non_split_rounding_mb":
        size = _whole(asked, value, least=settings.large_segment_bytes // MIB)
        return replace(settings, max_non_split_rounding_bytes=min(size * MIB, NO_LIMIT))
    if asked == "large_segment_size_mb":
        return replace(settings, large_segment_bytes=_whole(asked, value, least=MIN_LARGE_ALLOC // MIB + 1) * MIB)
    if asked == "garbage_collection_threshold":
        return replace(settings, garbage_collection_threshold=_share(asked, value, to_one=False))
    if asked == "per_process_memory_fraction":
        return replace(settings, memory_fraction=_share(asked, value, to_one=True))
    if asked == "expandable_segments":
        return replace(settings, expandable_segments=_truth(asked, value))
    if asked in _PLACES_NO_BLOCK:
        return settings
    raise UsageError(f"allocator settings: torch knows no `{asked}`")


def _whole(name: str, value: str, *, least: int) -> int:
    if not value.isdigit():
        raise UsageError(f"allocator settings: {name} takes a whole number, not `{value}`")
    if int(value) < least:
        raise UsageError(f"allocator settings: {name} is {value}; torch takes {least} and more")
    return int(value)


def _share(name: str, value: str, *, to_one: bool) -> float:
    try:
        share = float(value)
    except ValueError:
        raise UsageError(f"allocator settings: {name} takes a number, not `{value}`") from None
    if not (0 < share < 1 or (to_one and share in (0.0, 1.0))):
        raise UsageError(f"allocator settings: {name} is {value}; torch takes numbers between 0 and 1")
    return share


def _truth(name: str, value: str) -> bool:
    if value not in ("True", "False"):
        raise UsageError(f"allocator settings: {name} takes True or False, not `{value}`")
    return value == "True"


def _divisions(tokens: list[str]) -> tuple[int, ...]:
    """A number for all intervals, or `[256:1,512:2,>:8]`: the first goes for all below it too, `>` for all above.

    Up to torch 2.8 `>` went for the last interval named as well.
    """
    name = "roundup_power2_divisions"
    if not tokens or tokens[0] != "[":
        return (_power_of_two(name, tokens.pop(0) if tokens else ""),) * _INTERVALS
    tokens.pop(0)
    parts = [0] * _INTERVALS
    first, last = True, -1
    while tokens and tokens[0] != "]":
        key = tokens.pop(0)
        if len(tokens) < 2 or tokens.pop(0) != ":":
            raise UsageError(f"allocator settings: {name} takes [SIZE:PARTS, ...]; `{key}` is given no parts")
        value = _power_of_two(name, tokens.pop(0))
        if key == ">":
            parts[last + 1 :] = [value] * (_INTERVALS - last - 1)
        else:
            place = min(_power_of_two(name, key, what="sizes in MiB").bit_length() - 1, _INTERVALS - 1)
            start = 0 if first else place
            parts[start : place + 1] = [value] * (place + 1 - start)
            last = place
        first = False
        if tokens and tokens[0] == ",":
            tokens.pop(0)
    if not tokens:
        raise UsageError(f"allocator settings: the list of {name} is not closed by `]`")
    tokens.pop(0)
    return tuple(parts)


def _power_of_two(name: str, value: str, what: str = "parts") -> int:
    if not value.isdigit():
        raise UsageError(f"allocator settings: {name} takes whole numbers, not `{value}`")
    number = int(value)
    if number & (number - 1) or (what != "parts" and not number):
        raise UsageError(f"allocator settings: {name} takes {what} that are powers of two, not {number}")
    return number


def settings_of_snapshot(told: Mapping[str, Any] | None) -> AllocatorSettings:
    """The settings that a snapshot tells in its `allocator_settings`; the defaults where it tells none.

    The text of the environment that it holds has those of later torches that have no key of their own; a fraction set
    by `set_per_process_memory_fraction` is not in it. Of that text the settings that are not known here, as of a later
    torch, have no part. SnapshotError where a value is none that torch writes.
    """
    if told is None:
        return AllocatorSettings()
    text = str(told.get("PYTORCH_CUDA_ALLOC_CONF") or told.get("PYTORCH_ALLOC_CONF") or "")
    try:
        return _with_told(_parse_known(text), told)
    except (TypeError, ValueError, OverflowError) as error:
        raise SnapshotError(f"the snapshot's allocator_settings are damaged: {error}") from error


def _parse_known(text: str) -> AllocatorSettings:
    """The settings of a text, those left out that cannot be parsed."""
    settings = AllocatorSettings()
    for part in _BETWEEN_SETTINGS.split(text):
        with suppress(UsageError):
            settings = _with_setting(settings, part.partition(":")[0].strip(), _tokens(part.partition(":")[2]))
    return settings


def _with_told(settings: AllocatorSettings, told: Mapping[str, Any]) -> AllocatorSettings:
    max_split = int(told.get("max_split_size", -1))
    divisions = told.get("roundup_power2_divisions")
    found = replace(
        settings,
        max_split_bytes=NO_LIMIT if max_split < 0 else max_split,
        garbage_collection_threshold=float(told.get("garbage_collection_threshold", 0.0)),
        expandable_segments=bool(told.get("expandable_segments", False)),
        roundup_power2_divisions=_told_divisions(divisions) if isinstance(divisions, Mapping) else (0,) * _INTERVALS,
    )
    for parts in found.roundup_power2_divisions:
        if parts < 0 or parts & (parts - 1):
            raise ValueError(f"sizes cannot be rounded to {parts} parts")
    return found


def _told_divisions(told: Mapping[Any, Any]) -> tuple[int, ...]:
    """By the interval's MiB, as text."""
    return tuple(int(told.get(str(1 << interval), 0)) for interval in range(_INTERVALS))
