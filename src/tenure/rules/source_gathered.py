"""What rules say of tensors that are put, again and again, into a container that nothing empties."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source
from tenure.rules.source_graphs import LONGEST_TEXT, claim_kept
from tenure.syntax.kept.gathered import Gathered, cause_of, find_gathered
from tenure.syntax.kept.kept_graphs import KeptGraph, find_kept_graphs
from tenure.syntax.program.program import Program


def gathered_as(program: Program, cause: str) -> Iterator[Gathered]:
    """Those of one kind that are not told as a graph kept in a loop."""
    told = {id(each.keep.node) for each in find_kept_graphs(program)}
    for each in find_gathered(program):
        if id(each.keep.node) not in told and cause_of(each) == cause:
            yield each


def claim_gathered_graph(program: Program, gathered: Gathered, *, rule: str, name: str) -> SourceFinding:
    """The finding of a value whose graph is kept with it."""
    keep = gathered.keep
    return claim_kept(
        program,
        KeptGraph(gathered.function, keep, gathered.is_loss),
        rule=rule,
        name=name,
        message=f"`{keep.place}` gains `{_text(keep.value)}` with the graph that made it, and {_emptied(gathered)}.",
        remedy="keep the value without its graph: `x.detach()`, or `x.item()` of one number",
    )


def claim_gathered(gathered: Gathered, *, rule: str, name: str, remedy: str, said: str = "") -> SourceFinding:
    """The finding of a tensor that stays; `said` describes it where its text does not."""
    keep = gathered.keep
    return claim_source(
        gathered.function,
        keep.node,
        rule=rule,
        name=name,
        message=f"`{keep.place}` gains {said}`{_text(keep.value)}` again and again, and {_emptied(gathered)}.",
        remedy=remedy,
    )


def _emptied(gathered: Gathered) -> str:
    return "is emptied only at intervals" if gathered.at_intervals else "nothing ever empties it"


def _text(value: ast.expr) -> str:
    text = ast.unparse(value)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."
