from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tenure.fixing.runs import Order, Run, Runner

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only"),
]
TELL = """
import json, os, random, sys

before = "torch" in sys.modules
import numpy
import torch

import beside

print(json.dumps({
    "arguments": sys.argv, "name": __name__, "first": sys.path[0], "folder": os.getcwd(), "random": random.random(),
    "numpy": float(numpy.random.rand()), "torch": torch.rand(()).item(), "told": os.environ["TOLD"],
    "own": sorted(name for name in os.environ if name.startswith("TENURE")), "descriptors": len(os.listdir("/proc/self/fd")),
    "leads": os.getsid(0) == os.getpid(), "before": before,
}))
print("gone", file=sys.stderr)
sys.exit(len(sys.argv))
"""  # noqa: E501


def tree(tmp_path: Path, program: str, **files: str) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for name, text in {"train": program, "beside": "", **files}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def runs(
    tmp_path: Path, folder: Path, *, prepares: bool, timeout: float | None = None, more: int = 1
) -> tuple[list[Run], bool]:
    """So many runs with an argument more each, and whether the last was a copy."""
    scratch = tmp_path / f"scratch-{prepares}"
    command = (sys.executable, "train.py", "first")
    runner = Runner(Order(command, folder, scratch, False, None, timeout, (("TOLD", "yes"),), prepares))
    try:
        return [runner.run(arguments=["more"] * number) for number in range(more)], runner.start_afresh()
    finally:
        runner.close()


def test_a_copy_is_to_the_program_what_a_fresh_process_is(tmp_path: Path) -> None:
    folder = tree(tmp_path, TELL)

    fresh, was_fresh = runs(tmp_path, folder, prepares=False, more=2)
    copies, were_copies = runs(tmp_path, folder, prepares=True, more=2)

    assert (was_fresh, were_copies) == (False, True)
    for one, other in zip(fresh, copies, strict=True):
        told, expected = json.loads(other.stdout), json.loads(one.stdout.replace("scratch-False", "scratch-True"))
        assert (told.pop("before"), expected.pop("before")) == (True, False)
        assert told == expected
        assert (other.exit_code, other.last_line, other.timed_out) == (one.exit_code, "gone", False)
    assert [run.exit_code for run in copies] == [2, 3]


def test_a_copy_is_ended_after_its_time_and_by_its_signal(tmp_path: Path) -> None:
    folder = tree(tmp_path, "import os, signal, sys, time\nos.kill(os.getpid(), 9) if sys.argv[2:] else time.sleep(99)")

    (late, killed), were_copies = runs(tmp_path, folder, prepares=True, timeout=15, more=2)

    assert were_copies
    assert [(run.exit_code, run.timed_out) for run in (late, killed)] == [(-15, True), (-9, False)]


def test_a_program_beside_a_module_of_a_loaded_ones_name_starts_afresh(tmp_path: Path) -> None:
    folder = tree(tmp_path, "import torch.utils\nimport decimal\nprint(decimal.OWN)", decimal="OWN = 'own'")

    (run,), _ = runs(tmp_path, folder, prepares=True)

    assert (run.stdout, run.exit_code) == ("own\n", 0)


def test_where_a_thread_runs_before_the_program_runs_start_afresh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(hooks), prepend=":")
    folder = tree(tmp_path, "print(1)")

    (run,), were_copies = runs(tmp_path, folder, prepares=True)

    assert (run.stdout, run.exit_code, were_copies) == ("1\n", 0, False)
