from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tenure.fixing.batch_settings import BatchSetting, InCommand, InSource
from tenure.fixing.batches import BatchSearch, with_largest, with_samples
from tenure.fixing.runs import Order
from tenure.model.fix import Figures, Fix

BEFORE, AFTER = Figures((), 12, 900, step_seconds=0.5), Figures((), 12, 500, step_seconds=0.25)
PROVED = Fix("train.py", True, "--- a\n", BEFORE, AFTER, True, True, True, (), 3, ("a note",))
PARSED = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--bs')\np.parse_args()\n"


def test_samples_per_second_follow_from_the_runs_there_are() -> None:
    setting = BatchSetting("--bs", "the default of --bs (train.py:3)", 32, InCommand("--bs", " "))

    told = with_samples(PROVED, setting)

    assert (told.before.samples_per_second, told.after and told.after.samples_per_second) == (64, 128)
    assert told.notes == (
        "a note",
        "samples per second: those of batch size 32 from the default of --bs (train.py:3)",
    )
    assert told.num_runs == 3
    assert with_samples(PROVED, replace(setting, size=None)) == PROVED
    assert with_samples(replace(PROVED, after=None), setting) == replace(PROVED, after=None)


@pytest.mark.parametrize(
    ("source", "size", "why"),
    [
        (PARSED, None, "the program does not take it: train.py: error: unrecognized arguments: --batch 8"),
        (PARSED, 32, "the program does not take it: train.py: error: unrecognized arguments: --batch 32"),
        ("raise SystemExit('no data')\n", 32, "exit code 1: no data, with the size 32 that it has already"),
    ],
)
def test_a_program_that_does_not_take_the_option_ends_the_search_with_one_run(
    source: str, size: int | None, why: str, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "train.py").write_text(source)
    order = Order((sys.executable, "train.py"), tmp_path / "tree", tmp_path / "scratch")
    setting = BatchSetting("--batch", "--batch", size, InCommand("--batch", " "))

    told = with_largest(PROVED, order, BatchSearch(setting, 1000), {}, [].append)

    assert told.num_runs == PROVED.num_runs + 1
    assert told.notes[-1] == f"the largest batch was not searched: --batch: {why}"
    assert (told.patch, told.before.largest_batch) == (PROVED.patch, None)


def test_a_number_that_the_edited_script_has_no_more_costs_no_run(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    script = tmp_path / "tree" / "train.py"
    script.write_text("SIZE = 1\n")
    order = Order((sys.executable, "train.py"), tmp_path / "tree", tmp_path / "scratch")
    setting = BatchSetting("SIZE", "SIZE (train.py:1)", 1, InSource(script, "constant", "SIZE"))

    told = with_largest(PROVED, order, BatchSearch(setting, 1000), {script: (b"", b"")}, [].append)

    assert told.num_runs == PROVED.num_runs
    assert told.notes[-1].endswith("SIZE (train.py:1): the edited source has 0 places that may be SIZE")
