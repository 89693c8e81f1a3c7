"""What another test left unused lies in no segment that a test's own tensors would share."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def a_device_without_leftovers(a_device: None) -> Iterator[None]:
    gc.collect()
    torch.cuda.synchronize()
    torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.empty_cache()
    yield
    torch.cuda.synchronize()
