"""Generators that a loop leaves before their end, closed behind it: what is suspended in them goes.

Somebody may go on with one later; these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.expressions import split_receiver
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.name_uses import begins_its_line, indent_of
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk


def close_behind_loops(sources: Sequence[SourceFile], name: str) -> Iterator[tuple[Edit, ...]]:
    """For each loop over the attribute or variable `name` that may end by `break`, the edit that closes it behind the
    loop."""
    for source in sources:
        for loop in nodes_in(source):
            if not isinstance(loop, ast.For):
                continue
            text = dotted(loop.iter)
            leaves = any(isinstance(node, ast.Break) for statement in loop.body for node in walk(statement))
            named = bool(text) and "[" not in text and split_receiver(loop.iter)[1] == name
            if named and leaves and begins_its_line(source, loop):
                yield insert_line(source, (loop.end_lineno or 0) + 1, f"{indent_of(source, loop)}{text}.close()")
