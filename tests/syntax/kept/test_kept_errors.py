"""Exceptions that tasks give back instead of raising them."""

from __future__ import annotations

import pytest

from told import rules

BATCHER = """
    import asyncio
    import torch
    class Batcher:
        def __init__(self, model):
            self.model, self.outcomes = model, []
        async def round(self, requests):
            results = await asyncio.gather(*map(self.model, requests), return_exceptions={given_back})
            for result in results:
                if isinstance(result, Exception):
                    self.outcomes.append({kept})
"""


@pytest.mark.parametrize(
    ("given_back", "kept", "found"),
    [("True", "result", ["TN302"]), ("True", "str(result)", []), ("False", "result", [])],
)
def test_what_tasks_raised_is_kept_with_its_frames(given_back: str, kept: str, found: list[str]) -> None:
    assert rules(BATCHER.format(given_back=given_back, kept=kept)) == found
