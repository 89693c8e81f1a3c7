"""Memory of a device that a run without one does not show, as far as torch's sources tell it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from tenure.model.allocator import LARGEST_WORKSPACE_BYTES
from tenure.model.plan import Constant

_WORKSPACE_BYTES = 8_519_680
"""`:4096:2:16:8`: two buffers of 4 MiB and eight of 16 KiB (aten/src/ATen/cuda/CublasHandlePool.cpp)."""
_WORKSPACE_VARIABLE = "CUBLAS_WORKSPACE_CONFIG"


def constants_of(
    num_multiplying_threads: int, *, is_distributed: bool, environment: Mapping[str, str] = os.environ
) -> tuple[Constant, ...]:
    """What is known by its size first; what is not has None for it and is not counted."""
    found = []
    if num_multiplying_threads:
        least, most, source = _workspace(environment.get(_WORKSPACE_VARIABLE, ""))
        threads = num_multiplying_threads
        times = "" if threads == 1 else f", {threads} times: one for each thread that multiplies, autograd's too"
        found.append(Constant("cuBLAS workspaces", threads * least, threads * most, source + times))
    found.append(Constant("CUDA context", None, None, "hundreds of MiB by device, driver and kernels that are loaded"))
    if is_distributed:
        found.append(Constant("communication buffers", None, None, "NCCL's own, outside of torch's allocator"))
    return tuple(found)


def _workspace(configured: str) -> tuple[int, int, str]:
    sizes = [int(size) * int(count) * 1024 for size, count in re.findall(r":([0-9]+):([0-9]+)", configured)]
    if sizes:
        return sum(sizes), sum(sizes), f"{_WORKSPACE_VARIABLE}={configured}"
    return _WORKSPACE_BYTES, LARGEST_WORKSPACE_BYTES, "torch's default, the larger since Hopper"
