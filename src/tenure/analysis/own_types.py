"""Types of the program's own whose module has the name of an installed package or of the standard library: a folder
`datasets` of its own, a file `pipes.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from tenure.analysis.heap.graph import has_name_of_a_library
from tenure.model.heap import Census
from tenure.model.source import SourceFile


def with_own_types(censuses: Iterable[Census], sources: Iterable[SourceFile]) -> Iterator[Census]:
    """The censuses, each with those of its types that a file of the program's own defines at that place."""
    own = [source for source in sources if source.origin == "yours"]
    known: dict[str, bool] = {}
    for census in censuses:
        for name in census.strings:
            if name not in known:
                known[name] = has_name_of_a_library(name) and any(_defines(source, name) for source in own)
        found = frozenset(name for name in census.strings if known[name])
        yield replace(census, own_types=found) if found else census


def _defines(source: SourceFile, type_name: str) -> bool:
    """Whether a class of that dotted name may stand in a file: `pipes.Map` in `/x/pipes.py`."""
    parts = type_name.split(".")
    place = re.split(r"[/\\]", source.path.removesuffix(".py").removesuffix("__init__").rstrip("/\\"))
    ends = (end for end in range(len(parts) - 1, 0, -1) if place[-end:] == parts[:end])
    end = next(ends, 0)
    return bool(end) and re.search(rf"^\s*class {re.escape(parts[end])}\b", source.text, re.MULTILINE) is not None
