"""Stacks of context managers that are filled in a loop and left at the end of the run alone.

When what was entered may be left, source does not tell; these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line, replace_expression
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.name_uses import begins_its_line, function_around, indent_of, spans
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_ENTERS = ("enter_context", "enter_async_context", "callback", "push", "push_async_callback", "push_async_exit")
_STACKS = ("ExitStack", "AsyncExitStack")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def leave_stacks_sooner(source: SourceFile, line: int) -> Iterator[tuple[Edit, ...]]:
    """For each statement that enters something into the stack of the one on `line`, in a loop where there is one: the
    edit that enters it into the innermost stack around the statement, and the one that closes the stack before."""
    function = function_around(parse(source), [line])
    entering = list(_entering(function))
    stack = next((dotted(entered) for statement, entered in entering if spans(statement, [line])), "")
    same = [each for each in entering if stack and dotted(each[1]) == stack]
    loops = [node for node in walk(function) if isinstance(node, _LOOPS)]
    repeated = [each for each in same if any(spans(loop, [each[0].lineno]) for loop in loops)]
    for statement, entered in repeated or same:
        inner = _innermost(function, statement, stack)
        if inner:
            yield replace_expression(source, entered, inner)
        elif "." in stack and begins_its_line(source, statement):
            yield insert_line(source, statement.lineno, f"{indent_of(source, statement)}{stack}.close()")


def _entering(function: ast.AST) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Statements that enter something into a stack, each with the stack."""
    for statement in walk(function):
        if isinstance(statement, (ast.Expr, ast.Assign, ast.AnnAssign)):
            for node in walk(statement):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ENTERS:
                    yield statement, node.func.value


def _innermost(function: ast.AST, statement: ast.stmt, stack: str) -> str:
    """The name of another stack whose block is around a statement and inside the block of its own; "" without one."""
    around = [
        (block.lineno, item.optional_vars.id)
        for block in walk(function)
        if isinstance(block, (ast.With, ast.AsyncWith)) and spans(block, [statement.lineno])
        for item in block.items
        if isinstance(item.context_expr, ast.Call) and called_name(item.context_expr) in _STACKS
        if isinstance(item.optional_vars, ast.Name)
    ]
    _, name = max(around, default=(0, ""))
    return name if name != stack else ""
