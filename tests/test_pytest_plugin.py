"""The pytest plugin, in a pytest of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "expect-freed.md"
PROGRAM = """
import pytest
import torch
from torch import nn

KEPT = []


def test_that_lets_go(expect_freed):
    model = nn.Linear(8, 8)
    expect_freed(model)


def test_that_keeps(expect_freed):
    model = nn.Linear(8, 8)
    expect_freed(model)
    KEPT.append(model)


def test_that_fails_by_itself(expect_freed):
    model = nn.Linear(8, 8)
    expect_freed(model)
    KEPT.append(model)
    assert False, "mine"


@pytest.mark.expect_freed
def test_marked_that_leaves_nothing():
    nn.Linear(8, 8)(torch.ones(1, 8)).sum().backward()


@pytest.mark.expect_freed
def test_marked_that_leaves_a_tensor():
    KEPT.append(torch.ones(8))


@pytest.mark.expect_freed
def test_marked_that_fails_by_itself():
    KEPT.append(torch.ones(8))
    assert False, "mine too"


def test_with_a_block():
    import tenure

    model = nn.Linear(8, 8)
    with tenure.expect_freed(model):
        del model
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "test_program.py").write_text(PROGRAM)
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    (folder / "test_page.py").write_text(block)
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}
    command = [sys.executable, "-m", "pytest", "-p", "tenure.pytest_plugin", "--strict-markers", "-rA", "-q"]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout + run.stderr
    return run.stdout


@pytest.mark.slow
def test_those_that_let_go_pass_and_those_that_keep_fail(output: str) -> None:
    told = re.findall(r"^(PASSED|FAILED|ERROR) test_program.py::(\w+)", output, re.MULTILINE)
    assert sorted(told, key=lambda item: item[1]) == [
        ("FAILED", "test_marked_that_fails_by_itself"),
        ("FAILED", "test_marked_that_leaves_a_tensor"),
        ("PASSED", "test_marked_that_leaves_nothing"),
        ("FAILED", "test_that_fails_by_itself"),
        ("PASSED", "test_that_keeps"),
        ("ERROR", "test_that_keeps"),
        ("PASSED", "test_that_lets_go"),
        ("PASSED", "test_with_a_block"),
    ]


@pytest.mark.slow
def test_the_tests_on_the_page_pass(output: str) -> None:
    assert re.findall(r"^(PASSED|FAILED|ERROR) test_page.py::(\w+)", output, re.MULTILINE) == [
        ("PASSED", "test_a_session_lets_go_of_its_model"),
        ("PASSED", "test_a_step_leaves_nothing"),
    ]


@pytest.mark.slow
def test_a_failure_names_what_holds_on_and_what_to_drop(output: str) -> None:
    assert "global `KEPT` in test_program (test_program.py)" in output
    assert re.search(r"to free +drop `KEPT", output)


def test_the_plugin_is_registered_under_the_name_of_its_module() -> None:
    """So that `-p tenure.pytest_plugin` and the installed entry point are one."""
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\n"tenure.pytest_plugin" = "tenure.pytest_plugin"' in text


@pytest.mark.slow
def test_the_plugin_loads_no_torch_by_itself() -> None:
    program = "import tenure.pytest_plugin, sys; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
