"""Which part of a step needs most memory, by its last profile: forward, backward, the optimizer's step."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from tenure.errors import RecordingError
from tenure.model.outlook import PhasePeaks
from tenure.model.profile import Phase, StepProfile
from tenure.model.recording import ProfileEntry
from tenure.store.profile_file import read_profile

_IN_ORDER = (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER, Phase.OTHER)


def read_phase_peaks(folder: str, profiles: Sequence[ProfileEntry]) -> PhasePeaks | None:
    """Of the last profile that can be read; None where there is none. Costs what reading it costs: milliseconds."""
    for entry in reversed(profiles):
        with suppress(RecordingError):
            return phase_peaks(read_profile(Path(folder) / entry.file))
    return None


def phase_peaks(profile: StepProfile) -> PhasePeaks | None:
    """The most alive after an operation of each phase of the profile's second step; None without operations."""
    phases = profile.operations.phase[profile.second :]
    device = profile.main_device()
    alive = profile.bytes_alive(device)[profile.second :]
    there = (phase for phase in _IN_ORDER if np.any(phases == phase))
    found = {phase.name.lower(): int(alive[phases == phase].max()) for phase in there}
    return PhasePeaks(profile.step, device, found) if found else None
