"""What rules say of a value that is kept with its graph: how it is written, and how it is detached."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source
from tenure.syntax.edits.detached_safely import detachable, is_detached_safely, may_be_no_tensor
from tenure.syntax.edits.kept_values import call_method_of_all, parts_of_display
from tenure.syntax.kept.kept_graphs import KeptGraph
from tenure.syntax.program.program import Program
from tenure.syntax.text.kinds import Kind
from tenure.syntax.values.tensor_values import tensor_values

LONGEST_TEXT = 40


def claim_kept(program: Program, kept: KeptGraph, *, rule: str, name: str, message: str, remedy: str) -> SourceFinding:
    """The finding that `rule` makes of a kept graph, with the edit that detaches it."""
    edits = _detach(program, kept)
    return claim_source(
        kept.function,
        kept.keep.node,
        rule=rule,
        name=name,
        message=message,
        remedy=remedy,
        edits=edits,
        safe=bool(edits)
        and not _with_graph_beside(program, kept)
        and is_detached_safely(program, kept.function, kept.keep),
    )


def text_of_value(kept: KeptGraph) -> str:
    """The value as written, cut where it is long."""
    text = ast.unparse(kept.keep.value)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."


def _with_graph_beside(program: Program, kept: KeptGraph) -> list[ast.expr]:
    """Parts of a kept tuple or dict that carry a graph though their function does not tell that they are tensors, as
    what its callers give it."""
    parts = parts_of_display(kept.keep.value)
    known = detachable(kept.function, kept.keep.value)
    others = [each for each in parts if parts != [kept.keep.value] and all(each is not one for one in known)]
    return [each for each in others if tensor_values(program).kind(each, kept.function) is Kind.GRAPH]


def _detach(program: Program, kept: KeptGraph) -> tuple[Edit, ...]:
    """The edits that put `.detach()` behind the value, or behind the tensors in a tuple or dict and whatever else there
    carries a graph; none where one is a view of more, or may be a number."""
    known = detachable(kept.function, kept.keep.value)
    values = [*known, *_with_graph_beside(program, kept)] if known else []
    if not all(isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.BinOp)) for value in values):
        return ()
    if any(may_be_no_tensor(program, kept.function, value) for value in values):
        return ()
    return call_method_of_all(kept.function.source, values, ".detach()")
