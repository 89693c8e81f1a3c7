"""What `tenure doctor` looks at beside versions: allocator settings, visible devices, the programs it is given, and
known leaks of this torch. Pure functions over the environment, torch's answer and source text; nothing runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tenure.errors import UsageError
from tenure.model.units import format_bytes
from tenure.rules.known_leaks import KnownLeak, known_leaks, version_of

ALLOCATOR_VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
LEAST_SHARED_MEMORY = 1 << 30
_LEAST_SPLIT_MIB = 20
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
_FRACTION_CALL = "set_per_process_memory_fraction"


def parse_settings(text: str) -> dict[str, str]:
    """`a:1,b:[256:1,>:2]` as {"a": "1", "b": "[256:1,>:2]"}."""
    parts = re.findall(r"\s*([^:,\[\]]+)\s*:\s*(\[[^\]]*\]|[^,]*)", text)
    return {key.strip(): value.strip() for key, value in parts}


def check_settings(text: str, *, sets_fraction: bool = False) -> list[str]:
    """What is wrong with allocator settings; `sets_fraction` says that the program sets a memory fraction itself."""
    settings = parse_settings(text)
    advice = []
    unknown = sorted(settings.keys() - _KEYS)
    if unknown:
        advice.append(f"the allocator settings have {', '.join(unknown)}, which torch does not know")
    if settings.get("backend") == "cudaMallocAsync" and len(settings) > 1:
        others = ", ".join(sorted(settings.keys() - {"backend"}))
        advice.append(f"backend:cudaMallocAsync leaves allocation to the driver: {others} has no effect with it")
    expandable = settings.get("expandable_segments", "").lower() == "true"
    if expandable and "max_split_size_mb" in settings:
        advice.append(
            "max_split_size_mb together with expandable_segments:True reserves more with every cycle of large and "
            "small tensors (pytorch#193400, pytorch#123548): keep expandable_segments alone"
        )
    threshold = _number(settings.get("garbage_collection_threshold"))
    if threshold is not None and not 0 < threshold < 1:
        advice.append(f"garbage_collection_threshold is a share above 0 and below 1; {threshold:g} is set")
    fraction = _number(settings.get("per_process_memory_fraction"))
    if threshold and not sets_fraction and (fraction is None or fraction >= 1):
        advice.append(
            "garbage_collection_threshold does nothing without a memory fraction below 1 (pytorch#76648, "
            f"pytorch#106660): add per_process_memory_fraction (torch 2.10 and later) or call {_FRACTION_CALL}()"
        )
    split = _number(settings.get("max_split_size_mb"))
    if split is not None and split < _LEAST_SPLIT_MIB:
        advice.append(f"max_split_size_mb is at least {_LEAST_SPLIT_MIB}; {split:g} is set, and torch will refuse it")
    return advice


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def check_visible_devices(environment: Mapping[str, str], num_seen: int | None) -> list[str]:
    """What CUDA_VISIBLE_DEVICES hides; `num_seen` is how many devices torch sees, None where it has no CUDA."""
    text = environment.get("CUDA_VISIBLE_DEVICES")
    if text is None or num_seen is None:
        return []
    entries = [entry.strip() for entry in text.split(",")]
    if text.strip() in ("", "-1"):
        return [f"CUDA_VISIBLE_DEVICES={text} hides all devices"]
    if len(set(entries)) < len(entries):
        return [f"CUDA_VISIBLE_DEVICES={text} names a device twice: CUDA then sees none"]
    if num_seen < len(entries):
        return [
            f"CUDA_VISIBLE_DEVICES={text} names {len(entries)} devices, torch sees {num_seen}: "
            "the list ends at the first one that does not exist"
        ]
    numbered = all(entry.isdigit() for entry in entries)
    if numbered and environment.get("CUDA_DEVICE_ORDER") != "PCI_BUS_ID" and entries != ["0"]:
        return [
            f"CUDA_VISIBLE_DEVICES={text} counts devices by speed, nvidia-smi by bus: "
            "set CUDA_DEVICE_ORDER=PCI_BUS_ID to mean the same ones"
        ]
    return []


def read_programs(paths: Sequence[Path]) -> dict[str, ast.Module]:
    """The syntax trees of programs by file name. Raises UsageError for a file that is missing or cannot be parsed."""
    trees = {}
    for path in paths:
        try:
            trees[str(path)] = ast.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        except SyntaxError as error:
            raise UsageError(f"cannot parse {path}: line {error.lineno}: {error.msg}") from None
    return trees


def check_programs(
    programs: Mapping[str, ast.Module], *, num_devices: int | None, shared_memory_bytes: int | None
) -> list[str]:
    """What the programs' calls say about devices, pinned memory and loader workers."""
    advice = []
    for file, tree in programs.items():
        calls = list(_calls(tree))
        for name, call in calls:
            place = f"{file}:{call.lineno}"
            if name == "DataParallel":
                advice.append(
                    f"{place}: DataParallel copies the model to every device in each step and gathers results on the "
                    "first; DistributedDataParallel keeps one process and one copy per device"
                )
            if name == "DataLoader":
                advice += _check_loader(place, call, num_devices, shared_memory_bytes)
        advice += _check_copies(file, calls, num_devices)
    return advice


def _check_loader(place: str, call: ast.Call, num_devices: int | None, shared_memory_bytes: int | None) -> list[str]:
    advice = []
    if _is_true(call, "pin_memory") and not num_devices:
        advice.append(f"{place}: pin_memory=True does nothing without a CUDA device")
    workers = _keyword(call, "num_workers")
    has_workers = workers is not None and not (isinstance(workers, ast.Constant) and workers.value == 0)
    if has_workers and shared_memory_bytes is not None and shared_memory_bytes < LEAST_SHARED_MEMORY:
        advice.append(
            f"{place}: loader workers hand batches over in /dev/shm, which has {format_bytes(shared_memory_bytes)} "
            "here; in a container ask for more (--shm-size)"
        )
    return advice


def _check_copies(file: str, calls: Sequence[tuple[str, ast.Call]], num_devices: int | None) -> list[str]:
    pins = any(name == "pin_memory" or _is_true(call, "pin_memory") for name, call in calls)
    copies = [call for name, call in calls if name in ("to", "cuda") and _is_true(call, "non_blocking")]
    if not copies or pins or not num_devices:
        return []
    return [
        f"{file}:{copies[0].lineno}: non_blocking=True waits all the same for memory that is not pinned; give the "
        "DataLoader pin_memory=True"
    ]


def calls_fraction(programs: Mapping[str, ast.Module]) -> bool:
    """Whether some program sets the memory fraction of its process."""
    return any(name == _FRACTION_CALL for tree in programs.values() for name, _ in _calls(tree))


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Every call with the last name of what it calls."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr, node
            elif isinstance(node.func, ast.Name):
                yield node.func.id, node


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((each.value for each in call.keywords if each.arg == name), None)


def _is_true(call: ast.Call, name: str) -> bool:
    value = _keyword(call, name)
    return isinstance(value, ast.Constant) and value.value is True


def describe_known_leaks(
    torch_version: str, devices: Collection[str], environment: Mapping[str, str], leaks: Sequence[KnownLeak] = ()
) -> list[str]:
    """Leaks known upstream of this torch on these types of device, each with its issue and what helps."""
    version = version_of(torch_version)
    found = []
    for leak in leaks or known_leaks():
        in_range = version_of(leak.first) <= version and (not leak.fixed or version < version_of(leak.fixed))
        bounded = any(name in environment for name in leak.unless)
        if version and in_range and not bounded and set(leak.devices) & set(devices):
            found.append(f"{leak.title} ({_short(leak.issues[0])}): {leak.workaround}")
    return found


def _short(issue: str) -> str:
    """`pytorch#32037` for the address of an issue."""
    match = re.search(r"github\.com/[^/]+/([^/]+)/(?:issues|pull)/(\d+)", issue)
    return f"{match[1]}#{match[2]}" if match else issue


def check_everything(
    answer: Mapping[str, Any],
    environment: Mapping[str, str],
    programs: Mapping[str, ast.Module],
    shared_memory_bytes: int | None,
) -> list[str]:
    """All advice on settings, devices and programs; `answer` is what torch said of itself."""
    num_devices = answer.get("num_devices") if answer.get("cuda") else None
    advice = []
    for name in ALLOCATOR_VARIABLES:
        if name in environment:
            found = check_settings(environment[name], sets_fraction=calls_fraction(programs))
            advice += [f"{name}: {text}" for text in found]
    advice += check_visible_devices(environment, num_devices)
    return advice + check_programs(programs, num_devices=num_devices, shared_memory_bytes=shared_memory_bytes)
