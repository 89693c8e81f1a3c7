"""In which role of storages a rank differs: by the censuses that all ranks took after the same steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from tenure.analysis.watching.counter_series import Numbers
from tenure.analysis.watching.rank_growth import CHANCE, onset
from tenure.analysis.watching.rank_rows import RankRows
from tenure.analysis.watching.robust import scatter_of, slope_with_error
from tenure.model.ranks import RankDifference

FEWEST_CENSUSES = 5
FROM_STEP = 4
"""Censuses before it see optimizers and caches being made."""
LINEAR, EXACT = 0.2, 0.01
"""Scatter around the line over what was gained: more is no steady growth; as little is no accident in five censuses."""


def find_role_differences(ranks: Sequence[RankRows]) -> list[RankDifference]:
    """Roles that grow on some ranks and not, or more slowly, on those where they grow least."""
    return [found for rank, role, steps, beyond in _rows(ranks) for found in _growth(rank, role, steps, beyond, ranks)]


def with_roles(differences: Sequence[RankDifference], ranks: Sequence[RankRows]) -> list[RankDifference]:
    """The same, each with the role that gained most of it on its ranks since it began."""
    gained: dict[int, dict[str, float]] = {}
    for rank, role, _, beyond in _rows(ranks):
        gained.setdefault(rank, {})[role] = float(beyond[-1] - beyond[0])
    return [replace(each, role=_most(gained.get(each.ranks[0], {}))) for each in differences]


def _most(gained: dict[str, float]) -> str | None:
    """The role with most of all that was gained, if it has half of it."""
    role = max(gained, key=gained.__getitem__, default=None)
    return role if role is not None and gained[role] > 0.5 * sum(gained.values()) else None


def _rows(ranks: Sequence[RankRows]) -> Iterator[tuple[int, str, Numbers, Numbers]]:
    """Rank, role, steps, and bytes beyond the rank that gained least of it."""
    there = [each for each in ranks if each.roles]
    if len(there) < 2:
        return
    common = sorted(set.intersection(*(set(each.roles) for each in there)))
    steps = [step for step in common if step >= FROM_STEP]
    if not steps:
        return
    for role in sorted({role for each in there for step in steps for role in each.roles[step]}):
        values = np.array([[each.roles[step].get(role, 0) for step in steps] for each in there], dtype=float)
        gained = values - values[:, :1]
        for each, row in zip(there, gained - gained.min(axis=0), strict=True):
            yield each.run.rank, role, np.array(steps, dtype=float), row


def _growth(
    rank: int, role: str, steps: Numbers, beyond: Numbers, ranks: Sequence[RankRows]
) -> Iterator[RankDifference]:
    if len(steps) < FEWEST_CENSUSES or beyond[-1] <= 0:
        return
    start = onset(steps, beyond)
    later = steps >= start
    at, row = steps[later], beyond[later]
    if len(at) < FEWEST_CENSUSES or (np.diff(row[-4:]) <= 0).any():
        return
    slope, _ = slope_with_error(at, row)
    gain = float(row[-1] - row[0])
    scatter = scatter_of(row - slope * at)
    if slope <= 0 or scatter > LINEAR * gain:
        return
    num_roles = len({role for each in ranks for sizes in each.roles.values() for role in sizes})
    sure = _concordance(beyond) >= NormalDist().inv_cdf(1 - CHANCE / (len(ranks) * num_roles))
    if sure or (scatter <= EXACT * gain and (np.diff(row) > 0).all()):
        yield RankDifference(role, "grows", (rank,), start, int(gain), slope, role)


def _concordance(values: Numbers) -> float:
    """Kendall's statistic against the order of time as a standard normal number."""
    count = len(values)
    signs = np.sign(values[None, :] - values[:, None])[np.triu_indices(count, k=1)]
    return float(signs.sum() / np.sqrt(count * (count - 1) * (2 * count + 5) / 18))
