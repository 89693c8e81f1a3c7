"""Tells when a storage changes its size in place, which no operation shows: as FSDP frees parameters and gathers them
(torch/distributed/fsdp/_fully_shard/_fsdp_param.py, `alloc_storage` and `free_storage`; torch 2.13)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from tenure.capture.heap.origins import is_called_from

Note = Callable[[Any, int, bool], None]
"""Is given the storage, its bytes from now on, and whether a parameter's whole is gathered in it."""
_GATHERS = ("_fsdp_param.py", "_flat_param.py")
_FRAMES = 3


def call_at_resizes(note: Note) -> Callable[[], None]:
    """Until the function that is given back is called."""
    cls = torch.UntypedStorage
    original, own = cls.resize_, "resize_" in cls.__dict__

    def resize_(self: Any, size: int) -> Any:
        before = self.nbytes()
        result = original(self, size)
        if before != self.nbytes():
            note(self, self.nbytes(), is_called_from(_GATHERS, _FRAMES))
        return result

    cls.resize_ = resize_

    def restore() -> None:
        if own:
            cls.resize_ = original
        else:
            del cls.resize_

    return restore
