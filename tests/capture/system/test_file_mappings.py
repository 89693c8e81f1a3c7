from pathlib import Path

from tenure.capture.system.file_mappings import find_mapped

MAPS = """\
55d0c0000000-55d0c0002000 r--p 00000000 08:01 131 /usr/bin/python3.11
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
7f0000200000-7f0000300000 rw-s 00000000 00:05 77 /dev/shm/torch_1
7f0000400000-7f0000500000 rw-p 00000000 08:01 90 /data/my weights.pt
7f0000600000-7f0000700000 rw-p 00000000 00:00 0 [heap]
"""


def test_memory_of_a_mapped_file_is_told_from_all_other(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text(MAPS)

    addresses = [
        start + 16 for start in (0x7F0000000000, 0x7F0000200000, 0x7F0000400000, 0x7F0000500000, 0x7F0000600000)
    ]

    assert find_mapped(addresses, str(maps)) == {0x7F0000400010}


def test_where_the_system_does_not_say_nothing_is_mapped(tmp_path: Path) -> None:
    assert find_mapped([1, 2], str(tmp_path / "nothing")) == set()
