"""Which ranks of a distributed run take censuses: a list as taskset(1) and Slurm write it, such as `0,1` or `0-:8`."""

from __future__ import annotations

import re

_PART = re.compile(r"(?P<first>\d+)(?P<range>-(?P<last>\d*)(:(?P<stride>[1-9]\d*))?)?")


def takes_censuses(rank: int, ranks: str) -> bool:
    """Whether `rank` is among `ranks`: numbers and ranges with commas, `0-7`, every eighth of them `0-63:8`, of all
    `0-:8`. ValueError where the text is no such list."""
    held = [_holds(part.strip(), rank) for part in ranks.split(",")]
    return any(held)


def _holds(part: str, rank: int) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        raise ValueError(f"{part!r} is no rank nor a range of ranks")
    first = int(found["first"])
    if found["range"] is None:
        return rank == first
    last = int(found["last"]) if found["last"] else rank
    return first <= rank <= last and (rank - first) % int(found["stride"] or 1) == 0
