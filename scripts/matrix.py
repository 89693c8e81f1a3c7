"""Runs a short list of tests on several versions of Python and torch, each in an environment of its own.

    python scripts/matrix.py [--folder .matrix] [--keep] [CELL ...]      a cell is TORCH/PYTHON, as in 2.8.0/3.12

An environment takes gigabytes (torch's CUDA packages) and is deleted after its run unless `--keep` is given.
Prints a Markdown table: what passed, failed and was skipped, and the names of the failures below it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CELLS = ("2.4.1/3.10", "2.6.0/3.11", "2.8.0/3.12", "2.10.0/3.13", "2.12.1/3.13", "2.13.0/3.11", "2.15.0/3.11")
TESTS = ("tests/capture", "tests/analysis", "tests/store", "tests/rules", "tests/test_rule_pages.py",
         "tests/harm/test_long_graphs.py")  # fmt: skip
LAST_NUMPY = {"2.4": "numpy<2.3"}
SECONDS_PER_FILE = 600


@dataclass
class Outcome:
    """What came of one cell; `problem` says why nothing ran."""

    cell: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[str, ...] = ()
    problem: str = ""


def main() -> int:
    """Runs the cells one after the other; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cells", nargs="*", default=CELLS, metavar="CELL")
    parser.add_argument("--folder", type=Path, default=ROOT / ".matrix")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    outcomes = []
    for cell in options.cells:
        outcomes.append(run_cell(cell, options.folder, keep=options.keep))
        print_row(outcomes[-1])
    for outcome in outcomes:
        for name in outcome.failures:
            print(f"{outcome.cell}: {name}")
    return int(any(outcome.failed or outcome.problem for outcome in outcomes))


def run_cell(cell: str, folder: Path, *, keep: bool) -> Outcome:
    """Makes the environment, builds the walker in it, runs the tests, one process per file."""
    torch_version, _, python_version = cell.partition("/")
    interpreter = shutil.which(f"python{python_version}")
    if interpreter is None:
        return Outcome(cell, problem=f"no python{python_version} on the path")
    home = folder.resolve() / cell.replace("/", "-py")
    try:
        python = make_environment(home, interpreter, torch_version)
    except subprocess.CalledProcessError as error:
        return Outcome(cell, problem=f"{error.cmd[1:4]} failed")
    try:
        return run_tests(cell, python)
    finally:
        if not keep:
            shutil.rmtree(home)


def make_environment(home: Path, interpreter: str, torch_version: str) -> Path:
    """The environment's Python; an environment that is there already is used as it is."""
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([interpreter, "-m", "venv", str(home)], check=True)
        numpy = LAST_NUMPY.get(".".join(torch_version.split(".")[:2]), "numpy")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        subprocess.run([*pip, f"torch=={torch_version}", numpy, "pytest", "hypothesis", "setuptools>=77"], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--no-build-isolation", "-e", str(ROOT)]
    subprocess.run(pip, check=True)
    return python


def run_tests(cell: str, python: Path) -> Outcome:
    """Test files in a process each, so that a crash costs one file."""
    outcome = Outcome(cell)
    path = os.pathsep.join((str(python.parent), os.environ["PATH"]))
    for file in test_files():
        command = [str(python), "-m", "pytest", "-q", "--tb=no", str(file)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": path}
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True,
                                  timeout=SECONDS_PER_FILE)  # fmt: skip
        except subprocess.TimeoutExpired:
            outcome.failed, outcome.failures = outcome.failed + 1, (*outcome.failures, f"{file}: took too long")
            continue
        read_summary(outcome, str(file), done)
    return outcome


def test_files() -> list[Path]:
    """All files of the short list, relative to the repository."""
    found = [file for place in TESTS for file in sorted((ROOT / place).glob("test_*.py")) or [ROOT / place]]
    return [file.relative_to(ROOT) for file in found]


def read_summary(outcome: Outcome, file: str, done: subprocess.CompletedProcess[str]) -> None:
    """Adds what pytest's last line says; a process that died counts as one failure."""
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|error)", done.stdout)}
    outcome.passed += counts.get("passed", 0)
    outcome.skipped += counts.get("skipped", 0)
    failures = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode not in (0, 1, 5):
        failures.append(f"{file}: ended with {done.returncode}")
    outcome.failed += len(failures)
    outcome.failures += tuple(failures)


def print_row(outcome: Outcome) -> None:
    """One row of the table, at once: a cell takes minutes."""
    torch_version, _, python_version = outcome.cell.partition("/")
    if outcome.problem:
        print(f"| {torch_version} | {python_version} | {outcome.problem} | | |", flush=True)
        return
    print(
        f"| {torch_version} | {python_version} | {outcome.passed} | {outcome.failed} | {outcome.skipped} |", flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
