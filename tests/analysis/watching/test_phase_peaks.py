"""Which phase of a profiled step needs most memory."""

from __future__ import annotations

from pathlib import Path

from profiles import MIB, profile
from tenure.analysis.watching.phase_peaks import phase_peaks, read_phase_peaks
from tenure.model.outlook import PhasePeaks
from tenure.model.profile import Phase
from tenure.model.recording import ProfileEntry
from tenure.store.profile_file import write_profile

FORWARD, BACKWARD, OPTIMIZER = Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER
SEEN = profile(
    (1, 1, -1, 9, -1),
    (2, 4, 5, 7, 7),
    (3, 8, 7, 8, 8),
    (4, 99, 0, 3, 3),
    phases=[FORWARD] * 5 + [FORWARD, FORWARD, BACKWARD, BACKWARD, OPTIMIZER],
)
TOLD = PhasePeaks(6, "cpu", {"forward": 5 * MIB, "backward": 13 * MIB, "optimizer": 1 * MIB})


def test_the_most_of_each_phase_is_that_of_the_second_step() -> None:
    assert phase_peaks(SEEN) == TOLD


def test_a_profile_without_operations_tells_nothing() -> None:
    assert phase_peaks(profile(operations=0, second=0)) is None


def test_the_last_profile_that_can_be_read_is_told(tmp_path: Path) -> None:
    write_profile(tmp_path / "profile-000006.npz", SEEN)
    (tmp_path / "profile-000009.npz").write_bytes(b"cut")
    entries = [ProfileEntry(step, f"profile-{step:06d}.npz", 0.1) for step in (6, 9)]

    assert read_phase_peaks(str(tmp_path), entries) == TOLD
    assert read_phase_peaks(str(tmp_path), ()) is None
