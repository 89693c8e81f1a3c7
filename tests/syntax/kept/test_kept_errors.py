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


ATTEMPT = """
    import torch
    def attempt(model, batch):
        try:
            return model(batch), None
        except RuntimeError as error:
            return None, {given}
    class Stats:
        def __init__(self):
            self.failed = []
    def main(model, loader):
        stats = Stats()
        for batch in loader:
            out, problem = attempt(model, batch)
            stats.failed.append({kept})
"""


@pytest.mark.parametrize(
    ("given", "kept", "found"),
    [
        ("error", "(len(batch), problem)", ["TN302"]),
        ("str(error)", "(len(batch), problem)", []),
        ("error", "str(problem)", []),
        ("error", "len(batch)", []),
    ],
)
def test_an_error_that_is_one_of_two_results_is_followed(given: str, kept: str, found: list[str]) -> None:
    assert rules(ATTEMPT.format(given=given, kept=kept)) == found


def test_a_future_that_is_given_an_error_keeps_it() -> None:
    server = """
    class Server:
        def __init__(self, model):
            self.model, self.answered = model, []
        def work(self, queue):
            while True:
                rows, future = queue.get()
                try:
                    future.set_result(self.model(rows).tolist())
                except Exception as error:
                    future.set_exception({error})
                self.answered.append(future)
    import torch
    """
    assert rules(server.format(error="error")) == ["TN302"]
    assert rules(server.format(error="error.with_traceback(None)")) == []
