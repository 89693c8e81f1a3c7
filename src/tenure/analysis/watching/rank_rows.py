"""Of each rank's recording the little that a comparison needs: counters thinned to medians, roles, times of step ends.

One recording is read at a time, column by column, and let go: hundreds of ranks fit into some tens of megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tenure.analysis.watching.counter_series import MOST_POINTS, Numbers, counter_series, thinned
from tenure.model.ranks import RankRun
from tenure.model.recording import ProgramEnd, Recording, Step
from tenure.model.row_columns import STEP, TIME, RowColumns

COUNTERS = ("allocated_bytes", "reserved_bytes", "rss_bytes", "pinned_bytes")
RECENT_STEPS = 2000
STEP_END = "step-end"


@dataclass(frozen=True)
class RankRows:
    """`whole` and `recent` (the last 2,000 steps) are steps and values by counter, 500 points at most.

    `wall` are steps and seconds since 1970 at which they ended; None where the recording does not say. `roles` are
    bytes by role at the steps' ends that had a census; `pauses` seconds of each census by step and moment.
    """

    run: RankRun
    restart: int
    began: float
    world_size: int | None
    whole: dict[str, tuple[Numbers, Numbers]]
    recent: dict[str, tuple[Numbers, Numbers]]
    wall: tuple[Numbers, Numbers] | None
    program_end: ProgramEnd | None = None
    roles: dict[int, dict[str, int]] = field(default_factory=dict)
    pauses: dict[tuple[int, str], float] = field(default_factory=dict)


def read_rank(recording: Recording) -> RankRows | None:
    """None where the process has no rank."""
    process, rank = recording.process, recording.process.get("rank")
    if rank is None:
        return None
    steps, times = _step_ends(recording.steps)
    series = {name: counter_series(recording.steps, name) for name in COUNTERS}
    there = {name: rows for name, rows in series.items() if len(rows[0])}
    origin = process.get("time_origin")
    some = np.unique(np.linspace(0, max(0, len(steps) - 1), min(MOST_POINTS, len(steps))).astype(int))
    return RankRows(
        run=RankRun(
            rank=int(rank),
            node=process.get("node"),
            path=recording.path,
            steps=int(steps[-1]) if len(steps) else 0,
            end=recording.how_it_ended,
        ),
        program_end=recording.program_end,
        restart=int(process.get("restart") or 0),
        began=float(process.get("time") or 0.0),
        world_size=process.get("world_size"),
        whole={name: thinned(*rows) for name, rows in there.items()},
        recent={name: thinned(*_recent(*rows)) for name, rows in there.items()},
        wall=(steps[some], times[some] + float(origin)) if origin is not None and len(steps) else None,
        roles={entry.step: entry.bytes_by_role for entry in recording.censuses if entry.moment == STEP_END},
        pauses={(entry.step, entry.moment): entry.seconds for entry in recording.censuses},
    )


def brought_up_to(
    rows: RankRows, *, step: int, ended_at: float | None, end: str | None, program_end: ProgramEnd | None
) -> RankRows:
    """Rows that were read some time ago, with the step that ended since, in seconds since 1970, and the run's end: so
    that a rank which was read earlier than the others does not seem to have ended."""
    wall = rows.wall
    if wall is not None and ended_at is not None and step > wall[0][-1]:
        wall = np.append(wall[0], float(step)), np.append(wall[1], ended_at)
    return replace(rows, run=replace(rows.run, end=end), wall=wall, program_end=program_end)


def newest_of_each(rows: Iterable[RankRows]) -> tuple[list[RankRows], int]:
    """One recording of each rank, by rank: of the last restart the newest; and how many others were left out."""
    everything = list(rows)
    last = max((each.restart for each in everything), default=0)
    newest: dict[int, RankRows] = {}
    for each in sorted(everything, key=lambda each: each.began):
        if each.restart == last:
            newest[each.run.rank] = each
    return [newest[rank] for rank in sorted(newest)], len(everything) - len(newest)


def _step_ends(steps: Sequence[Step]) -> tuple[Numbers, Numbers]:
    if isinstance(steps, RowColumns):
        return steps.column(STEP).astype(float), steps.column(TIME) / 1e6
    return np.array([each.step for each in steps], dtype=float), np.array([each.time for each in steps], dtype=float)


def _recent(steps: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
    late = steps > steps[-1] - RECENT_STEPS
    return steps[late], values[late]
