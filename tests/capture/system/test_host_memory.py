from __future__ import annotations

from pathlib import Path

import pytest

from tenure.capture.system.host_memory import HostMemory, read_cgroup, read_host_memory

MIB = 1 << 20


def lay_out(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def ask(root: Path) -> tuple[int | None, int | None]:
    return read_cgroup(cgroup_root=root / "cgroup", proc=root / "proc")


def test_cgroup_2_takes_the_tightest_limit_of_all_enclosing_groups(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "proc/self/cgroup": "0::/job/step\n",
            "cgroup/job/memory.max": "1000\n",
            "cgroup/job/memory.current": "900\n",
            "cgroup/job/step/memory.max": "max\n",
            "cgroup/job/step/memory.current": "700\n",
        },
    )
    assert ask(tmp_path) == (700, 1000)


def test_a_container_sees_its_own_group_as_the_root(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "proc/self/cgroup": "0::/system.slice/docker-1.scope\n",
            "cgroup/memory.max": "max\n",
            "cgroup/memory.current": "700\n",
        },
    )
    assert ask(tmp_path) == (700, None)


def test_cgroup_1_writes_no_limit_as_a_huge_number(tmp_path: Path) -> None:
    lay_out(
        tmp_path,
        {
            "proc/self/cgroup": "5:cpu:/\n3:memory:/job\n0::/\n",
            "cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "cgroup/memory/job/memory.limit_in_bytes": "2000\n",
            "cgroup/memory/job/memory.usage_in_bytes": "1500\n",
        },
    )
    assert ask(tmp_path) == (1500, 2000)


@pytest.mark.parametrize("files", [{}, {"proc/self/cgroup": "0::/job\n"}, {"proc/self/cgroup": "no colons"}])
def test_a_system_without_cgroups_says_nothing(files: dict[str, str], tmp_path: Path) -> None:
    lay_out(tmp_path, files)
    assert ask(tmp_path) == (None, None)


def test_a_system_without_proc_still_gives_what_there_is(tmp_path: Path) -> None:
    found = read_host_memory(cgroup_root=tmp_path, proc=tmp_path)
    measured = {name for name in found.__dataclass_fields__ if getattr(found, name) is not None}
    unmeasured = {"proportional_bytes", "cgroup_used_bytes", "cgroup_limit_bytes"}
    assert unmeasured.isdisjoint(measured)
    assert {"resident_bytes", "system_total_bytes"} <= measured


def test_each_level_is_one_line() -> None:
    host = HostMemory(
        resident_bytes=300 * MIB,
        proportional_bytes=250 * MIB,
        unique_bytes=200 * MIB,
        children_bytes=64 * MIB,
        num_children=2,
        cgroup_used_bytes=512 * MIB,
        cgroup_limit_bytes=1024 * MIB,
        system_total_bytes=8192 * MIB,
        system_available_bytes=4096 * MIB,
    )
    assert host.lines() == [
        "process    300.00 MiB resident, 200.00 MiB of it only this process's, 2 children 64.00 MiB",
        "cgroup     512.00 MiB used, limit 1.00 GiB",
        "system     4.00 GiB available of 8.00 GiB",
    ]


def test_what_is_not_known_is_called_unknown() -> None:
    host = HostMemory(None, None, None, 0, 0, None, None, None, None)
    assert host.lines() == ["process    unknown resident", "system     unknown available of unknown"]
