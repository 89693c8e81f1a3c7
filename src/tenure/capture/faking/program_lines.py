"""Where in the program something happens, and its end where it cannot go on with fake tensors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

import torch

from tenure.capture.heap.origins import is_called_from, is_library_file
from tenure.model.stream import NOT_WITH_FAKES

_OF_RANKS = ("/_fsdp_param.py", "/_fsdp_collectives.py", "/nn/parallel/distributed.py")
_FRAMES = 12


def line_now() -> str:
    """`train.py:30 in step`: the innermost statement of the program; "" where none is under way."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if not is_library_file(code.co_filename):
            return f"{Path(code.co_filename).name}:{frame.f_lineno} in {code.co_name}"
        frame = frame.f_back
    return ""


def is_for_ranks() -> bool:
    """Whether what shards or replicates a model over ranks runs just now."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return False
    return is_called_from(_OF_RANKS, _FRAMES)


def refuse(why: str) -> NoReturn:
    """End the program; what it says last tells the plan why. It is no Exception, which a program may pass over."""
    place = line_now()
    raise SystemExit(f"{NOT_WITH_FAKES}{place}: {why}" if place else f"{NOT_WITH_FAKES}{why}")
