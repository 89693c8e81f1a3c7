"""What a run was measured at: its diagnosis, peak, growth, what is alive, step time, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tenure.analysis.evidence import read_evidence
from tenure.analysis.growth.trend import FEWEST_POINTS, WARM_UP_STEP, find_trend
from tenure.diagnose import diagnose
from tenure.errors import RecordingError
from tenure.fixing.runs import Run
from tenure.model.finding import Diagnosis
from tenure.model.fix import Figures
from tenure.model.profile import StepProfile
from tenure.model.recording import Recording, Step
from tenure.model.source import SourceFile
from tenure.store.recording_file import list_recordings, open_recording

WARM_UP_STEPS = 3
"""The first steps allocate, compile and read for the first time: their times are no step times."""
STEP_END = "step-end"
PROFILE = "profile"
DEVICE = "device"
Moment = tuple[int, str]
"""A step and what was looked at then: the moment of a census, or one of the two above."""


@dataclass(frozen=True)
class Measured:
    """One run's figures, and what comparing needs: bytes and number of live tensors by step and moment of a census, and
    the peak by what showed it."""

    run: Run
    diagnosis: Diagnosis
    figures: Figures
    alive: dict[Moment, tuple[int, int]]
    peaks: dict[Moment, int]
    parameters: dict[int, tuple[str, float]]
    sources: dict[str, SourceFile]


def measure(run: Run) -> Measured | None:
    """All figures of a watched run; None where nothing was recorded. Costs a diagnosis."""
    folders = _list(run)
    if not folders:
        return None
    diagnosis = run.in_the_tree(diagnose(str(run.recording)))
    evidence = read_evidence(open_recording(folders[0]))
    sources = (run.in_the_tree(source) for source in evidence.sources.values())
    recording = evidence.recording
    alive = {
        (census.step, census.moment): (int(census.storages.bytes.sum()), len(census.storages.bytes))
        for census in evidence.of_tensors
    }
    peaks = peaks_by_moment(recording.steps, evidence.profiles, {moment: size for moment, (size, _) in alive.items()})
    figures = Figures(
        findings=diagnosis.findings,
        steps=diagnosis.steps,
        peak_bytes=max(peaks.values(), default=None),
        growth_bytes_per_step=find_growth({at[0]: size for at, (size, _) in alive.items() if at[1] == STEP_END}),
        step_seconds=find_step_seconds(recording),
    )
    by_path = {each.path: each for each in sources}
    return Measured(run, diagnosis, figures, alive, peaks, read_parameters(run), by_path)


def count_steps(run: Run) -> int:
    """How many steps a run made, also one that was ended; 0 where nothing was recorded."""
    steps = [open_recording(folder).steps for folder in _list(run)]
    return max((rows[-1].step for rows in steps if len(rows)), default=0)


def measure_peak(run: Run) -> tuple[int | None, float | None]:
    """The most tensor memory of a watched run, of its heaviest process, and the median time of a step; no diagnosis."""
    peaks, seconds = [], []
    for folder in _list(run):
        evidence = read_evidence(open_recording(folder))
        alive = {(each.step, each.moment): int(each.storages.bytes.sum()) for each in evidence.of_tensors}
        of_process = peaks_by_moment(evidence.recording.steps, evidence.profiles, alive)
        peaks.append(max(of_process.values(), default=None))
        seconds.append(find_step_seconds(evidence.recording))
    known = [peak for peak in peaks if peak is not None]
    times = [each for each in seconds if each is not None]
    return max(known) if known and len(known) == len(peaks) else None, max(times, default=None)


def read_parameters(run: Run) -> dict[int, tuple[str, float]]:
    """Digests and norm of the parameters by step, of all processes and optimizers of a run together.

    The digests are a text with a word for each optimizer, `0.1=8:9f3c` for the second one of the first process.
    """
    found: dict[int, list[tuple[str, float]]] = {}
    for process, folder in enumerate(_list(run)):
        for entry in open_recording(folder).parameters:
            word = f"{process}.{entry.optimizer or 0}={entry.count}:{entry.digest}"
            found.setdefault(entry.step, []).append((word, entry.norm))
    return {
        step: (" ".join(digest for digest, _ in each), sum(norm for _, norm in each)) for step, each in found.items()
    }


def peaks_by_moment(
    steps: Sequence[Step], profiles: Sequence[StepProfile], alive: Mapping[Moment, int]
) -> dict[Moment, int]:
    """The most tensor memory seen: a device's own peak, else in each profiled step and at each census; empty where
    neither a device nor a profile tells of what is alive within a step.

    Which steps are looked at depends on what looking costs: two runs are compared by those that both have.
    """
    device = [step.counters["allocated_peak_bytes"] for step in steps if "allocated_peak_bytes" in step.counters]
    if device:
        return {(0, DEVICE): max(device)}
    profiled = {(each.step, PROFILE): int(each.bytes_alive(each.main_device()).max(initial=0)) for each in profiles}
    return {**alive, **profiled} if profiled else {}


def find_step_seconds(recording: Recording) -> float | None:
    """The median time of a step, censuses not counted; profiled steps and the first ones are left out."""
    profiled = {step for entry in recording.profiles for step in (entry.step - 1, entry.step, entry.step + 1)}
    times = [each.seconds for each in recording.steps if each.step > WARM_UP_STEPS and each.step not in profiled]
    return median(times) if times else None


def find_growth(alive: Mapping[int, int]) -> float | None:
    """Bytes by which all live tensors become more per step, 0 where they do not grow for good; None of few censuses."""
    if len([step for step in alive if step > WARM_UP_STEP]) < FEWEST_POINTS:
        return None
    trend = find_trend(sorted(alive), [alive[step] for step in sorted(alive)], counted=False)
    return trend.per_step if trend.kind == "growing" else 0.0


def _list(run: Run) -> list[str]:
    try:
        return list_recordings(run.recording)
    except RecordingError:
        return []
