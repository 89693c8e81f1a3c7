"""Tests of what only a real device does; skipped where there is none. Several processes may share the device, so that
only figures of the test's own process are asked for."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def a_device() -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
