"""A loader that is opened anew for each pass, where `itertools.cycle` keeps every batch of the first."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import write_over
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.scopes import dotted

_CYCLE = "itertools.cycle"


def reopen_each_pass(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edit by which the one `itertools.cycle(loader)` of a variable that begins on `line` asks the loader again.

    The first pass begins at once, as there. One after it may differ, as batches are drawn anew; what is an iterator
    already gives nothing more: a run has to prove it.
    """
    calls = [node for node in nodes_of(source, ast.Call) if node.lineno == line and dotted(node.func) == _CYCLE]
    loader = dotted(calls[0].args[0]) if len(calls) == 1 and len(calls[0].args) == 1 else ""
    if not loader or "[" in loader or "(" in loader:
        return ()
    text = f"itertools.chain(iter({loader}), itertools.chain.from_iterable(itertools.repeat({loader})))"
    return write_over(source, [(calls[0], text)])
