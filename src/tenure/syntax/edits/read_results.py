"""An object that collects until it is asked, as a metric does, emptied once its result was read."""

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

RESULTS = frozenset({"compute", "result", "value"})


def reset_behind_result(sources: Sequence[SourceFile], emptied_by: str) -> tuple[Edit, ...]:
    """The edit that calls `auroc.reset()` behind the one statement of all that reads `auroc.compute()`, be `auroc` an
    attribute or a variable; none where several do, or one that returns it."""
    name = emptied_by.rpartition(".")[0].rpartition(".")[2]
    reading = [(source, *each) for source in sources for each in _reading(source, name)]
    if len(reading) != 1:
        return ()
    source, statement, owner = reading[0]
    if isinstance(statement, ast.Return) or not begins_its_line(source, statement):
        return ()
    method = emptied_by.rpartition(".")[2]
    return insert_line(source, (statement.end_lineno or 0) + 1, f"{indent_of(source, statement)}{owner}.{method}()")


def _reading(source: SourceFile, name: str) -> Iterator[tuple[ast.stmt, str]]:
    """Simple statements with a call of a result of what goes by the name, each with the whole of what it goes by."""
    for statement in nodes_in(source):
        if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return)):
            for call in walk(statement):
                function = call.func if isinstance(call, ast.Call) else None
                if not isinstance(function, ast.Attribute) or function.attr not in RESULTS:
                    continue
                text = dotted(function.value)
                if text and "[" not in text and split_receiver(function.value)[1] == name:
                    yield statement, text
