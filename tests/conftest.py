"""Each test begins as a fresh process would, as far as torch keeps state for the whole process."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def nothing_compiled_before() -> None:
    """What an earlier test compiled in this process is forgotten: the recorder treads softly once anything was."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()
