"""What another test left unused lies in no segment that a test's own tensors would share, and what one that failed
left in the error's traceback is gone."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def a_device_without_leftovers(a_device: None) -> Iterator[None]:
    for name in ("last_exc", "last_value", "last_type", "last_traceback"):
        vars(sys).pop(name, None)
    gc.collect()
    torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()
    yield
    torch.cuda.synchronize()
