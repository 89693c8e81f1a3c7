from __future__ import annotations

from collections.abc import Callable

import pytest

from tenure.analysis.host.running_profiler import find_profiler_growth
from tenure.model.recording import Step
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import Suspect

KIB, MIB = 1 << 10, 1 << 20
REPORT = """
class Report:
    def start(self):
        self.prof = profile(activities=[ProfilerActivity.CPU])
        self.prof.start()
"""


def found_in(
    rss: Callable[[int], int],
    *,
    steps: int = 40,
    profiled: Callable[[int], bool] = lambda step: True,
    explained: float = 0.0,
    text: str = REPORT,
) -> tuple[Suspect, ...]:
    rows = [
        Step(step, float(step), 1.0, {"rss_bytes": rss(step)} | ({"profiler_runs": 1} if profiled(step) else {}))
        for step in range(1, steps + 1)
    ]
    return find_profiler_growth(rows, explained, {"report.py": SourceFile("report.py", text)})


def in_chunks(step: int) -> int:
    """300 MiB, and three more every tenth step."""
    return 300 * MIB + 3 * MIB * (step // 10)


def test_a_process_that_grows_while_a_profiler_records_every_step_is_told_with_the_call_that_made_it() -> None:
    (found,) = found_in(in_chunks)

    assert (found.symptom, found.device, found.facts) == ("host", "host", {"profiler_runs": True})
    assert (found.holder.name, found.holder.sites) == ("prof", (SourceLocation("report.py", 4, "Report.start"),))
    assert 200 * KIB < (found.growth_bytes_per_step or 0) < 400 * KIB


@pytest.mark.parametrize(
    "case",
    [
        {"profiled": lambda step: step % 8 < 3},
        {"steps": 20},
        {"rss": lambda step: 300 * MIB},
        {"explained": 300.0 * KIB},
    ],
    ids=["with a schedule", "of few steps", "that does not grow", "by what findings explain"],
)
def test_other_processes_are_not(case: dict[str, object]) -> None:
    assert found_in(**{"rss": in_chunks, **case}) == ()  # type: ignore[arg-type]


def test_a_profiler_with_a_schedule_made_elsewhere_is_not_named() -> None:
    (found,) = found_in(in_chunks, text=REPORT.replace("CPU])", "CPU], schedule=plan)"))

    assert (found.holder.name, found.holder.sites) == ("profile", ())
