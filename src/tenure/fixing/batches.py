"""The largest batch whose run stays within a budget of tensor memory, before and after: what a fix gains."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tenure.fixing.measured import measure_peak
from tenure.fixing.runs import Order, Runner
from tenure.model.fix import Figures
from tenure.model.units import format_bytes

MOST = 1 << 20
ENOUGH = 1 / 16
"""The search ends where what is left to learn is this share of the batch."""
TRIES_BY_LINE = 8
"""After so many tries the line has not served, and halves are tried."""
STEPS = 12
"""Steps of a run of the search where none were asked for: past the profiled ones."""
NO_MEMORY = "out of memory"
_OUT_OF_MEMORY = re.compile(r"(?i)out of memory|MemoryError|can't allocate memory|not enough memory")


@dataclass(frozen=True)
class BatchSearch:
    """What was asked: the program's option for its batch, and the budget in bytes."""

    option: str
    limit_bytes: int


@dataclass(frozen=True)
class Tried:
    """A run with one batch size: its peak and step time, None where not measured, or why it failed."""

    peak_bytes: int | None = None
    step_seconds: float | None = None
    failure: str = ""


def find_largest(peak_of: Callable[[int], int | None], *, limit: int, first: int, most: int = MOST) -> int:
    """The largest size whose peak is within the limit, to within a sixteenth; 0 where none is.

    `peak_of` gives None for a size that does not run. Peaks are mostly straight lines over the size, so the line
    through the two largest that fit says what to try next: four runs where it is one, bisection where it is not.
    """
    fitting: dict[int, int] = {}
    num_tried, high, size = 0, most + 1, min(first, most)
    while True:
        peak = peak_of(size)
        num_tried += 1
        if peak is not None and peak <= limit:
            fitting[size] = peak
        else:
            high = size
        low = max(fitting, default=0)
        if high - low <= _step(low):
            return low
        size = _choose(fitting, low, high, limit, by_line=num_tried < TRIES_BY_LINE)
        size = size if high <= most else min(size, most)


def _choose(fitting: Mapping[int, int], low: int, high: int, limit: int, *, by_line: bool) -> int:
    if not fitting or not by_line:
        return (low + high) // 2
    if len(fitting) == 1:
        return min(2 * low, high - 1)
    before, last = sorted(fitting)[-2:]
    slope = (fitting[last] - fitting[before]) / (last - before)
    guess = low + int((limit - fitting[low]) / slope) if slope > 0 else 2 * low
    return min(max(guess, low + _step(low)), max(high - _step(low), low + 1))


def _step(low: int) -> int:
    return max(1, int(low * ENOUGH))


def find_gain(
    order: Order, search: BatchSearch, texts: Mapping[Path, bytes], say: Callable[[str], None]
) -> tuple[Figures, Figures, int, tuple[str, ...]]:
    """Largest batch and samples per second as it is and with edited texts, how many runs that took, and notes.

    The figures hold nothing else. Raises nothing for a size that fails: a program that cannot take it ends the search.
    """
    command = tuple(without_option(order.command, search.option))
    plain = replace(order, steps=order.steps or STEPS, command=command, scratch=order.scratch / "batches")
    runner = Runner(plain)
    first = given_size(order.command, search.option) or 1
    before, missed = _search(runner, search, first, {}, "as it is", say)
    after, missed_later = _search(runner, search, first, texts, "with the kept edits", say)
    said = f"largest batch: within {format_bytes(search.limit_bytes)} of tensor memory in {plain.steps} steps"
    return before, after, runner.num_runs, (said, *missed, *missed_later)


def _search(
    runner: Runner, search: BatchSearch, first: int, texts: Mapping[Path, bytes], what: str, say: Callable[[str], None]
) -> tuple[Figures, list[str]]:
    """One search, and a note for each size that something else than memory ended."""
    tries: dict[int, Tried] = {}

    def peak_of(size: int) -> int | None:
        tried = tries[size] = _try(runner, search, size, texts)
        say(f"batch {size} {what}: {tried.failure or format_bytes(tried.peak_bytes or 0)}")
        return tried.peak_bytes

    largest = find_largest(peak_of, limit=search.limit_bytes, first=first)
    seconds = tries[largest].step_seconds if largest else None
    figures = Figures((), 0, largest_batch=largest, samples_per_second=largest / seconds if seconds else None)
    return figures, [f"batch {size} {what}: {each.failure}" for size, each in tries.items() if _missed(each)]


def without_option(command: Sequence[str], option: str) -> list[str]:
    """The command without an option and its value, in either way of writing."""
    kept, skip = [], False
    for argument in command:
        if skip or argument.startswith(f"{option}="):
            skip = False
            continue
        skip = argument == option
        if not skip:
            kept.append(argument)
    return kept


def given_size(command: Sequence[str], option: str) -> int | None:
    """The batch size that the command has already."""
    for at, argument in enumerate(command):
        value = argument.partition("=")[2] if argument.startswith(f"{option}=") else ""
        if argument == option and at + 1 < len(command):
            value = command[at + 1]
        if value.isdigit() and int(value):
            return int(value)
    return None


def _try(runner: Runner, search: BatchSearch, size: int, texts: Mapping[Path, bytes]) -> Tried:
    dashed = search.option.startswith("-")
    run = runner.run(texts, arguments=[search.option, str(size)] if dashed else [f"{search.option}={size}"])
    if run.timed_out:
        return Tried(failure="it did not end in time")
    if run.exit_code != 0:
        no_memory = _OUT_OF_MEMORY.search(run.stderr) is not None
        return Tried(failure=NO_MEMORY if no_memory else f"exit code {run.exit_code}: {run.last_line}")
    peak, seconds = measure_peak(run)
    return Tried(peak, seconds, "" if peak is not None else "its peak was not measured")


def _missed(tried: Tried) -> bool:
    """Whether something else than memory ended the search there."""
    return tried.failure not in ("", NO_MEMORY)
