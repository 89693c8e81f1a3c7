"""What rules say of a value that is kept with its graph: how it is written, and how it is detached."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source_finding import SourceFinding
from tenure.rules.source_claim import claim_source
from tenure.syntax.kept_graphs import KeptGraph
from tenure.syntax.kept_values import call_method

LONGEST_TEXT = 40


def claim_kept(kept: KeptGraph, *, rule: str, name: str, message: str, remedy: str) -> SourceFinding:
    """The finding that `rule` makes of a kept graph, with the edit that detaches it."""
    return claim_source(
        kept.function,
        kept.keep.node,
        rule=rule,
        name=name,
        message=message,
        remedy=remedy,
        edits=_detach(kept),
    )


def text_of_value(kept: KeptGraph) -> str:
    """The value as written, cut where it is long."""
    text = ast.unparse(kept.keep.value)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 3] + "..."


def _detach(kept: KeptGraph) -> tuple[Edit, ...]:
    """The edit that puts `.detach()` behind the value; none where it is a container or a view of more."""
    value = kept.keep.value
    if not isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.BinOp)):
        return ()
    return call_method(kept.function.source, value, ".detach()")
