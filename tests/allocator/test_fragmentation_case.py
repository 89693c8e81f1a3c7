"""The case of docs/fragmentation.md: its snapshots are what they are said to be, and its text is what is printed."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from allocator.fragmentation_case import FOLDER, KEPT, MENDED, packed
from tenure.allocator.replay import replay_snapshot
from tenure.allocator.settings import MIB
from tenure.cli.main import run_command_line
from tenure.store.torch_snapshot import read_snapshot

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fragmentation.md"


@pytest.mark.parametrize(("name", "mended"), [(KEPT, False), (MENDED, True)])
def test_the_snapshots_are_those_of_the_program(name: str, mended: bool) -> None:
    assert gzip.decompress((FOLDER / name).read_bytes()) == gzip.decompress(packed(mended=mended))


@pytest.mark.parametrize(("command", "name"), [("snapshot", KEPT), ("advise", KEPT), ("snapshot", MENDED)])
def test_the_page_shows_what_is_printed(
    command: str, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")

    assert run_command_line([command, str(FOLDER / name)]) == 0

    printed = capsys.readouterr().out.splitlines()
    blocks = [block.strip("\n").splitlines() for block in PAGE.read_text(encoding="utf-8").split("```")[1::2]]
    shown = [block[1:] for block in blocks if block[0] == f"$ tenure {command} {name}"]
    assert shown
    assert [line for block in shown for line in block if line != "..." and line not in printed] == []


def test_what_was_said_to_be_saved_is_saved_by_the_mended_program() -> None:
    before = replay_snapshot(read_snapshot(FOLDER / KEPT), 0)
    after = replay_snapshot(read_snapshot(FOLDER / MENDED), 0)

    assert (before.is_equal, after.is_equal) == (True, True)
    assert before.reserved.bytes - after.reserved.bytes == 148 * MIB
