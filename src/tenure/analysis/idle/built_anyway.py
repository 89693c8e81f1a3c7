"""Defaults that a step builds at its peak and throws away unused, because the key was there already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.idle.told_by_statement import told_by_statement
from tenure.analysis.idle.weights import is_news
from tenure.model.profile import ALIVE, BEFORE, StepProfile
from tenure.model.recording import PEAK
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import BUILT_ANYWAY, HoldingReference, Series, Suspect
from tenure.syntax.text.default_builders import DefaultBuilder, default_builders
from tenure.syntax.text.scopes import enclosing_function

BASIS = "replayed the profiled step without what it builds and drops"


def find_built_anyway(replay: Replay, sources: Mapping[str, SourceFile]) -> tuple[Suspect, ...]:
    """Suspects of symptom "peak", one for each default of the program's that both profiled steps built, and that no
    operation of another function used before it was gone.

    Costs a replay of the second step for each such default, and a search of the census for each that is told; nothing
    where the program's text has none.
    """
    builders = [(path, each) for path, source in sources.items() if source.origin == "yours"
                for each in default_builders(source)]  # fmt: skip
    if not builders or not replay.meets_peak():
        return ()
    profile = replay.profile
    found: list[Suspect] = []
    for path, builder in builders:
        place = SourceLocation(path, builder.line, enclosing_function(sources[path], builder.line))
        rows = _thrown_away(profile, place, builder)
        drop = replay.drop_if_freed({row: int(profile.storages.birth[row]) - 1 for row in rows}) if rows else 0
        if is_news(drop, replay.peak_bytes):
            found.append(_suspect(replay, rows, place, builder, drop))
    return tuple(found)


def _suspect(replay: Replay, rows: Sequence[int], place: SourceLocation, builder: DefaultBuilder, drop: int) -> Suspect:
    name = f"built anyway {builder.table} {builder.builds}"
    holder = HoldingReference("item", builder.table.rpartition(".")[2], builder.table, sites=(place,))
    nodes = np.array(sorted(replay.node_of_row[row] for row in rows if row in replay.node_of_row), dtype=np.int64)
    found = told_by_statement(replay, nodes, holder, drop=drop, basis=BASIS, name=name)
    storages = replay.profile.storages
    second = [row for row in rows if storages.birth[row] >= replay.profile.second]
    series = Series(PEAK, (replay.census.step,), (int(storages.bytes[second].sum()),), (len(second),), (0,))
    return replace(found, first_step=replay.census.step - 1, series=series, facts={BUILT_ANYWAY: builder.text})


def _thrown_away(profile: StepProfile, place: SourceLocation, builder: DefaultBuilder) -> list[int]:
    """Storages of both steps that the default's function, or its statement, made; none where one of them was used
    elsewhere, or is there still: that default was needed."""
    storages, operations = profile.storages, profile.operations
    inside = np.array(
        [_is_inside(profile, site, place, builder) for site in range(len(profile.sites.line))], dtype=bool
    )
    of_builder = (operations.site >= 0) & inside[operations.site] if len(inside) else np.zeros(0, dtype=bool)
    rows = [row for row in np.flatnonzero(storages.birth != BEFORE).tolist() if of_builder[storages.birth[row]]]
    needed = any(storages.death[row] == ALIVE or not of_builder[storages.last_use[row]] for row in rows)
    in_both = {bool(storages.birth[row] >= profile.second) for row in rows} == {False, True}
    return rows if in_both and not needed else []


def _is_inside(profile: StepProfile, site: int, place: SourceLocation, builder: DefaultBuilder) -> bool:
    sites = profile.sites
    function = profile.text(int(sites.function[site])).split(".")
    by_line = builder.line <= int(sites.line[site]) <= builder.end_line
    return builder.builds in function or (by_line and profile.text(int(sites.file[site])) == place.file)
