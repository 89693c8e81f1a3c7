from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.capture.system.resident import PAGE_BYTES, ResidentMemory, read_rss_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own file of resident memory")


@pytest.fixture
def memory() -> Iterator[ResidentMemory]:
    opened = ResidentMemory()
    yield opened
    opened.close()


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def numbers() -> set[int]:
    return {int(entry.name) for entry in Path("/proc/self/fd").iterdir() if entry.exists()}


MEMORY_USED = """
from pathlib import Path
from tenure.capture.system.resident import PAGE_BYTES, ResidentMemory, read_rss_bytes

memory = ResidentMemory()
before = memory.read()
used = b"x" * (64 << 20)
after = memory.read()
print(before, after, read_rss_bytes(), int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES)
"""


def test_memory_that_is_used_shows_at_the_next_reading() -> None:
    ran = subprocess.run([sys.executable, "-c", MEMORY_USED], capture_output=True, text=True, check=True)
    before, after, once, kernel = map(int, ran.stdout.split())

    assert after - before == pytest.approx(64 << 20, rel=0.1)
    assert after == pytest.approx(kernel, rel=0.05) == once


def test_one_descriptor_is_held_with_a_high_number_and_given_back(memory: ResidentMemory) -> None:
    before = numbers()
    memory.read()
    memory.read()
    held = numbers() - before
    memory.close()

    assert [number >= 192 for number in held] == [True]
    assert numbers() == before


def test_a_program_that_closes_the_descriptor_is_read_on(memory: ResidentMemory) -> None:
    memory.read()
    os.close(memory._file)

    assert memory.read() == pytest.approx(resident_bytes(), rel=0.05)


@pytest.mark.parametrize("text", ["", "1 2 3", "a b c d e f g"])
def test_a_file_of_the_program_that_has_the_number_now_is_neither_taken_for_it_nor_closed(
    memory: ResidentMemory, tmp_path: Path, text: str
) -> None:
    memory.read()
    number = memory._file
    path = tmp_path / "own"
    path.write_text(text)
    with path.open("rb") as own:
        os.dup2(own.fileno(), number)
        first = memory.read()
        memory.close()

        assert first == pytest.approx(resident_bytes(), rel=0.05)
        assert os.pread(number, 100, 0) == text.encode()
        os.close(number)


def test_closing_leaves_a_number_alone_that_is_no_longer_ours(memory: ResidentMemory, tmp_path: Path) -> None:
    memory.read()
    number = memory._file
    (tmp_path / "own").touch()
    with (tmp_path / "own").open("rb") as own:
        os.dup2(own.fileno(), number)
        memory.close()

        assert os.fstat(number).st_ino == os.fstat(own.fileno()).st_ino
        os.close(number)


def test_programs_that_are_started_do_not_get_it(memory: ResidentMemory) -> None:
    memory.read()
    code = "import os, sys; print(os.path.exists(sys.argv[1]))"
    command = [sys.executable, "-c", code, f"/proc/self/fd/{memory._file}"]

    ran = subprocess.run(command, close_fds=False, capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"


def test_where_the_system_does_not_say_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tenure.capture.system.resident._STATM", str(tmp_path / "none"))

    assert ResidentMemory().read() is None
    assert read_rss_bytes() is None
