"""When findings are looked for again: at censuses, and as the process grows between them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from live.test_dashboard import Finder, Program, drive, look_again, no_findings, screen_text
from report.test_outlook import COUNTER, OUTLOOK
from tenure.errors import RecordingError
from tenure.live import lines
from tenure.live.dashboard import Dashboard
from tenure.live.findings_due import MOST_DIAGNOSED, Due, FindingsSoFar, findings_due
from tenure.model.finding import Diagnosis
from tenure.model.recording import CensusEntry, Recording

STILL = replace(OUTLOOK, counters=(replace(COUNTER, grows_per_step=None),))


def recording(name: str, *, censuses: int) -> Recording:
    entries = tuple(CensusEntry(step, "step-end", "", 0.1, 1, {}) for step in range(censuses))
    return Recording(path=name, process={}, steps=(), censuses=entries, notes=(), sources={}, end=None)


def test_growth_is_looked_for_where_a_counter_grows_and_again_at_twice_the_steps() -> None:
    assert [bool(findings_due(0, STILL)), findings_due(3, STILL)] == [False, Due(3, (), 0)]
    assert findings_due(0, replace(OUTLOOK, steps=1000)) == Due(0, ("allocated_bytes",), 10)
    assert findings_due(0, replace(OUTLOOK, steps=1024)) == Due(0, ("allocated_bytes",), 11)


def test_a_process_is_diagnosed_anew_only_where_one_is_due_and_of_many_some_are() -> None:
    asked: list[str] = []

    def diagnose(each: Recording) -> Diagnosis:
        asked.append(each.path)
        if each.path == "gone":
            raise RecordingError("gone")
        return no_findings(each.path)

    found = FindingsSoFar(diagnose)
    looks = [("gone", 1), ("a", 0), ("a", 1), ("a", 1), ("a", 2), *((str(number), 1) for number in range(9))]
    told = [found.look(recording(name, censuses=count), STILL) for name, count in looks]
    assert asked == ["gone", "a", "a", *map(str, range(MOST_DIAGNOSED - 1))]
    assert [each is not None for each in told] == [False, False, True, True, True, True, True, *[False] * 7]


def test_a_process_that_grows_without_a_census_is_looked_into(tmp_path: Path) -> None:
    program, finder = Program(tmp_path / "run"), Finder()
    said: list[list[str]] = []

    async def watch(app: Dashboard) -> None:
        for steps in (20, 180, 20, 100):
            program.train(steps)
            await look_again(app)
            told = [line for line in screen_text(app) if line.startswith("findings")]
            said.append([*told, str(len(finder.asked))])

    drive(program.folder, watch, find=finder)
    assert said == [
        ["findings  no census yet", "0"],
        ["findings  none · from 0 censuses", "1"],
        ["findings  none · from 0 censuses", "1"],
        ["findings  none · from 0 censuses", "2"],
    ]


@pytest.mark.parametrize("count", [0, 3])
def test_what_was_not_seen_stands_below_the_findings(count: int) -> None:
    diagnosis = replace(no_findings("run"), not_seen=tuple(f"text {number}" for number in range(count)))
    unseen = [f"text {number}" for number in range(min(count, 2))]
    assert lines.findings_lines(diagnosis, state="from 2 censuses") == [
        "findings  none · from 2 censuses",
        *(f"  not seen: {text}" for text in unseen),
    ]
    assert lines.findings_rows(diagnosis) == [
        ("findings", "none · from 2 censuses"),
        *(("not seen", text) for text in unseen),
    ]
