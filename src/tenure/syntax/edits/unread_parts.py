"""Fields and keys that a program fills and never reads: what only they keep need not be kept."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.class_fields import given_for
from tenure.syntax.edits.kept_parts import written_for
from tenure.syntax.edits.line_edits import replace_expression
from tenure.syntax.text.file_nodes import nodes_of


def leave_out_unread(sources: Sequence[SourceFile], kind: str, label: str) -> tuple[Edit, ...]:
    """The edit that gives None for a field (`.learner`) of the program's class `kind`, or for a key (`['score']`) of
    the one dictionary that is written with it, where no file of the program reads either by its name.

    Who goes through all fields or keys reads it as well, which only a run can tell.
    """
    field = label.removeprefix(".")
    if field != label and not (_is_attribute_read(sources, field) or _is_text(sources, field)):
        given = given_for(sources, kind, field)
    elif label[:2] in ("['", '["') and not _is_text(sources, label[2:-2]):
        given = written_for(sources, label[1:-1])
    else:
        return ()
    return replace_expression(*given, "None") if given is not None else ()


def _is_attribute_read(sources: Sequence[SourceFile], name: str) -> bool:
    nodes = (node for source in sources for node in nodes_of(source, ast.Attribute))
    return any(node.attr == name and isinstance(node.ctx, ast.Load) for node in nodes)


def _is_text(sources: Sequence[SourceFile], name: str) -> bool:
    """Whether a text of this name stands anywhere but as the key of a dictionary that is written."""
    for source in sources:
        written = {id(key) for node in nodes_of(source, ast.Dict) for key in node.keys}
        if any(node.value == name and id(node) not in written for node in nodes_of(source, ast.Constant)):
            return True
    return False
