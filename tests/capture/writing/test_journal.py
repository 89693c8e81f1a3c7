from __future__ import annotations

from pathlib import Path

from heaps import census
from tenure.capture.writing.journal import Journal
from tenure.store.recording_file import open_recording


def test_a_census_row_counts_bytes_storages_and_tensors_by_role(tmp_path: Path) -> None:
    taken = census(
        """
        main.weight -> tensor#w 100B parameter
        main.view -> tensor#v storage=w
        main.gradient -> tensor#g 20B gradient
        main.bias -> tensor#b 8B parameter
        """,
        step=3,
    )
    journal = Journal(lambda: tmp_path)
    journal.write_census(taken)
    journal.close()

    (entry,) = open_recording(tmp_path).censuses

    assert entry.bytes_by_role == {"parameter": 108, "gradient": 20}
    assert entry.storages_by_role == {"parameter": 2, "gradient": 1}
    assert entry.tensors_by_role == {"parameter": 3, "gradient": 1}
