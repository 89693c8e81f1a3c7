"""Edits that may be the remedy of a finding and that only a run can prove: for each several ways, the likeliest first.

A finding says who holds what, by which statement, and the way from there to the tensors; the source says what else the
program does with it. Nothing of this is offered anywhere but to `tenure fix`, which keeps what its run has proved.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from tenure.errors import SourceError
from tenure.fixing.cases import Case
from tenure.fixing.ways_by_rule import all_ways
from tenure.model.finding import Edit, Finding
from tenure.model.source import SourceFile

MOST_WAYS = 4
"""Of one finding: each costs a run of the program."""
LEAST_BYTES = 4096
"""What holds less is not worth runs, and dropping what nobody reads of it not worth a change."""


def guess_edits(finding: Finding, sources: Mapping[str, SourceFile]) -> tuple[tuple[Edit, ...], ...]:
    """Ways to mend one finding, at most MOST_WAYS; none of what is only *possible*, holds little, or is kept by a
    library."""
    case = Case.of(finding, sources)
    if case is None or finding.confidence == "possible" or (finding.retained_bytes or 0) < LEAST_BYTES:
        return ()
    try:
        ways = dict.fromkeys(each for each in all_ways(case) if each)
    except SourceError:
        return ()
    return tuple(islice(ways, MOST_WAYS))
