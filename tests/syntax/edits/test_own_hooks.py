"""Hooks of a tensor that read it without its graph."""

from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.syntax.edits.own_hooks import read_detached


def detached(statement: str) -> list[str]:
    source = source_of(f"def gated(x, y):\n    {statement}  # here\n    return x\n")
    return changes(source, read_detached(source, line_of(source), "x"))


def test_a_hook_reads_its_tensor_without_the_graph() -> None:
    assert detached("x.register_hook(lambda gradient: gate(gradient, x))") == [
        "- x.register_hook(lambda gradient: gate(gradient, x))  # here",
        "x.register_hook(lambda gradient, x=x.detach(): gate(gradient, x))  # here",
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "x.register_hook(lambda gradient: gradient * y)",
        "x.register_hook(lambda x: x * 2)",
        "x.register_hook(lambda *given: given[0] * x)",
        "x.register_hook(gate)",
        "x.register_forward_hook(lambda gradient: gradient * x)",
    ],
)
def test_other_hooks_stay(statement: str) -> None:
    assert detached(statement) == []
