from __future__ import annotations

import pytest

from tenure.store import row_log


@pytest.fixture(autouse=True)
def _blocks_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_log, "BLOCK_ROWS", 4)
