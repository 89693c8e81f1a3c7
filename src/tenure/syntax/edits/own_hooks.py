"""Hooks of a tensor that read the tensor itself: C++ keeps the hook, and the hook the tensor with its graph."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import Insertion, insert_into_lines
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk


def read_detached(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit by which the function in `x.register_hook(lambda gradient: ...)` reads `x`, a variable of the function
    around `line`, without its graph: `lambda gradient, x=x.detach(): ...`.

    None where there is not one such call, it does not read `x`, or has other than plain arguments.
    """
    hooks = [
        node.args[0]
        for node in walk(function_around(parse(source), [line]))
        if isinstance(node, ast.Call) and dotted(node.func) == f"{name}.register_hook" and len(node.args) == 1
    ]
    hook = hooks[0] if len(hooks) == 1 else None
    if not isinstance(hook, ast.Lambda):
        return ()
    given = hook.args
    if len(given.args) != 1 or given.args[0].arg == name or given.defaults or given.vararg or given.kwarg:
        return ()
    reads = any(isinstance(node, ast.Name) and node.id == name for node in walk(hook.body))
    last = given.args[0]
    place = Insertion(last.end_lineno or 0, last.end_col_offset or 0, f", {name}={name}.detach()")
    return insert_into_lines(source, [place]) if reads else ()
