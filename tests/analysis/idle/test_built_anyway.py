from __future__ import annotations

import dataclasses

import pytest

from heaps import census
from profiles import MIB, STRINGS, profile
from tenure.analysis.idle.built_anyway import find_built_anyway
from tenure.analysis.idle.step_replay import Replay
from tenure.model.profile import StepProfile
from tenure.model.source import SourceFile, SourceLocation

TABLE, OUTPUT = 100, 400
ROTARY = """
class Rotary:
    def table(self, n):
        return self.tables.setdefault(n, self.build(n))
"""
# operations 2 and 7 are those of the function that builds; 7 is the second step's peak
BUILT = ((TABLE, 4, 2, 2, 2), (TABLE, 4, 7, 7, 7), (OUTPUT, 6, 6, 8, 9))


def steps(*storages: tuple[int, int, int, int, int], function: str = "Rotary.build") -> StepProfile:
    seen = profile(*storages)
    named = seen.sites.function.copy()
    named[2] = len(STRINGS)
    return dataclasses.replace(
        seen, strings=(*STRINGS, function), sites=dataclasses.replace(seen.sites, function=named)
    )


def told(seen: StepProfile, text: str = ROTARY, origin: str = "yours") -> list[tuple[str, SourceLocation, int, int]]:
    made = census("f(t.py:3).t -> tensor 4MiB\nf(t.py:3).out -> tensor 6MiB", step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = [TABLE, OUTPUT]
    heap = dataclasses.replace(made, nodes=dataclasses.replace(made.nodes, address=address))
    found = find_built_anyway(Replay(seen, heap), {"/p/rotary.py": SourceFile("/p/rotary.py", text, origin=origin)})
    return [(each.holder.name, each.holder.sites[0], each.retained_bytes, each.peak_drop_bytes or 0) for each in found]


def test_a_default_that_is_built_at_the_peak_and_dropped_unused_is_told_where_it_is_asked_for() -> None:
    assert told(steps(*BUILT)) == [("tables", SourceLocation("/p/rotary.py", 4, "Rotary.table"), 4 * MIB, 4 * MIB)]


def test_what_a_class_or_the_statement_itself_builds_counts_as_well() -> None:
    by_class = told(steps(*BUILT, function="Table.__init__"), ROTARY.replace("self.build(n)", "Table(n)"))
    plain = steps(*BUILT, function="Rotary.table")
    here = dataclasses.replace(
        plain, strings=tuple("/p/rotary.py" if each == "/p/train.py" else each for each in plain.strings)
    )
    by_line = told(here, "\n" * 8 + ROTARY.replace("self.build(n)", "torch.ones(n)"))

    assert [each[1].line for each in (*by_class, *by_line)] == [4, 12]


def test_a_library_s_own_default_is_not_the_user_s() -> None:
    assert told(steps(*BUILT), origin="library") == []


@pytest.mark.parametrize(
    ("storages", "text"),
    [
        (((TABLE, 4, 2, 4, 4), *BUILT[1:]), ROTARY),
        ((BUILT[0], (TABLE, 4, 7, 7, -1), BUILT[2]), ROTARY),
        (BUILT[1:], ROTARY),
        (BUILT, ROTARY.replace("setdefault", "get")),
        (BUILT, ROTARY.replace("self.build", "self.other")),
        (BUILT, "def table(:\n    t.setdefault(n, build(n))"),
    ],
    ids=["used elsewhere", "kept", "in one step alone", "asked for otherwise", "built by another", "no Python"],
)
def test_a_default_that_was_needed_or_that_nobody_asks_for_so_is_none(
    storages: tuple[tuple[int, int, int, int, int], ...], text: str
) -> None:
    assert told(steps(*storages), text) == []
