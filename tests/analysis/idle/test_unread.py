"""Whether another file of the program may ask a module for a name."""

from __future__ import annotations

import pytest

from tenure.analysis.idle.unread import Program
from tenure.model.source import SourceFile

HOME = SourceFile("/w/train.py", "table = load()\n")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("from train import table", True),
        ("from train import helper, table", True),
        ("from train import (\n    helper,\n    table,\n)", True),
        ("from train import helper, \\\n    table", True),
        ("import train\nprint(train.table)", True),
        ("import train as t\nprint(t.table)", True),
        ("from . import train\nprint(train.table)", True),
        ("from .train import *\nprint(table)", True),
        ("import __main__ as main\nprint(main.table)", True),
        ("import sys\nprint(sys.modules['__main__'].table)", True),
        ("from train import helper", False),
        ("import training\ntable = training.table", False),
        ("from tables import table", False),
        ("if __name__ == '__main__':\n    table = 1", False),
    ],
)
def test_another_file_may_ask_for_a_name_where_it_has_both_the_name_and_an_import_of_the_module(
    text: str, asks: bool
) -> None:
    other = SourceFile("/w/other.py", text)
    program = Program({each.path: each for each in (HOME, other)})

    assert program.is_known_elsewhere(HOME, "table") is asks
