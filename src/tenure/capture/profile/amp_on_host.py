"""Has autocast and gradient scaling of CUDA run on the host, where torch would switch them off with a warning.

Most programs write `torch.autocast("cuda", ...)` whatever machine they are on; without this they would be planned as
they never run, in float32.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tenure.capture.profile.run_notes import note_of_run
from tenure.capture.profile.stand_ins import stand_in

AUTOCAST = "autocast for CUDA ran on the host, to the same type"
SCALER = "the GradScaler began with a scale of 1, so that no step is skipped here: sizes do not depend on it"
_INITIAL_SCALE = 1.0
_TORCH = str(Path(torch.__file__).parent) + os.sep
_OF_PROGRAMS = str(Path(_TORCH) / "cuda" / "amp")
"""Where torch makes one because a program did; elsewhere, as in a checkpoint, it repeats what is on."""


def run_amp_on_host() -> None:
    """For the rest of this process; not where there is a device."""
    if torch.cuda.device_count():
        return
    half_on_cuda = torch.get_autocast_dtype("cuda")
    torch.amp.autocast_mode.autocast.__init__ = _autocasting(torch.amp.autocast_mode.autocast.__init__, half_on_cuda)
    torch.amp.grad_scaler.GradScaler.__init__ = _scaling(torch.amp.grad_scaler.GradScaler.__init__)
    is_enabled, dtype_of = torch.is_autocast_enabled, torch.get_autocast_dtype

    def is_autocast_enabled(device_type: str = "cuda") -> bool:
        return bool(is_enabled(_host_for(device_type)))

    def get_autocast_dtype(device_type: str) -> torch.dtype:
        is_on = device_type != "cuda" or is_enabled("cpu")
        return dtype_of(_host_for(device_type) if is_on else device_type)

    stand_in(torch, "is_autocast_enabled", is_autocast_enabled)
    stand_in(torch, "get_autocast_dtype", get_autocast_dtype)
    stand_in(torch, "get_autocast_gpu_dtype", lambda: get_autocast_dtype("cuda"))


def _autocasting(init: Callable[..., None], default: torch.dtype) -> Callable[..., None]:
    @functools.wraps(init)
    def make(self: Any, device_type: str, dtype: Any = None, *args: Any, **named: Any) -> None:
        if device_type == "cuda":
            device_type, dtype = "cpu", dtype or default
            if (args[0] if args else named.get("enabled", True)) and _is_of_program(sys._getframe(1)):
                note_of_run(AUTOCAST)
        init(self, device_type, dtype, *args, **named)

    return make


def _scaling(init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(init)
    def make(self: Any, device: str = "cuda", init_scale: float = 2.0**16, *args: Any, **named: Any) -> None:
        init(self, _host_for(device), _INITIAL_SCALE, *args, **named)
        if self.is_enabled() and init_scale != _INITIAL_SCALE:
            note_of_run(SCALER)

    return make


def _is_of_program(frame: Any) -> bool:
    file = frame.f_code.co_filename
    return not file.startswith(_TORCH) or file.startswith(_OF_PROGRAMS)


def _host_for(device_type: str) -> str:
    return "cpu" if device_type == "cuda" else device_type
