"""The short form of benchmarks/ways_of_keeping.py: all of its programs are whole, and some are run and judged."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
SOME = ("dict by words few", "setattr numbered", "setdefault", "queue", "timers")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import ways_of_keeping

    return ways_of_keeping


def read(script: Any) -> list[Any]:
    return list(script.read_ways((BENCHMARKS / "ways_of_keeping.txt").read_text()))


def test_every_way_is_a_program_with_a_marked_line_and_a_name_of_its_own(script: Any) -> None:
    ways = read(script)
    programs = [way.program(script.TENSOR) for way in ways]

    assert len(ways) > 100
    assert [ast.parse(program) and None for program in programs] == [None] * len(ways)
    assert [way.name for way, program in zip(ways, programs, strict=True) if script.MARK not in program] == []
    assert [name for name, count in Counter(way.name for way in ways).items() if count > 1] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", SOME)
def test_a_way_is_named_first_and_nothing_beside_it(script: Any, name: str) -> None:
    pytest.importorskip("torch", reason="the programs train with torch")
    (way,) = (way for way in read(script) if way.name == name)

    judged = script.judge(way, script.TENSOR)

    assert (judged.rank, judged.others) == (1, 0), judged.said
