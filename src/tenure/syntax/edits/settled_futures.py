"""Futures and tasks that a set or list keeps with their results, taken out of it when they are done."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.container_reads import append_at
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.name_uses import begins_its_line, indent_of
from tenure.syntax.text.scopes import dotted

FUTURES = frozenset({"Future", "Task"})


def discard_when_done(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that lets a future under a variable, which the statement on `line` adds to a set, leave it when it is
    done: `job.add_done_callback(self.jobs.discard)`. Who waits for all of the set finds the pending ones alone: a run
    has to prove it."""
    found = append_at(source, line, name)
    if found is None or not isinstance(found[0], ast.Expr) or not isinstance(found[0].value, ast.Call):
        return ()
    statement, container = found
    call = found[0].value
    added = call.args[0] if len(call.args) == 1 else None
    text = dotted(container)
    if not isinstance(added, ast.Name) or "[" in text or not begins_its_line(source, statement):
        return ()
    remove = "discard" if getattr(call.func, "attr", "") == "add" else "remove"
    line_of = f"{indent_of(source, statement)}{added.id}.add_done_callback({text}.{remove})"
    return insert_line(source, (statement.end_lineno or line) + 1, line_of)
