"""What an optimizer keeps for parameters that a program took out of its groups."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.let_go import at_end
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_GROUPS, _PARAMETERS = "param_groups", "params"
_TAKE_OUT = ("clear", "pop", "remove")


def forget_states(sources: Sequence[SourceFile]) -> Iterator[tuple[Edit, ...]]:
    """For each function that changes which parameters are in an optimizer's groups, the edit by which it drops, at its
    end, the state of those that are in none any more: nothing reads it."""
    for source in sources:
        for function in nodes_in(source):
            if not isinstance(function, _FUNCTIONS):
                continue
            optimizers = {text for node in walk(function) if (text := _optimizer_of(node))}
            if len(optimizers) == 1 and any(_changes_groups(node) for node in walk(function)):
                optimizer = optimizers.pop()
                in_groups = f'(group["{_PARAMETERS}"] for group in {optimizer}.{_GROUPS})'
                text = f"for gone in set({optimizer}.state).difference(*{in_groups}):\n"
                indent = " " * function.body[-1].col_offset
                yield at_end(source, function, f"{text}{indent}    del {optimizer}.state[gone]")


def _optimizer_of(node: ast.AST) -> str:
    """The optimizer whose groups an expression names."""
    if isinstance(node, ast.Attribute) and node.attr == _GROUPS and "[" not in (text := dotted(node.value)):
        return text
    return ""


def _changes_groups(node: ast.AST) -> bool:
    """Whether a node sets what is in a group, or takes groups or parameters out."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return _is_parameters(node) or bool(_optimizer_of(node.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKE_OUT:
        return _is_parameters(node.func.value) or bool(_optimizer_of(node.func.value))
    return isinstance(node, ast.Delete) and any(
        isinstance(each, ast.Subscript) and bool(_optimizer_of(each.value)) for each in node.targets
    )


def _is_parameters(node: ast.AST) -> bool:
    """Whether an expression is `group["params"]`."""
    return isinstance(node, ast.Subscript) and getattr(node.slice, "value", None) == _PARAMETERS
