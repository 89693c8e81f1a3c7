"""A finding: one report of a rule, with evidence. Also the shape of `findings.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from tenure.model.experiment import Drop
from tenure.model.ran_out import RanOut

Symptom = Literal["growth", "sawtooth", "peak", "survivor", "cycle", "fragmentation", "host"]
Confidence = Literal["certain", "likely", "possible"]
Origin = Literal["yours", "library"]
Limit = Literal["device", "cgroup", "host"]
Interval = tuple[float, float]
"""Lower and upper end; holds the true value in 95 of 100 cases."""
AUTOGRAD_NODE_BYTES = 700
"""About what a node weighs on the host once backward has freed its buffers (an addition: 690 bytes of resident memory
beside its output, measured over 200,000 on torch 2.13): to tell what matters most, never told as measured."""


@dataclass(frozen=True)
class Holder:
    """Who holds on: the innermost reference that the user's code (or a library's) made by a visible statement.

    `kind`: local, global, attribute, item, container, closure, default, hook, cache, class, hidden, cycle, unknown.
    `file`/`line`/`function` are the *binding site*: the statement that makes the reference; None where not found.
    """

    kind: str
    name: str
    expression: str
    file: str | None = None
    line: int | None = None
    function: str | None = None


@dataclass(frozen=True)
class CutReference:
    """One reference to drop; dropping all of a finding's cut frees its storages."""

    name: str
    file: str | None
    line: int | None


@dataclass(frozen=True)
class Edit:
    """Lines that are replaced: `before`, from `line` on, by `after`; several are parted by "\\n", none ends in one.

    With an empty `before`, `after` goes in front of `line`; where `after` is None, the lines go. In a notebook, lines
    are those of its `cell`, counted from 1.
    """

    file: str
    line: int
    before: str
    after: str | None
    cell: int | None = None


@dataclass(frozen=True)
class Remedy:
    """What to change; `verified` is None until a run with the change has proved or refuted it."""

    summary: str
    edits: tuple[Edit, ...] = ()
    verified: bool | None = None


@dataclass(frozen=True)
class Forecast:
    """When memory runs out if the growth goes on as it was measured, counted from the last recorded step.

    `limit` says what ends first: "device", "cgroup" or "host" (the machine). `room_bytes` is what was left there at
    the recording's end, above the step's peak where that is known.
    """

    limit: Limit
    room_bytes: int
    steps: float
    steps_interval: Interval
    seconds: float
    seconds_interval: Interval


@dataclass(frozen=True)
class Finding:
    """One cause seen in one place. Bytes are measured or None, never estimated; a forecast is what it says."""

    rule: str
    name: str
    symptom: Symptom
    confidence: Confidence
    origin: Origin
    message: str
    holder: Holder
    path: tuple[str, ...]
    cut: tuple[CutReference, ...]
    retained_bytes: int | None
    num_objects: int
    device: str
    first_step: int
    last_step: int
    fingerprint: str
    growth_bytes_per_step: float | None = None
    growth_bytes_per_step_interval: Interval | None = None
    growth_objects_per_step: float | None = None
    growth_objects_per_step_interval: Interval | None = None
    forecast: Forecast | None = None
    peak_bytes: int | None = None
    peak_drop_bytes: int | None = None
    peak_basis: str | None = None
    allocation: dict[str, Any] | None = None
    remedies: tuple[Remedy, ...] = ()
    evidence: tuple[dict[str, Any], ...] = ()
    ranks: tuple[int, ...] = ()
    """Ranks of a distributed run in which it was seen; empty for a single process."""
    explains: tuple[int, ...] = field(default=(), compare=False)
    """Keys of the suspects this finding accounts for; not written to findings.json."""
    storages: frozenset[tuple[int, int]] = field(default=frozenset(), compare=False, repr=False)
    """Address and bytes of each storage that dropping the cut frees, seen at step `storages_at`; not written."""
    storages_at: int = field(default=0, compare=False)
    drops: tuple[Drop, ...] = field(default=(), compare=False, repr=False)
    """The references of the cut by address, good for the watched process alone; not written."""


def gained_per_step(values: Sequence[float], steps: Sequence[int]) -> float:
    """Over a whole series; 0 where it has no two steps."""
    return (values[-1] - values[0]) / (steps[-1] - steps[0]) if values and steps[-1] > steps[0] else 0.0


def rise_between_falls(values: Sequence[float], steps: Sequence[int], period: int) -> float | None:
    """Gain per step between the falls of a sawtooth: the median over pairs of measurements less than a period apart;
    None where no such pair rises."""
    rises = [
        (second - first) / (after - before)
        for (before, after), (first, second) in zip(pairwise(steps), pairwise(values), strict=True)
        if second > first and after - before < period
    ]
    return sorted(rises)[len(rises) // 2] if rises else None


def evidence_of(finding: Finding, kind: str) -> dict[str, Any]:
    """The finding's first evidence of one kind; empty where it has none."""
    return next((item for item in finding.evidence if item.get("kind") == kind), {})


@dataclass(frozen=True)
class Diagnosis:
    """What `tenure diagnose` says of a recording; `findings.json` is this, keys as in docs/recording-format.md."""

    recording: str
    steps: int
    findings: tuple[Finding, ...]
    unexplained_growth_bytes_per_step: float = 0.0
    not_seen: tuple[str, ...] = ()
    censuses: int | None = None
    """How many censuses were read; None where it was not counted."""
    looked_until: int | None = None
    """Step of the last census where a good part of the run came after it; else None."""
    suppressed: tuple[Finding, ...] = ()
    """Findings that a comment in the source allows: kept, not shown."""
    known: int | None = None
    """How many findings were left out because the baseline has them; None without a baseline."""
    baseline: str = ""
    """The file that names what is known."""
    ran_out: RanOut | None = None
    """What tensors were where device memory ran out, of the process in which it did first; else None."""
