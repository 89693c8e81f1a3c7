"""Types of the program's own whose module has the name of an installed package or of the standard library: a folder
`datasets` of its own, a file `pipes.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tenure.analysis.heap.graph import has_name_of_a_library
from tenure.analysis.sites.class_search import classes_at
from tenure.model.heap import Census
from tenure.model.source import SourceFile


def with_own_types(censuses: Iterable[Census], sources: Iterable[SourceFile]) -> Iterator[Census]:
    """The censuses, each with those of its types that a file of the program's own defines at that place."""
    own = {source.path: source for source in sources if source.origin == "yours"}
    known: dict[str, bool] = {}
    for census in censuses:
        for name in census.strings:
            if name not in known:
                known[name] = has_name_of_a_library(name) and bool(classes_at(name, own))
        found = frozenset(name for name in census.strings if known[name])
        yield replace(census, own_types=found) if found else census
