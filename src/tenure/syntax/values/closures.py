"""Which variables a function that is handed on keeps: those around it that it reads, and its defaults."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.syntax.program.functions import Function, is_in_body
from tenure.syntax.program.program import Program
from tenure.syntax.text.tree_walks import walk


def captured(node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef, function: Function) -> Iterator[ast.expr]:
    """Of a lambda, or a function defined in `function`: its defaults, and the reads of variables of `function`. A
    variable that the loop around binds anew in each turn is one for all turns, and left out."""
    arguments = node.args
    yield from (each for each in (*arguments.defaults, *arguments.kw_defaults) if each is not None)
    own = {each.arg for each in walk(arguments) if isinstance(each, ast.arg)}
    loops = function.loops_around(node.lineno)
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    stored = {each.id for part in body for each in walk(part) if _is_name(each) and isinstance(each.ctx, ast.Store)}  # type: ignore[attr-defined]
    seen: set[str] = set()
    for part in body:
        for each in walk(part):
            if not isinstance(each, ast.Name) or each.id in own or each.id in stored or each.id in seen:
                continue
            seen.add(each.id)
            bound = [line for line, _ in function.bound.get(each.id, ())]
            is_own = bool(bound) or each.id in function.parameters
            if is_own and not any(is_in_body(line, loop) or line == loop.lineno for line in bound for loop in loops):
                yield each


def inner_function(program: Program, name: str, function: Function) -> Function | None:
    """The function of a name that is defined in another one."""
    found = program.names.seen_from(name, function)
    return found if found is not None and program.names.around(found) is function else None


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)
