from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fixing_findings import HISTORY, SAME, measured, run_of
from tenure.errors import UsageError
from tenure.fixing import fix as module
from tenure.fixing.runs import Order, Run, Runner
from tenure.fixing.told import make_head, tell_bound, tell_files
from tenure.fixing.verdict import judge, make_baseline
from tenure.model.fix import TriedEdit


class LateRunner(Runner):
    """Gives runs that are made already."""

    def __init__(self, *runs: Run, steps: int | None = None) -> None:
        super().__init__(Order((sys.executable, "train.py"), Path(), Path(), True, steps, 5.0))
        self._runs = list(runs)

    def run(self, *arguments: object, **options: object) -> Run:
        self.num_runs += 1
        return self._runs.pop(0)


def test_the_head_of_a_patch_says_what_it_rests_on() -> None:
    other = {12: ("0.0=1:dd", 3.01)}
    baseline = make_baseline(measured(parameters={12: ("0.0=1:bb", 3.0)}), run_of(), other)
    after = measured((), growth=0.0, parameters=other)
    verdict = judge(baseline, after, after.run, (HISTORY,))
    kept = TriedEdit("TN303", "hooks-added", "/tree/train.py", 7, "trial", (), True, "less")

    assert make_head("train.py", baseline, verdict, (kept, replace(kept, kept=False)))[1:] == [
        "not proved: the program is not deterministic",
        "kept by trial: TN303 at train.py:7",
        "compared: parameters: their norm alone, 0.01 off, two unchanged runs 0.01; 0.03 is allowed, after step 12",
        "compared: stdout: 2 words",
        "compared: files: model.pt",
        "not compared: parameters: their bits, in which two unchanged runs differ",
    ]


def test_what_was_kept_from_being_written_is_told_once() -> None:
    run = run_of(refused=("/lib/a.txt: Read-only file system",), changed_originals=(Path("/tree/data.bin"),))

    assert tell_files(run, run) == [
        "/tree/data.bin was changed while the program ran",
        "kept from being written: /lib/a.txt: Read-only file system",
    ]


def test_a_program_that_runs_forever_is_bounded_by_most_of_the_steps_that_it_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "count_steps", lambda run: 40)
    runner, said = LateRunner(run_of(timed_out=True, exit_code=-15), run_of()), list[str]()

    monkeypatch.setattr(module, "measure", lambda run: measured(parameters=SAME))
    module._run_unchanged(runner, said.append)

    assert said == [
        "run 1: as it is",
        "the program did not end within 5 s, with 40 steps made; each run ends after 30 from here on",
        "run 2: as it is",
    ]
    assert runner.order.steps == 30
    assert tell_bound(runner) == ["the program did not end within 5 s: what is told here is of its first 30 steps"]


@pytest.mark.parametrize(("made", "steps"), [(0, None), (5, None), (40, 50)])
def test_a_program_that_made_few_steps_or_fewer_than_asked_is_not_run_again(
    made: int, steps: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "count_steps", lambda run: made)

    with pytest.raises(UsageError, match="did not end within 5 s"):
        module._run_unchanged(LateRunner(run_of(timed_out=True), steps=steps), print)
