from __future__ import annotations

import ast

import pytest

from tenure.model.trial import Blocks, Survey
from tenure.planning.changes import OPTIONS, change_of

SURVEY = Survey((Blocks("encoder.layers", "Layer", 12),), ("AdamW",), {})


@pytest.mark.parametrize("option", OPTIONS)
def test_lines_to_paste_in_are_python(option: str) -> None:
    lines = change_of(option, SURVEY)

    ast.parse("\n".join(lines))
    assert lines


@pytest.mark.parametrize(
    ("groups", "loop"),
    [
        ((Blocks("layers", "Layer", 2),), "for block in model.layers:"),
        ((Blocks("", "Layer", 2),), "for block in model:"),
        ((Blocks("1.layers", "Layer", 2),), 'for block in model.get_submodule("1.layers"):'),
        ((Blocks("encoder", "A", 2), Blocks("decoder", "B", 2)), "for block in (*model.encoder, *model.decoder):"),
    ],
)
def test_blocks_are_named_where_they_are(groups: tuple[Blocks, ...], loop: str) -> None:
    assert loop in change_of("checkpointing", Survey(groups, (), {}))


def test_each_optimizer_has_its_line() -> None:
    survey = Survey((), ("AdamW", "SGD"), {})

    assert change_of("no-foreach", survey) == ("AdamW(..., foreach=False)", "SGD(..., foreach=False)")
