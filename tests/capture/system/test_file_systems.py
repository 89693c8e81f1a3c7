from __future__ import annotations

from pathlib import Path

import pytest

from tenure.capture.system.file_systems import network_file_system

MOUNTS = """/dev/sda1 / ext4 rw 0 0
server:/home {home} nfs4 rw,vers=4.2 0 0
tmpfs {home}/scratch tmpfs rw 0 0
me@host:/ {home}/my\\040disk fuse.sshfs rw 0 0
overlay {home}/layers fuse.fuse-overlayfs rw 0 0
one@tcp:/ {home}/big lustre rw 0 0
garbage
"""


@pytest.mark.parametrize(
    ("below", "expected"),
    [
        ("run", "nfs4"),
        ("scratch/run", None),
        ("scratch-2/run", "nfs4"),
        ("my disk/run", "fuse.sshfs"),
        ("layers", None),
        ("big/a/b", "lustre"),
        ("../elsewhere", None),
    ],
)
def test_the_innermost_mount_decides(tmp_path: Path, below: str, expected: str | None) -> None:
    home, mounts = tmp_path / "home", tmp_path / "mounts"
    mounts.write_text(MOUNTS.format(home=home))

    assert network_file_system(home / below, mounts=str(mounts)) == expected


def test_a_later_mount_at_the_same_place_hides_the_earlier_one(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text("a / nfs rw 0 0\nb / ext4 rw 0 0\n")

    assert network_file_system(tmp_path, mounts=str(mounts)) is None


def test_where_the_system_does_not_say_a_folder_counts_as_local(tmp_path: Path) -> None:
    assert network_file_system(tmp_path, mounts=str(tmp_path / "none")) is None
