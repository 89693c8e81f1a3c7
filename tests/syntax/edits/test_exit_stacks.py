from __future__ import annotations

import pytest

from edit_texts import line_of, new_lines, source_of
from tenure.syntax.edits.exit_stacks import leave_stacks_sooner

COLLECTOR = """
def collect(self, policy):
    rollout = {entered}  # here
    return rollout
"""
FIT = """
def fit(self, steps):
    with ExitStack() as run:
        run.callback(self.emit, "end")  # here
        for step in range(steps):
            with {inner}:
                shard = self.store.open()
                run.callback(shard.unmap)
"""


@pytest.mark.parametrize(
    ("entered", "closed"),
    [
        ("self.scope.enter_context(episode(self.env))", ["self.scope.close()"]),
        ("self.scope.push(episode(self.env))", ["self.scope.close()"]),
        ("scope.enter_context(episode(self.env))", []),
        ("self.scope.run(episode(self.env))", []),
    ],
)
def test_a_stack_of_an_object_is_left_before_the_next_is_entered(entered: str, closed: list[str]) -> None:
    source = source_of(COLLECTOR.format(entered=entered))

    assert new_lines(source, leave_stacks_sooner(source, line_of(source))) == closed


@pytest.mark.parametrize(
    ("inner", "entered"),
    [
        ("ExitStack() as stage", ["stage.callback(shard.unmap)"]),
        ("contextlib.ExitStack() as stage", ["stage.callback(shard.unmap)"]),
        ("torch.no_grad() as stage", []),
        ("ExitStack()", []),
    ],
)
def test_what_a_loop_enters_into_the_stack_of_the_run_goes_into_that_of_the_turn(
    inner: str, entered: list[str]
) -> None:
    source = source_of(FIT.format(inner=inner))

    assert new_lines(source, leave_stacks_sooner(source, line_of(source))) == entered
