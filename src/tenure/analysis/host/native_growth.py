"""Resident memory that grows though nothing that a census shows does: native growth, and what runs meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

from tenure.analysis.heap.groups import fingerprint_of
from tenure.analysis.heap.host_part import HOST
from tenure.model.profile import BEFORE, Phase, StepProfile
from tenure.model.recording import Step
from tenure.model.suspect import HoldingReference, Series, Suspect
from tenure.model.units import format_bytes

RSS = "rss_bytes"
LEAST_STEPS = 35
"""Shorter runs are mostly warm-up: libraries, thread pools and workspaces come into being."""
ENOUGH_STEPS = 40
"""Of fewer, what is told is a hint."""
LEAST_STEPS_OF_KNOWN = 20
"""Of growth whose cause is known to run: that alone says that it is no warm-up."""
LEAST_PER_100_STEPS = 4 << 20
LEAST_SHARE = 0.05
EXPLAINED_SHARE = 0.5
LITTLE_EXPLAINED = 0.1
"""Where findings explain more of the growth than this, the rest may well be theirs: overhead of what they name."""
ONE_JUMP_SHARE = 0.8
_WARM_UP = 0.25
"""Share of the run that does not count."""
_POINTS = 32
"""Of the series that goes into a finding."""


@dataclass(frozen=True)
class Rise:
    """A counter that rises in both halves of a run, warm-up left out."""

    points: tuple[tuple[int, int], ...]
    """Step and value."""
    per_step: float
    keeps_pace: bool
    """The second half rises at least half as fast as the first: a cache that fills up slows down."""
    is_short: bool
    """It was seen over fewer steps than tell it from a warm-up for sure."""


def find_rise(steps: Sequence[Step], counter: str = RSS, *, slowing: bool = False, known: bool = False) -> Rise | None:
    """None where the counter was not measured, or rises little, in one half only, at once, or in too short a run.

    How much it rises is taken from the slower half, as what will go on; where it may be `slowing` down, from both.
    Where what makes it rise is `known` to run, a shorter run is enough, and a rise of any share that comes at once.
    """
    measured = [(step.step, step.counters[counter]) for step in steps if counter in step.counters]
    late = measured[int(len(measured) * _WARM_UP) :]
    if len(late) < 8 or late[-1][0] - late[0][0] < (LEAST_STEPS_OF_KNOWN if known else LEAST_STEPS):
        return None
    middle = len(late) // 2
    if not known and (_is_one_jump(late[: middle + 1]) or _is_one_jump(late[middle:])):
        return None
    before, after = _rate(late[: middle + 1]), _rate(late[middle:])
    rate = min(before, after)
    rise = ((before + after) / 2 if slowing else rate) * (late[-1][0] - late[0][0])
    if 100 * rate < LEAST_PER_100_STEPS or rise < (0 if known else LEAST_SHARE * late[0][1]):
        return None
    is_short = late[-1][0] - late[0][0] < ENOUGH_STEPS
    return Rise(tuple(late), rate, keeps_pace=2 * after >= before, is_short=is_short)


def find_native_growth(
    steps: Sequence[Step],
    explained_bytes_per_step: float,
    *,
    process: Mapping[str, Any],
    profile: StepProfile | None,
) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "host", where findings explain next to nothing of how the process grows.

    Its fact `native_growth` has what known issues are looked up by: torch's version, the operators of the profiled
    step with phases and places, devices, whether shapes differ between the two profiled steps; whether growth keeps
    its pace, and whether findings tell of other growth beside it. A cache by shape meets fewer new shapes as time goes
    on: where shapes differ, growth may slow down.
    """
    shapes_vary = profile is not None and _shapes_vary(profile)
    rise = find_rise(steps, slowing=shapes_vary)
    if rise is None or explained_bytes_per_step > LITTLE_EXPLAINED * rise.per_step:
        return ()
    facts = {
        "torch": str(process.get("torch") or ""),
        "environment": dict(process.get("environment") or {}),
        "devices": _devices(profile),
        "operators": _operators(profile),
        "shapes_vary": shapes_vary,
        "keeps_pace": rise.keeps_pace,
        "is_short": rise.is_short,
        "beside_growth": explained_bytes_per_step > 0,
    }
    holder = HoldingReference(kind="unknown", name="native memory", expression="native memory")
    suspect = suspect_of_rise(rise, holder, "native growth of the process", {"native_growth": facts})
    return (replace(suspect, growth_bytes_per_step=rise.per_step - explained_bytes_per_step),)


def describe_native_growth(steps: Sequence[Step], explained_bytes_per_step: float) -> tuple[str, ...]:
    """One sentence where findings explain a part of how the process grows, but less than half of it."""
    rise = find_rise(steps)
    if rise is None or explained_bytes_per_step <= LITTLE_EXPLAINED * rise.per_step:
        return ()
    unexplained = rise.per_step - explained_bytes_per_step
    if unexplained < EXPLAINED_SHARE * rise.per_step:
        return ()
    return (
        f"resident memory grows by {format_bytes(int(100 * unexplained))} per 100 steps beyond what findings explain, "
        f"from step {rise.points[0][0]} to {rise.points[-1][0]}: native memory (caches of libraries by shape, "
        "extension modules), or many small objects",
    )


def describe_unseen_growth(steps: Sequence[Step], explained_bytes_per_step: float) -> tuple[str, ...]:
    """One sentence where the process grows, findings explain next to nothing of it, and censuses are too few."""
    rise = find_rise(steps)
    if rise is None or explained_bytes_per_step > LITTLE_EXPLAINED * rise.per_step:
        return ()
    return (
        f"resident memory grows by {format_bytes(int(100 * rise.per_step))} per 100 steps, from step "
        f"{rise.points[0][0]} to {rise.points[-1][0]}, and too few censuses were taken meanwhile to say what holds it",
    )


def suspect_of_rise(rise: Rise, holder: HoldingReference, named: str, facts: dict[str, object]) -> Suspect:
    """A suspect of symptom "host" that a counter shows: it has no path, and nothing that could be dropped."""
    (first, low), (last, high) = rise.points[0], rise.points[-1]
    return Suspect(
        key=0,
        symptom="host",
        path=(),
        path_text=(),
        holder=holder,
        cut=(),
        retained_bytes=high - low,
        num_objects=0,
        num_graph_nodes=0,
        device=HOST,
        bytes_by_role={},
        first_step=first,
        last_step=last,
        series=_series_of_rise(rise),
        growth_bytes_per_step=rise.per_step,
        growth_objects_per_step=None,
        fingerprint=fingerprint_of(named),
        facts=facts,
        ambiguous=len(holder.sites) > 1,
    )


def _series_of_rise(rise: Rise) -> Series:
    """The rise as it goes into a finding: some of its points, the last one among them."""
    stride = -(-len(rise.points) // _POINTS)
    points = rise.points[::-1][::stride][::-1]
    nothing = (0,) * len(points)
    steps, sizes = (tuple(column) for column in zip(*points, strict=True))
    return Series("counters", steps, sizes, nothing, nothing)


def _devices(profile: StepProfile | None) -> list[str]:
    if profile is None:
        return []
    return sorted({profile.text(device) for device in profile.storages.device.tolist()})


def _operators(profile: StepProfile | None) -> list[dict[str, Any]]:
    """Each operator of the profiled steps once, most calls first: name without overload, calls, phases, a place."""
    if profile is None:
        return []
    rows = profile.operations
    names = [_without_overload(profile.text(name)) for name in rows.name.tolist()]
    phases: dict[str, dict[str, None]] = {}
    sites: dict[str, int] = {}
    for name, phase, site in zip(names, rows.phase.tolist(), rows.site.tolist(), strict=True):
        phases.setdefault(name, {})
        if phase != Phase.OTHER:
            phases[name][Phase(phase).name.lower()] = None
        if site >= 0:
            sites.setdefault(name, site)
    return [
        {"name": name, "calls": calls, "phases": list(phases[name])} | _place(profile, sites.get(name, -1))
        for name, calls in Counter(names).most_common()
    ]


def _without_overload(name: str) -> str:
    """`aten.convolution` of `aten.convolution.default`."""
    return ".".join(name.split(".")[:2])


def _place(profile: StepProfile, site: int) -> dict[str, Any]:
    if site < 0:
        return {"file": "", "line": 0, "function": ""}
    sites = profile.sites
    return {
        "file": profile.text(int(sites.file[site])),
        "line": int(sites.line[site]),
        "function": profile.text(int(sites.function[site])),
    }


def _shapes_vary(profile: StepProfile) -> bool:
    """Whether the two profiled steps make tensors of different shapes."""
    made: tuple[set[int], set[int]] = (set(), set())
    storages = profile.storages
    for birth, shape in zip(storages.birth.tolist(), storages.shape.tolist(), strict=True):
        if birth != BEFORE:
            made[birth >= profile.second].add(shape)
    return made[0] != made[1]


def _is_one_jump(points: Sequence[tuple[int, int]]) -> bool:
    """Nearly all of the rise came between two measurements: an evaluation, say, whose memory the C library keeps."""
    rises = [later - earlier for (_, earlier), (_, later) in pairwise(points)]
    return max(rises) >= ONE_JUMP_SHARE * (points[-1][1] - points[0][1]) > 0


def _rate(points: Sequence[tuple[int, int]]) -> float:
    """Bytes per step between the medians of the first and the last third: a single jump in between counts little."""
    third = max(1, len(points) // 3)
    (first, low), (last, high) = (
        (median(step for step, _ in part), median(size for _, size in part))
        for part in (points[:third], points[-third:])
    )
    return (high - low) / (last - first) if last > first else 0.0
