"""Where a process of a run records: the run's folder for a program alone, a folder below it for one of several."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tenure.capture.system.ranks import find_place, read_number
from tenure.store.format import PROCESS_FILE, name_attempt, name_process_folder

RECORDING_VARIABLE = "TENURE_RECORDING"
OPTIONS_VARIABLE = "TENURE_OPTIONS"
PACKAGE_VARIABLE = "TENURE_PACKAGE"
LAUNCHER_VARIABLE = "TENURE_LAUNCHER"
OVERLAY_VARIABLE = "TENURE_OVERLAY"
SEED_VARIABLE = "TENURE_SEED"
SWITCH_VARIABLE = "TENURE"
BUDGET_VARIABLE = "TENURE_BUDGET"
MAX_ATTEMPTS = 1000


def claim_process_folder(run_folder: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Make and give back this process's own folder; a folder that is taken is never written to."""
    rank = find_place(environment).rank
    started_by_us = read_number(environment, LAUNCHER_VARIABLE) == os.getppid()
    if rank is None and started_by_us and _claim_itself(run_folder):
        return run_folder
    name = name_process_folder(rank=rank, pid=os.getpid())
    for attempt in range(1, MAX_ATTEMPTS):
        folder = run_folder / name_attempt(name, attempt)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{run_folder / name} and {MAX_ATTEMPTS} more attempts are taken")


def _claim_itself(run_folder: Path) -> bool:
    """True for the first that asks: the exclusive creation of process.json is the claim."""
    run_folder.mkdir(parents=True, exist_ok=True)
    try:
        (run_folder / PROCESS_FILE).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
