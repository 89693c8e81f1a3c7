"""Where tensors go: nowhere, to `meta`, or to a device of this machine."""

from __future__ import annotations

import torch

from tenure.errors import ReleaseError


def read_target(to: str | torch.device | None) -> torch.device | None:
    """The device that was asked for, checked before anything is done; None where memory is to go for good."""
    if to is None:
        return None
    try:
        device = torch.device(to)
    except (RuntimeError, TypeError) as error:
        raise ReleaseError(f'{to!r} is no device; "cpu", "meta" or "cuda:0" would be. Nothing was changed') from error
    why = _why_absent(device)
    if why:
        raise ReleaseError(f"{str(device)!r} is no device of this process: {why}. Nothing was changed")
    return device


def is_on(device: torch.device, target: torch.device) -> bool:
    """Whether `device` is the one that was asked for; a type without a number asks for any of its kind."""
    return device.type == target.type and (target.index is None or device.index in (None, target.index))


def _first_sentence(text: str) -> str:
    """torch lists every backend behind it."""
    return text.partition(". ")[0].partition("\n")[0]


def _why_absent(device: torch.device) -> str:
    """Why tensors cannot be put there; "" where they can."""
    if device.type in ("cpu", "meta"):
        return ""
    if device.type == "cuda":
        count = torch.cuda.device_count()  # by NVML before CUDA is started, so that a program can still fork
        return "" if (device.index or 0) < count else f"it sees {count} CUDA devices"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        return f"torch cannot use it here ({_first_sentence(str(error))})"
    return ""
