"""The recorder of a process that `tenure run` started: opened when torch has been imported, closed at exit."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from pathlib import Path

from tenure.capture.copies.experiment_copy import call_before_shutdown
from tenure.capture.monitor import Monitor
from tenure.capture.options import MonitorOptions
from tenure.capture.writing.folders import LAUNCHER_VARIABLE, OPTIONS_VARIABLE, RECORDING_VARIABLE, claim_process_folder
from tenure.store.format import name_torch_mark


def start_from_environment() -> Monitor | None:
    """Begin to record this process as `tenure run` asked through the environment; None when it did not."""
    run_folder = os.environ.get(RECORDING_VARIABLE)
    if not run_folder:
        return None
    with suppress(OSError, KeyError, ValueError):
        (Path(run_folder) / name_torch_mark(int(os.environ[LAUNCHER_VARIABLE]))).touch()
    options = MonitorOptions.from_json(os.environ.get(OPTIONS_VARIABLE, ""))
    monitor = Monitor(lambda: claim_process_folder(Path(run_folder)), options=options)
    if options.plans:
        _begin_plan(options, Path(run_folder))
    atexit.register(_close_at_exit, monitor)
    call_before_shutdown(monitor.leave_copy)
    return monitor


def _begin_plan(options: MonitorOptions, run_folder: Path) -> None:
    """What a plan changes before the program runs. Imported here, for reports' libraries are needed for it."""
    from tenure.capture.profile.amp_on_host import run_amp_on_host
    from tenure.capture.profile.as_written import note_compiling
    from tenure.capture.profile.autocast_as_on_cuda import autocast_as_on_cuda
    from tenure.capture.profile.cuda_on_host import answer_for_cuda
    from tenure.capture.profile.half_products import multiply_halves_as_floats
    from tenure.capture.profile.moves_as_on_cuda import move_as_on_cuda
    from tenure.capture.profile.offload_as_on_cuda import offload_as_on_cuda
    from tenure.capture.trying.one_rank import stand_for_rank
    from tenure.capture.trying.trial import begin_trial
    from tenure.store.survey_file import write_survey

    atexit.register(_leave_what_is_known, run_folder)
    autocast_as_on_cuda()
    multiply_halves_as_floats()
    offload_as_on_cuda()
    move_as_on_cuda()
    answer_for_cuda()
    run_amp_on_host()
    note_compiling()
    if options.world_size is not None:
        stand_for_rank(options.world_size)
    if options.tries is not None:
        begin_trial(options.tries, lambda survey: write_survey(run_folder, survey))
    if options.fake:
        from tenure.capture.faking.fake_memory import begin_fake_memory

        begin_fake_memory()


def _leave_what_is_known(run_folder: Path) -> None:
    """Where no stream was written: what the program had when it ended. After the monitor is closed, and never fatal."""
    if any(run_folder.glob("*/stream-*.npz")):
        return
    with suppress(Exception):
        from tenure.capture.profile.known_at_end import known_now
        from tenure.store.known_file import write_known

        known = known_now()
        if known is not None:
            write_known(run_folder, known)


def _close_at_exit(monitor: Monitor) -> None:
    # Python itself leaves the uncaught exception here before atexit runs; no hook of ours is needed to see it.
    error = getattr(sys, "last_type", None)
    monitor.close("exit" if error is None else "exception", None if error is None else 1)
