"""The dashboard's whole screen, letter by letter, colours left out, in windows of three sizes.

After a wanted change: `python tests/live/test_screens.py`, with `src` and `tests` on PYTHONPATH, writes the files in
`tests/live/screens` anew; read the difference before it is committed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from live.test_dashboard import Program, drive, screen_text
from tenure.live.dashboard import Dashboard

SCREENS = Path(__file__).with_name("screens")
SIZES = ((80, 24), (20, 5), (120, 40))


def growing(folder: Path) -> None:
    """One process that goes on, keeps tensors, and has a note."""
    program = Program(folder)
    for _ in range(4):
        program.train(100)
        program.take_census()
    program.note("Memory grows: allocated memory by about 64.00 KiB per step; two closer looks come")


def ended_ranks(folder: Path) -> None:
    """Two ranks; the second was killed, the launcher then ended the first."""
    for rank, steps, signal in ((0, 150, 15), (1, 148, 9)):
        program = Program(folder / f"rank-0000{rank}", rank=rank)
        program.train(steps)
        program.take_census()
        row = {"kind": "note", "level": "info", "step": None, "text": f"the program was ended by signal {signal}"}
        program.writer.append({**row, "exit_code": -signal, "ended_at": 1e9 - 0.1 * rank}, flush=True)


RUNS: dict[str, Callable[[Path], None]] = {"growing": growing, "ended-ranks": ended_ranks}
CASES = [(name, size) for name in RUNS for size in SIZES]


def screen_of(name: str, size: tuple[int, int], folder: Path) -> str:
    """All lines of the screen, each as wide as it is written."""
    RUNS[name](folder / "run")
    shown: list[str] = []

    async def look(app: Dashboard) -> None:
        shown.extend(screen_text(app))

    drive(folder / "run", look, size=size)
    return "\n".join(shown) + "\n"


def file_of(name: str, size: tuple[int, int]) -> Path:
    """`screens/growing-80x24.txt`."""
    return SCREENS / f"{name}-{size[0]}x{size[1]}.txt"


@pytest.mark.parametrize(("name", "size"), CASES)
def test_the_whole_screen_is_as_it_was_written_down(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    assert screen_of(name, size, tmp_path) == file_of(name, size).read_text(encoding="utf-8")


def _write_all() -> None:
    SCREENS.mkdir(exist_ok=True)
    for name, size in CASES:
        with tempfile.TemporaryDirectory() as folder:
            file_of(name, size).write_text(screen_of(name, size, Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    _write_all()
