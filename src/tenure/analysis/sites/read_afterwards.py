"""Containers that fill until the work is done, and that the program then goes through: snapshots for an average of
weights, samples of a posterior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import PurePath

from tenure.analysis.sites.own_program import own_program
from tenure.model.source import SourceFile
from tenure.model.suspect import ELEMENT_HOPS, HoldingReference, Suspect
from tenure.syntax.kept.read_afterwards import line_that_reads_all
from tenure.syntax.program.program import Program

_PLAIN = ("list", "tuple", "dict")
SELDOM = 0.1
"""Entries per step: what comes more often the steps themselves collect, and a mean over all of it is no use of it."""


def place_that_reads_all(
    suspect: Suspect, holder: HoldingReference, sources: Mapping[str, SourceFile], *, in_turns: bool = False
) -> str:
    """Where the program goes once, or `in_turns`, through the container that a suspect's first statement fills, and
    uses the tensors of each entry: `soup.py:40`; "" where it does not, and of what is to be kept in another way,
    whoever reads it: graphs, scalars and small views of something large."""
    collects = suspect.symptom == "growth" and holder.element and holder.kind in ("attribute", "local")
    if not collects or suspect.through_graph or suspect.scalars or suspect.pinned_bytes:
        return ""
    site = holder.sites[0]
    program = own_program(sources)
    field = next(_fields(suspect, program), "")
    file, line = line_that_reads_all(program, sources[site.file], site.line, holder.name, field, in_turns=in_turns)
    return f"{PurePath(file).name}:{line}" if line else ""


def comes_seldom(suspect: Suspect) -> bool:
    """Whether entries come as seldom as tasks or rounds do."""
    return 0 < (suspect.growth_objects_per_step or 0) <= SELDOM


def _fields(suspect: Suspect, program: Program) -> Iterator[str]:
    """By which fields of its entries the container leads to the tensors."""
    for entry, hop in pairwise(suspect.path):
        if entry.kind in ELEMENT_HOPS and hop.kind == "ATTRIBUTE":
            yield hop.label
        elif entry.kind in ELEMENT_HOPS and hop.kind == "INDEX" and hop.source_type not in _PLAIN:
            named = program.names.class_of(hop.source_type)  # a `NamedTuple` has its fields by place
            yield from list(named.fields)[int(hop.label) :][:1] if named is not None else ()
