"""What is wrong with torch's allocator settings, told from their text. Pure functions; nothing runs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tenure.rules.known_leaks import version_of

ALLOCATOR_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
NO_CACHE = "PYTORCH_NO_CUDA_MEMORY_CACHING"
FRACTION_CALL = "set_per_process_memory_fraction"
_READS_NEW_NAME = (2, 10)
_LEAST_SPLIT_MIB = 20
_BACKENDS = ("native", "cudaMallocAsync")
_KEYS = frozenset(
    (
        "backend",
        "expandable_segments",
        "expandable_segments_reserve",
        "expandable_segments_reserve_by_class",
        "garbage_collection_threshold",
        "graph_capture_record_stream_reuse",
        "large_segment_size_mb",
        "max_non_split_rounding_mb",
        "max_split_size_mb",
        "per_process_memory_fraction",
        "pinned_free_catch_all",
        "pinned_max_cached_size_mb",
        "pinned_max_round_threshold_mb",
        "pinned_num_register_threads",
        "pinned_reserve_segment_size_mb",
        "pinned_use_background_threads",
        "pinned_use_cuda_host_register",
        "release_lock_on_cudamalloc",
        "release_lock_on_hipmalloc",
        "roundup_power2_divisions",
        "throw_on_cudamalloc_oom",
        "use_async_allocator",
    )
)
"""Keys that torch 2.1 to 2.13 know (c10/core/AllocatorConfig.h, c10/cuda/CUDAAllocatorConfig.h)."""
_SWITCHES = (
    "expandable_segments",
    "graph_capture_record_stream_reuse",
    "pinned_use_background_threads",
    "pinned_use_cuda_host_register",
    "release_lock_on_cudamalloc",
)
_NUMBERS = ("garbage_collection_threshold", "max_split_size_mb", "per_process_memory_fraction")


def check_allocator(environment: Mapping[str, str], *, torch_version: str, sets_fraction: bool) -> list[str]:
    """What is wrong with all allocator settings of an environment, each line with its variable's name;
    `torch_version` is "" where there is no torch to ask."""
    names = [name for name in ALLOCATOR_VARIABLES if name in environment]
    found = [f"{name}: {text}" for name in names for text in check_settings(environment[name], sets_fraction)]
    if {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"} <= set(names):
        found.append(
            "PYTORCH_ALLOC_CONF and PYTORCH_CUDA_ALLOC_CONF are both set, and CUDA reads the second alone; keep one of "
            "them"
        )
    version = version_of(torch_version)
    if "PYTORCH_ALLOC_CONF" in names and "PYTORCH_CUDA_ALLOC_CONF" not in names and () < version < _READS_NEW_NAME:
        found.append(
            f"PYTORCH_ALLOC_CONF does not reach CUDA's allocator in torch {torch_version} (2.9 ignores it there, "
            "pytorch#183387, and before nothing reads it): set PYTORCH_CUDA_ALLOC_CONF instead"
        )
    if NO_CACHE in environment:
        without_effect = f"; {' and '.join(names)} has no effect with it" if names else ""
        found.append(f"{NO_CACHE} is set: torch allocates without cache, slowly{without_effect}")
    return found


def parse_settings(text: str) -> dict[str, str]:
    """`a:1,b:[256:1,>:2]` as {"a": "1", "b": "[256:1,>:2]"}."""
    parts = re.findall(r"\s*([^:,\[\]]+)\s*:\s*(\[[^\]]*\]|[^,]*)", text)
    return {key.strip(): value.strip() for key, value in parts}


def check_settings(text: str, sets_fraction: bool = False) -> list[str]:
    """What is wrong with the settings of one variable; `sets_fraction` says that the program sets a memory fraction
    itself."""
    settings = parse_settings(text)
    return [*_malformed(text), *_refused(settings), *_in_vain(settings, sets_fraction)]


def _malformed(text: str) -> list[str]:
    """Parts that are no `key:value`; commas inside brackets part nothing."""
    parts = [part.strip() for part in re.split(r",(?![^\[]*\])", text)]
    return [f"`{part}` is no key:value, and torch will refuse it" for part in parts if part and ":" not in part]


def _refused(settings: Mapping[str, str]) -> list[str]:
    """What torch will not start with, or does not know."""
    found = []
    unknown = sorted(settings.keys() - _KEYS)
    if unknown:
        found.append(f"the allocator settings have {', '.join(unknown)}, which torch does not know")
    found += [
        f"{name} is True or False, written so; `{settings[name]}` is set, and torch will refuse it"
        for name in _SWITCHES
        if settings.get(name, "True") not in ("True", "False")
    ]
    found += [
        f"{name} is a number; `{settings[name]}` is set, and torch will refuse it"
        for name in _NUMBERS
        if name in settings and _number(settings[name]) is None
    ]
    if settings.get("backend", "native") not in _BACKENDS:
        found.append(f"backend is {' or '.join(_BACKENDS)}; `{settings['backend']}` is set, and torch will refuse it")
    divisions = settings.get("roundup_power2_divisions", "")
    if divisions.isdigit() and int(divisions) & (int(divisions) - 1):
        found.append(f"roundup_power2_divisions is a power of two; {divisions} is set, and torch will refuse it")
    threshold = _number(settings.get("garbage_collection_threshold"))
    if threshold is not None and not 0 < threshold < 1:
        found.append(f"garbage_collection_threshold is a share above 0 and below 1; {threshold:g} is set")
    fraction = _number(settings.get("per_process_memory_fraction"))
    if fraction is not None and not 0 < fraction <= 1:
        found.append(f"per_process_memory_fraction is a share above 0 and up to 1; {fraction:g} is set")
    split = _number(settings.get("max_split_size_mb"))
    if split is not None and split < _LEAST_SPLIT_MIB:
        found.append(f"max_split_size_mb is at least {_LEAST_SPLIT_MIB}; {split:g} is set, and torch will refuse it")
    return found


def _in_vain(settings: Mapping[str, str], sets_fraction: bool) -> list[str]:
    """Settings that have no effect, or a bad one, beside others."""
    found = []
    if settings.get("backend") == "cudaMallocAsync" and len(settings) > 1:
        others = ", ".join(sorted(settings.keys() - {"backend"}))
        found.append(f"backend:cudaMallocAsync leaves allocation to the driver: {others} has no effect with it")
    if settings.get("expandable_segments", "").lower() == "true" and "max_split_size_mb" in settings:
        found.append(
            "max_split_size_mb together with expandable_segments:True reserves more with every cycle of large and "
            "small tensors (pytorch#193400, pytorch#123548): keep expandable_segments alone"
        )
    threshold = _number(settings.get("garbage_collection_threshold"))
    fraction = _number(settings.get("per_process_memory_fraction"))
    if threshold and not sets_fraction and (fraction is None or fraction >= 1):
        found.append(
            "garbage_collection_threshold does nothing without a memory fraction below 1 (pytorch#76648, "
            f"pytorch#106660): add per_process_memory_fraction (torch 2.10 and later) or call {FRACTION_CALL}()"
        )
    return found


def _number(text: str | None) -> float | None:
    """What a value begins with, as torch reads it; None where that is no number."""
    found = re.match(r"\d+(?:\.\d*)?|\.\d+", text or "")
    return float(found[0]) if found else None
