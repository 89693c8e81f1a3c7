"""What a fix gains: samples per second, and the largest batch whose run stays within a budget of tensor memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tenure.errors import SourceError
from tenure.fixing.batch_search import MOST_TRIES, Tried, find_largest
from tenure.fixing.batch_settings import BatchSetting, InCommand, InSource
from tenure.fixing.measured import measure_peak
from tenure.fixing.runs import Order, Run, Runner
from tenure.model.fix import Figures, Fix
from tenure.model.units import format_bytes

Say = Callable[[str], None]
MOST_RUNS = 2 * MOST_TRIES
"""Before and after."""
STEPS = 12
"""Steps of a run of the search where none were asked for: past the profiled ones."""
FIRST = 8
"""The first batch that is tried where the program's own is not known."""
NO_MEMORY = "out of memory"
_OUT_OF_MEMORY = re.compile(r"(?i)out of memory|MemoryError|can't allocate memory|not enough memory")
_NOT_KNOWN = re.compile(
    r"(?i)unrecognized arguments|no such option|unknown command line flag|could not override|is not in struct"
    r"|unrecognized option|unexpected keyword argument|could not consume arg"
)


@dataclass(frozen=True)
class BatchSearch:
    """What was asked: where the program's batch is set, and the budget in bytes."""

    setting: BatchSetting
    limit_bytes: int


class UnusableError(Exception):
    """Why the program takes no other batch size as it was to be given one: further runs would show the same."""


@dataclass(frozen=True)
class _Program:
    """The program with its batch set by `setting`; `behind` are the arguments that come after it in the command."""

    runner: Runner
    setting: BatchSetting
    behind: tuple[str, ...]


@dataclass(frozen=True)
class _Side:
    """One of the two searches: the program with some files' texts in the place of those files."""

    what: str
    texts: Mapping[Path, bytes]
    figures: Figures


def with_samples(told: Fix, setting: BatchSetting) -> Fix:
    """The result with samples per second of the runs there are; it costs none. A step is taken to be one batch."""
    if setting.size is None or told.after is None:
        return told
    before, after = (replace(each, samples_per_second=_rate(setting.size, each)) for each in (told.before, told.after))
    note = f"samples per second: those of batch size {setting.size} from {setting.said}"
    return replace(told, before=before, after=after, notes=(*told.notes, note))


def with_largest(
    told: Fix, order: Order, search: BatchSearch, texts: Mapping[Path, tuple[bytes, bytes]], say: Say
) -> Fix:
    """The result with the largest batch before and after, and samples per second with it, of one process.

    `texts` are those before and after of the files that the kept edits change. Costs at most `MOST_RUNS` runs. Where
    the program takes no other size the search ends at once, a note says why, and the samples are those there are.
    """
    assert told.after is not None
    program, notes, found = _make_program(order, search.setting), list[str](), list[Figures]()
    before, after = ({path: pair[at] for path, pair in texts.items()} for at in (0, 1))
    try:
        for side in (_Side("as it is", before, told.before), _Side("with the kept edits", after, told.after)):
            known = side.figures.peak_bytes if order.steps else None
            found.append(_search(program, search.limit_bytes, side, known, notes, say))
    except UnusableError as error:
        note = f"the largest batch was not searched: {search.setting.said}: {error}"
        told = with_samples(told, search.setting)
    else:
        within, steps = format_bytes(search.limit_bytes), program.runner.order.steps
        note = f"largest batch: within {within} of tensor memory in {steps} steps"
        told = replace(told, before=found[0], after=found[1])
        notes.insert(0, f"the batch is set by {search.setting.said}; samples per second are those of the largest")
    return replace(told, num_runs=told.num_runs + program.runner.num_runs, notes=(*told.notes, note, *notes))


def _make_program(order: Order, setting: BatchSetting) -> _Program:
    command, behind = order.command, tuple[str, ...]()
    if isinstance(setting.place, InCommand):
        command, behind = setting.place.split(command)
    plain = replace(order, command=command, steps=order.steps or STEPS, scratch=order.scratch / "batches")
    return _Program(Runner(plain), setting, behind)


def _search(program: _Program, limit: int, side: _Side, known: int | None, notes: list[str], say: Say) -> Figures:
    """One search; a note for each size that something else than memory ended, and for an end that is none."""
    setting, tries = program.setting, dict[int, Tried]()

    def try_size(size: int) -> Tried:
        tried = tries[size] = _try(program, size, side.texts)
        say(f"batch {size} {side.what}: {tried.failure or format_bytes(tried.peak_bytes or 0)}")
        if tried.refused and size == setting.size:
            raise UnusableError(f"{tried.failure}, with the size {size} that it has already")
        return tried

    there = {setting.size: Tried(known, side.figures.step_seconds)} if setting.size and known is not None else {}
    found = find_largest(try_size, limit=limit, first=setting.size or FIRST, known=there)
    tries |= there
    notes += [f"batch {size} {side.what}: {each.failure}" for size, each in sorted(tries.items()) if _missed(each)]
    if not found.has_limit:
        notes.append(f"batch {found.least} {side.what} fits, too; larger ones were not tried: look whether it is used")
    return replace(
        side.figures,
        largest_batch=found.least,
        largest_batch_most=None if found.is_known else found.most,
        samples_per_second=_rate(found.least, tries[found.least]) if found.least and found.has_limit else None,
    )


def _rate(size: int, timed: Figures | Tried) -> float | None:
    return size / timed.step_seconds if timed.step_seconds else None


def _try(program: _Program, size: int, texts: Mapping[Path, bytes]) -> Tried:
    run, place = _run(program, size, texts), program.setting.place
    if run.timed_out:
        return Tried(failure="it did not end in time")
    if run.exit_code != 0:
        return _tell_failure(run)
    if isinstance(place, InSource) and str(place.file) in run.not_loaded:
        raise UnusableError(f"the program did not load {place.file.name} from its source")
    peak, seconds = measure_peak(run)
    return Tried(peak, seconds, "" if peak is not None else "its peak was not measured; it may have made too few steps")


def _run(program: _Program, size: int, texts: Mapping[Path, bytes]) -> Run:
    place = program.setting.place
    if isinstance(place, InCommand):
        return program.runner.run(texts, arguments=(*place.write(size), *program.behind))
    try:
        return program.runner.run(place.put(texts, size), arguments=program.behind)
    except SourceError as error:
        raise UnusableError(str(error)) from error


def _tell_failure(run: Run) -> Tried:
    if _OUT_OF_MEMORY.search(run.stderr):
        return Tried(failure=NO_MEMORY)
    if _NOT_KNOWN.search(run.stderr):
        raise UnusableError(f"the program does not take it: {run.last_line}")
    return Tried(failure=f"exit code {run.exit_code}: {run.last_line}", refused=True)


def _missed(tried: Tried) -> bool:
    """Whether something else than memory ended the run."""
    return tried.failure not in ("", NO_MEMORY)
