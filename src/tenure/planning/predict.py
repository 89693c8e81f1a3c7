"""From a stream to what its program would need on a device: peaks, whose memory stands there, and whether it fits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tenure.allocator.lives_played import PlayedLives, play_lives
from tenure.allocator.settings import AllocatorSettings, parse_settings
from tenure.errors import UsageError
from tenure.model.heap import Ints
from tenure.model.plan import Constant, Fit, IdleAtPeak, Moment, Part, Plan, Use
from tenure.model.profile import ALIVE
from tenure.model.stream import Owner, StepStream
from tenure.model.units import format_bytes
from tenure.planning.constants import constants_of
from tenure.planning.on_cuda import bytes_on_cuda, num_multiplying_threads, unknown_on_cuda
from tenure.planning.parts import parts_of
from tenure.planning.ranks import unknown_of_ranks
from tenure.planning.step_noise import noise_in_use, place_of_noise
from tenure.planning.uses import uses_of

MOST_MODULES = 8
MOST_IDLE = 5
LEAST_IDLE = 0.005
"""Of the peak."""
_OUTSIDE = {
    Part.FORWARD: "(outside of modules)",
    Part.BETWEEN: "(outside of modules)",
    Part.BACKWARD: "(backward)",
    Part.OPTIMIZER: "(optimizer's step)",
}


@dataclass(frozen=True)
class _Rows:
    """Storages that would lie on the device: their row in the stream, size there, use and module."""

    row: list[int]
    size: list[int]
    use: list[Use]
    module: list[str]


def predict(
    stream: StepStream,
    *,
    device_bytes: int | None = None,
    settings: str = "",
    is_distributed: bool = False,
    world_size: int | None = None,
) -> Plan:
    """What the stream's steps come to; UsageError where nothing in it would lie on a device, or settings are wrong.

    Cost: some sixteen microseconds per storage.
    """
    chosen = parse_settings(settings)
    parts = parts_of(stream.profile)
    sizes, changed = bytes_on_cuda(stream)
    rows = _rows(stream, sizes, uses_of(stream, parts), parts)
    if not rows.row:
        raise UsageError("no module with parameters was seen in the two steps: nothing of them would lie on a device")
    played = play_rows(stream, rows.row, rows.size, chosen, None)
    peak = len(played.active) - 1 - int(played.active[::-1].argmax())
    there = [at for at, row in enumerate(rows.row) if _is_alive(stream, row, peak)]
    constants = constants_of(num_multiplying_threads(stream), is_distributed=is_distributed)
    step = stream.profile.step
    return Plan(
        steps=(step - 1, step),
        recorded_on=stream.profile.main_device(),
        settings=settings,
        peak_active_bytes=int(played.active[peak]),
        peak_reserved_bytes=int(played.reserved.max()),
        moment=_moment(stream, parts, peak),
        by_use=_sums([(rows.use[at], chosen.round_bytes(rows.size[at])) for at in there]),
        by_module=_by_module([(rows.module[at], chosen.round_bytes(rows.size[at])) for at in there]),
        peaks=_peaks(parts, played.active),
        saved_bytes=_saved_bytes(stream),
        idle=_idle(stream, rows, there, peak),
        host_bytes=int(stream.profile.storages.bytes[(stream.owners.on_device == 0)].sum()),
        constants=constants,
        fit=None if device_bytes is None else _fit(stream, rows, chosen, played, constants, device_bytes),
        num_operations=stream.profile.num_operations,
        world_size=world_size,
        notes=tuple(
            filter(
                None,
                (
                    *stream.notes,
                    _difference(stream, played),
                    _noise(stream),
                    _inference(parts),
                    *changed,
                    *unknown_on_cuda(stream),
                    *unknown_of_ranks(stream, world_size),
                ),
            )
        ),
    )


def _rows(stream: StepStream, sizes: Ints, uses: Sequence[Use], parts: Sequence[Part]) -> _Rows:
    found = _Rows([], [], [], [])
    births = stream.profile.storages.birth.tolist()
    for row in np.flatnonzero((stream.owners.on_device == 1) & (sizes > 0)).tolist():
        module = int(stream.owners.module[row])
        outside = _OUTSIDE[parts[births[row]] if births[row] >= 0 else Part.BETWEEN]
        found.row.append(row)
        found.size.append(int(sizes[row]))
        found.use.append(uses[row])
        found.module.append(stream.profile.text(module) or "(the model itself)" if module >= 0 else outside)
    return found


def play_rows(
    stream: StepStream, rows: Sequence[int], sizes: Sequence[int], settings: AllocatorSettings, total: int | None
) -> PlayedLives:
    """These storages of a stream, of these sizes, on a device of so much memory."""
    storages, numbers = stream.profile.storages, list(rows)
    births, deaths = storages.birth[numbers].tolist(), storages.death[numbers].tolist()
    return play_lives(sizes, births, deaths, stream.profile.num_operations, settings, total_bytes=total)


def _is_alive(stream: StepStream, row: int, operation: int) -> bool:
    storages = stream.profile.storages
    death = int(storages.death[row])
    return int(storages.birth[row]) <= operation and (death == ALIVE or death >= operation)


def _moment(stream: StepStream, parts: Sequence[Part], operation: int) -> Moment:
    profile = stream.profile
    site, module = int(profile.operations.site[operation]), int(stream.modules[operation])
    return Moment(
        step=profile.step if operation >= profile.second else profile.step - 1,
        part=parts[operation],
        operation=profile.text(int(profile.operations.name[operation])),
        module=profile.text(module),
        file=profile.text(int(profile.sites.file[site])) if site >= 0 else "",
        line=int(profile.sites.line[site]) if site >= 0 else 0,
        function=profile.text(int(profile.sites.function[site])) if site >= 0 else "",
    )


def _sums(sizes: Sequence[tuple[Use, int]]) -> dict[Use, int]:
    found: defaultdict[Use, int] = defaultdict(int)
    for use, size in sizes:
        found[use] += size
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _by_module(sizes: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Sums by beginnings of names: the largest is divided by one name more as long as the lines stay few."""
    groups: dict[tuple[str, ...], list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for name, size in sizes:
        names = (name,) if name.startswith("(") else tuple(name.split("."))
        groups[names[:1]].append((names, size))
    whole: set[tuple[str, ...]] = set()
    while len(whole) < len(groups):
        largest = max(groups.keys() - whole, key=lambda group: (sum(size for _, size in groups[group]), group))
        parts: dict[tuple[str, ...], list[tuple[tuple[str, ...], int]]] = defaultdict(list)
        for names, size in groups[largest]:
            parts[names[: len(largest) + 1]].append((names, size))
        if parts.keys() == {largest} or len(groups) - 1 + len(parts) > MOST_MODULES:
            whole.add(largest)
        else:
            del groups[largest]
            groups.update(parts)
    sums = [(".".join(group), sum(size for _, size in members)) for group, members in groups.items()]
    ordered = sorted(sums, key=lambda item: (-item[1], item[0]))
    rest = sum(size for _, size in ordered[MOST_MODULES:])
    return dict(ordered[:MOST_MODULES]) | ({f"({len(ordered) - MOST_MODULES} more)": rest} if rest else {})


def _peaks(parts: Sequence[Part], active: Ints) -> dict[Part, int]:
    found: dict[Part, int] = {}
    for part, size in zip(parts, active.tolist(), strict=True):
        found[part] = max(found.get(part, 0), size)
    return {part: found[part] for part in Part if part in found}


def _difference(stream: StepStream, played: PlayedLives) -> str:
    """Whether both steps ran the same operations; "" where they did."""
    second, names = stream.profile.second, stream.profile.operations.name.tolist()
    if names[:second] == names[second:] or not 0 < second < len(names):
        return ""
    first, later = int(played.active[:second].max()), int(played.active[second:].max())
    told = [format_bytes(size) for size in (first, later)]
    if told[0] == told[1]:
        num = " and ".join(f"{count:,}" for count in (second, len(names) - second))
        return f"the two steps ran different operations ({num}), with equal peaks: other steps may need more"
    return (
        f"the two steps ran different operations, with peaks of {' and '.join(told)}: what other steps need may differ "
        "as well"
    )


def _inference(parts: Sequence[Part]) -> str:
    if Part.BACKWARD in parts or Part.OPTIMIZER in parts:
        return ""
    return "nothing trains in the two steps: no backward pass and no optimizer ran, and training would need more"


def _noise(stream: StepStream) -> str:
    """Whether the same operations made other sizes in both steps; "" where they did not."""
    place = place_of_noise(stream)
    return (
        f"the two steps ran the same operations with tensors of other sizes, from {place} on, up to "
        f"{format_bytes(noise_in_use(stream))} in use apart: sizes depend on values or on the data, and other steps "
        "may need more"
        if place
        else ""
    )


def _saved_bytes(stream: StepStream) -> int | None:
    """At the last beginning of a backward pass; None where no step had one."""
    if not stream.graph_reads:
        return None
    is_kept = stream.is_kept_at(stream.graph_reads[-1]) & (stream.owners.owner == Owner.NONE)
    return int(stream.profile.storages.bytes[is_kept].sum())


def _idle(stream: StepStream, rows: _Rows, there: Sequence[int], peak: int) -> tuple[IdleAtPeak, ...]:
    storages, profile = stream.profile.storages, stream.profile
    found: defaultdict[tuple[Use, int], list[int]] = defaultdict(list)
    for at in there:
        row = rows.row[at]
        birth, death = int(storages.birth[row]), int(storages.death[row])
        is_used_up = int(storages.last_use[row]) < peak and (death == ALIVE or death > peak)
        if birth >= 0 and is_used_up and stream.owners.owner[row] == Owner.NONE:
            found[rows.use[at], int(profile.operations.site[birth])].append(rows.size[at])
    told = [
        IdleAtPeak(
            use,
            sum(sizes),
            len(sizes),
            file=profile.text(int(profile.sites.file[site])) if site >= 0 else "",
            line=int(profile.sites.line[site]) if site >= 0 else 0,
            function=profile.text(int(profile.sites.function[site])) if site >= 0 else "",
        )
        for (use, site), sizes in found.items()
    ]
    least = LEAST_IDLE * sum(rows.size[at] for at in there)
    heavy = (each for each in told if each.bytes >= least)
    return tuple(sorted(heavy, key=lambda each: -each.bytes)[:MOST_IDLE])


def _fit(
    stream: StepStream,
    rows: _Rows,
    settings: AllocatorSettings,
    played: PlayedLives,
    constants: Sequence[Constant],
    device_bytes: int,
) -> Fit:
    beside = sum(each.most_bytes or 0 for each in constants)
    room = device_bytes - beside - int(played.reserved.max())
    if room >= 0 or device_bytes <= beside:
        return Fit(device_bytes, room >= 0, room, 0)
    again = play_rows(stream, rows.row, rows.size, settings, device_bytes - beside)
    return Fit(device_bytes, again.fits, room, again.num_retries)
