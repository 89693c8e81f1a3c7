"""The pages of the helpers: each block of code runs, and prints what stands below it."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tenure.cli.main import run_command_line

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = (
    "step-scope",
    "losses",
    "release",
    "expect-freed",
    "trim",
    "caches",
    "metrics",
    "tensor-pool",
    "out-of-memory",
    "batch-size",
    "doctor",
)
OF_THE_PROCESS = re.compile(r"(?<=^  took )( +)[\d.]+ m?s$|[\d.]+ \w+ -> [\d.]+ \w+(?= in tensors)", re.MULTILINE)
"""How long a call took differs from run to run, and all tensors of the process are other blocks' too."""
BLOCK = re.compile(r"^```py\n(.*?)^```$(?:\n+^```\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    page: str
    number: int
    program: str
    output: str


def blocks_of(page: str) -> list[Block]:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return [Block(page, number, found[1], found[2] or "") for number, found in enumerate(BLOCK.finditer(text), start=1)]


BLOCKS = [pytest.param(block, id=f"{page}-{block.number}") for page in PAGES for block in blocks_of(page)]


RUN_BLOCKS = """
import contextlib, io, json, os, sys, tempfile, traceback

printed = []
for program in json.load(sys.stdin):
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as output:
        os.chdir(folder)
        try:
            exec(compile(program, "train.py", "exec"), {"__name__": "__main__", "__file__": "train.py"})
        except Exception:
            print(traceback.format_exc())
        os.chdir("/")
    printed.append(output.getvalue())
json.dump(printed, sys.stdout)
"""


@functools.cache
def run_blocks() -> dict[Block, str]:
    """What each block prints as `train.py`, without what other tests have left alive, uncollectable rings included."""
    blocks = [block for page in PAGES for block in blocks_of(page)]
    programs = [block.program for block in blocks]
    command = [sys.executable, "-W", "error", "-c", RUN_BLOCKS]
    child = subprocess.run(command, input=json.dumps(programs), capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return dict(zip(blocks, json.loads(child.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.xdist_group("blocks of the helpers' pages")
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_prints_what_its_page_says(block: Block) -> None:
    assert OF_THE_PROCESS.sub("", run_blocks()[block]) == OF_THE_PROCESS.sub("", block.output)


@pytest.mark.slow
def test_the_doctor_says_of_the_pages_program_and_environment_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (DOCS / "doctor.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    settings, advice = (block for language, block in blocks if not language)
    for name, value in (line.split("=", 1) for line in settings.splitlines()):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(blocks_of("doctor")[0].program)

    assert run_command_line(["doctor", "train.py"]) == 0
    assert advice in capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_parts_and_is_linked(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert {"The call", "What it costs", "What it does not do"} <= set(headings)
    assert f"{page}.md" in (DOCS / "helpers.md").read_text(encoding="utf-8")
