"""Lets this process take so many MiB of the device, and no more."""

from __future__ import annotations

import torch


def allow(mebibytes: int) -> int:
    """How many bytes that are."""
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((mebibytes << 20) / total)
    return mebibytes << 20
