"""Scopes in every shape of code, on every interpreter that is on the path, with the C walker and without."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tenure
from tenure.capture.heap.heapwalk import NATIVE

PROGRAM = Path(__file__).with_name("scope_shapes.py")
SOURCE = Path(tenure.__file__).parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def run(interpreter: str, source: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [interpreter, "-W", "error::RuntimeWarning", str(PROGRAM)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=100)


def is_there(interpreter: str, version: str) -> bool:
    """Whether it starts, and is that version: what lies on the path may only stand for one."""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([interpreter, "-c", asked], capture_output=True, text=True, check=False)
    return answer.stdout.strip() == version


def without_walker(folder: Path) -> Path:
    """A copy of the package in which nothing is compiled."""
    compiled = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(SOURCE / "tenure", folder / "tenure", ignore=compiled)
    return folder


@pytest.mark.skipif(not NATIVE, reason="the C walker is not compiled here")
def test_every_shape_is_right_with_the_walker() -> None:
    told = run(sys.executable, SOURCE)

    assert told.stdout.splitlines()[-1:] == ["0 of 25 shapes are wrong"], told.stdout + told.stderr


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_every_shape_is_right_on_every_python_of_this_machine(version: str, tmp_path: Path) -> None:
    ours = "{}.{}".format(*sys.version_info[:2]) == version
    interpreter = sys.executable if ours else shutil.which(f"python{version}")
    if interpreter is None or not is_there(interpreter, version):
        pytest.skip(f"no python{version} that starts is on the path")

    told = run(interpreter, without_walker(tmp_path))

    assert told.stdout.splitlines()[-1:] == ["0 of 25 shapes are wrong"], told.stdout + told.stderr
