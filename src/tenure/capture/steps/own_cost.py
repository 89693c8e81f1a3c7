"""The recorder's own time beside the program's: what it may take, and when it stops by itself."""

from __future__ import annotations

FREE_SECONDS = 10.0
"""So much the hooks may take in all before their share counts: a run's beginning is watched more closely."""
FREE_CENSUS_SECONDS = 120.0
"""The same of censuses that no budget holds back: those of several ranks, and those at steps that the user chose."""


def describe_excess(
    *, hook_seconds: float, census_seconds: float, budget_percent: float, elapsed: float, censuses_are_held_back: bool
) -> str | None:
    """Why the recorder stops looking: its hooks, or censuses that are not held back, took more than they may.

    None while all is within. `hook_seconds` are without censuses and profiles, which come once.
    """
    allowed = budget_percent / 100 * elapsed
    if hook_seconds <= FREE_SECONDS + allowed and census_seconds <= FREE_CENSUS_SECONDS + allowed:
        return None
    for what, seconds, free in (
        ("hooks", hook_seconds, FREE_SECONDS),
        ("censuses", 0.0 if censuses_are_held_back else census_seconds, FREE_CENSUS_SECONDS),
    ):
        if seconds > free + allowed:
            share = 100 * seconds / elapsed
            return (
                f"its {what} took {seconds:.1f} s, {share:.1f} % of the run, above the budget of {budget_percent:g} %"
            )
    return None
