"""Ten reports as people read them: the first leaking program of ten rules' pages, whole, as the command prints them.

After a wanted change: `python tests/test_reports.py` writes them anew; read the difference before it is committed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pages import PAGE_FILES, read_programs

REPORTS = Path(__file__).with_name("reports")
CASES = ("TN101", "TN102", "TN103", "TN106", "TN201", "TN203", "TN204", "TN301", "TN401", "TN405")
EXPERIMENT_STEP = 13
OF_THIS_MACHINE = re.compile(r"(?m)^  forecast .*\n(?: {12}.*\n)*")
"""How far the machine's memory reaches."""
OF_THE_CLOCK = re.compile(r"(?m)(?<=^tenure: watching took )(.*)(?= of the program)|(?<=the diagnosis )[\d.]+ m?s$")
"""What both took."""
OF_THE_HEAP = re.compile(r"(?<=└─ )\[\d+\]")
"""Which of many equal elements is drawn."""


OF_RINGS = re.compile(r"(?m)^  tested .*\n(?: {12}a collection .*\n)?")
"""Which of the rings that the last census saw were there when the copy was made: they come and go."""
HELD_BY_RINGS = re.compile(r"[\d.]+ MiB(?= held by a cycle| no one)")
"""How many of them the census with the most of them met."""
BEFORE_RINGS = re.compile(r" {2,}(?=\w+ · [\d.]+ MiB held by a cycle)")
"""As wide as that number is short."""


def report_of(code: str, folder: Path) -> str:
    """What `tenure run` prints of the program, on one thread: others share the machine. However slow that is, all
    censuses are taken."""
    (page,) = (page for page in PAGE_FILES if page.stem.startswith(code))
    program = next(program for program in read_programs(page) if program.heading == "Leaks")
    (folder / "train.py").write_text("\n".join(program.unmarked_lines) + "\n", encoding="utf-8")
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "tenure",
            "run",
            "--budget",
            "100",
            "--experiment-step",
            str(EXPERIMENT_STEP),
            "-o",
            "recording",
            "train.py",
        ],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    text = OF_THE_HEAP.sub("[n]", OF_THE_CLOCK.sub("n s", OF_THIS_MACHINE.sub("", run.stderr)))
    if "held by a cycle" not in text:
        return text
    return OF_RINGS.sub("", HELD_BY_RINGS.sub("n MiB", BEFORE_RINGS.sub("  ", text)))


@pytest.mark.slow
@pytest.mark.parametrize("code", CASES)
def test_the_report_reads_as_it_was_read_and_found_good(code: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the programs of the pages train with torch")
    assert report_of(code, tmp_path) == (REPORTS / f"{code}.txt").read_text(encoding="utf-8")


def main() -> None:
    REPORTS.mkdir(exist_ok=True)
    for code in CASES:
        with tempfile.TemporaryDirectory() as folder:
            (REPORTS / f"{code}.txt").write_text(report_of(code, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    main()
