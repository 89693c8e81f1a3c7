"""What `tenure doctor` advises beside versions: settings, devices, the programs it is given, and known leaks of this
torch. Pure functions over the environment, torch's answer and source text; nothing runs."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tenure.cli.doctor_devices import check_visible_devices
from tenure.cli.doctor_programs import calls_fraction, check_programs
from tenure.cli.doctor_settings import check_allocator
from tenure.rules.known_leaks import KnownLeak, known_leaks, version_of


def check_everything(
    answer: Mapping[str, Any],
    environment: Mapping[str, str],
    programs: Mapping[str, ast.Module],
    *,
    shared_memory_bytes: int | None = None,
    num_present: int | None = None,
) -> list[str]:
    """All advice on settings, devices and programs; `answer` is what torch said of itself, empty where it said nothing,
    `num_present` how many devices the driver knows."""
    num_devices = answer.get("num_devices") if answer.get("cuda") else None
    version = str(answer.get("version", ""))
    hidden = check_visible_devices(environment, num_devices, num_present)
    if num_devices == 0 and not hidden:
        hidden = [
            f"torch is built for CUDA {answer['cuda']} and sees no device: no driver, one too old for it, or a "
            "container that was given none (--gpus all)"
        ]
    return [
        *check_allocator(environment, torch_version=version, sets_fraction=calls_fraction(programs)),
        *hidden,
        *check_programs(programs, num_devices=num_devices, shared_memory_bytes=shared_memory_bytes),
    ]


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
