from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tenure.capture.sampling.host import LONGEST_SECONDS, SHARES_SECONDS, SLOW_SECONDS, HostReader

STATUS = (
    "Name:\tpython\nVmHWM:\t  30 kB\nVmRSS:\t  20 kB\nRssAnon:\t 15 kB\nRssShmem:\t 1 kB\nVmSwap:\t 0 kB\nThreads:\t3\n"
)
SHARES = (
    "00400000-7ffe ---p 00000000 00:00 0 [rollup]\nRss: 20 kB\nPss: 18 kB\nPrivate_Clean: 2 kB\nPrivate_Dirty: 9 kB\n"
)


def write_proc(folder: Path, *, shares: str | None = SHARES) -> Path:
    for part in ("self/task/7", "self/fd", "11", "12"):
        (folder / part).mkdir(parents=True)
    (folder / "self/status").write_text(STATUS)
    if shares is not None:
        (folder / "self/smaps_rollup").write_text(shares)
    (folder / "self/task/7/children").write_text("11 12 ")
    (folder / "11/statm").write_text("100 5 2 1 0 9 0")
    for number in range(4):
        (folder / f"self/fd/{number}").touch()
    return folder


QUICK = {
    "rss_bytes": 20 << 10,
    "rss_peak_bytes": 30 << 10,
    "rss_anonymous_bytes": 15 << 10,
    "rss_shared_memory_bytes": 1 << 10,
    "swap_bytes": 0,
    "num_threads": 3,
}
SLOW = {"num_children": 2, "children_rss_bytes": 5 * os.sysconf("SC_PAGE_SIZE"), "num_files": 3}
ROOM = {"host_total_bytes", "host_available_bytes", "cgroup_limit_bytes", "cgroup_used_bytes"}


def own(counters: dict[str, int]) -> dict[str, int]:
    """Without what this machine has left."""
    return {name: value for name, value in counters.items() if name not in ROOM}


def test_what_costs_more_is_read_more_rarely(tmp_path: Path) -> None:
    said: list[str] = []
    host = HostReader(said.append, proc=str(write_proc(tmp_path)), linux=True)

    first, then = own(host.read(1.0)), own(host.read(2.0))

    assert first == {**QUICK, **SLOW, "pss_bytes": 18 << 10, "uss_bytes": 11 << 10}
    assert (then, said) == (QUICK, [])


def test_slow_sources_come_back_when_their_time_is_over(tmp_path: Path) -> None:
    host = HostReader(lambda text: None, proc=str(write_proc(tmp_path)), linux=True)
    host.read(0.0)

    assert set(SLOW) <= set(host.read(SLOW_SECONDS + 1e6))
    assert "pss_bytes" in HostReader(lambda text: None, proc=str(tmp_path), linux=True).read(SHARES_SECONDS)


def test_a_kernel_without_shares_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    host = HostReader(said.append, proc=str(write_proc(tmp_path, shares=None)), linux=True)

    assert own(host.read(1.0)) == {**QUICK, **SLOW}
    host._next_shares = 0.0
    assert own(host.read(2.0)) == QUICK
    assert said == [f"not counted: {tmp_path}/self/smaps_rollup (No such file or directory)"]


def test_shares_that_the_kernel_takes_long_for_are_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    host = HostReader(said.append, proc=str(write_proc(tmp_path)), linux=True)
    clock = iter([0.0, 0.4])
    monkeypatch.setattr("tenure.capture.sampling.host.time.thread_time", lambda: next(clock, 0.0))
    monkeypatch.setattr("tenure.capture.sampling.host.LONGEST_SECONDS", LONGEST_SECONDS)

    assert "pss_bytes" in host.read(1.0)
    assert own(host.read(1e9)) == {**QUICK, **SLOW}
    assert said == ["shares of pages (PSS, USS) are not read any more: the kernel took 0.40 s"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_this_process_has_all_of_it() -> None:
    said: list[str] = []

    counters = HostReader(said.append).read(1.0)

    assert set(QUICK) | set(SLOW) | {"pss_bytes", "uss_bytes", "host_total_bytes"} <= set(counters)
    assert 0 < counters["uss_bytes"] <= counters["rss_peak_bytes"]
    assert said == []


def test_elsewhere_psutil_is_asked() -> None:
    pytest.importorskip("psutil")
    said: list[str] = []

    counters = HostReader(said.append, linux=False).read(1.0)

    quick = {"rss_bytes", "num_threads", "host_total_bytes", "host_available_bytes"}
    assert set(counters) == quick | {"num_children", "children_rss_bytes", "num_files", "uss_bytes"}
    assert 0 < counters["uss_bytes"] <= counters["rss_bytes"]
    assert said == []


def test_without_psutil_it_is_said_what_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    said: list[str] = []
    host = HostReader(said.append, linux=False)

    assert [host.read(1.0), host.read(2.0)] == [{}, {}]
    assert said == ["not counted: memory of the host between steps; it needs psutil on this system"]
