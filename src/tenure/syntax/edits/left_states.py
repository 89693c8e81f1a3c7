"""What an optimizer keeps for parameters that a program took out of its groups, or that it froze."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.let_go import at_end
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.freezing import requires_grad_set_in
from tenure.syntax.text.name_uses import indent_of
from tenure.syntax.text.scopes import dotted, inner_bodies
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


def forget_frozen_states(sources: Sequence[SourceFile], name: str) -> Iterator[tuple[Edit, ...]]:
    """For each statement that freezes parameters in a function that has the optimizer of this name at hand, the edit by
    which the state of all that is not trained any more is dropped behind it: a step passes that by."""
    for source in sources:
        if name not in source.text or "requires_grad" not in source.text:
            continue
        owners = {method: node for node in nodes_in(source) if isinstance(node, ast.ClassDef) for method in node.body}
        for function in nodes_in(source):
            optimizer = _at_hand(function, owners.get(function), name) if isinstance(function, _FUNCTIONS) else ""
            for statement in _freezing(function) if optimizer else ():
                indent = indent_of(source, statement)
                text = f"{indent}for gone in [each for each in {optimizer}.state if not each.requires_grad]:\n"
                line = (statement.end_lineno or statement.lineno) + 1
                yield insert_line(source, line, f"{text}{indent}    del {optimizer}.state[gone]")


def _at_hand(function: ast.AST, owner: ast.ClassDef | None, name: str) -> str:
    """The one expression for an optimizer that a function has, or an attribute that its class sets; "" without one."""
    found = {text for node in walk(function) if (text := _named(node, name))}
    if not found and owner is not None:
        stored = (node for node in walk(owner) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
        found = {text for node in stored if (text := _named(node, name)) == f"self.{name}"}
    return found.pop() if len(found) == 1 else ""


def _named(node: ast.AST, name: str) -> str:
    text = dotted(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    return text if text.rpartition(".")[2] == name and "[" not in text else ""


def _freezing(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, not of those inside it, that freeze something; of loops that do, the loop."""
    for body in inner_bodies(node):
        for statement in body:
            if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
                continue
            if isinstance(statement, (ast.For, ast.Expr, ast.Assign)) and any(
                each.freezes for each in requires_grad_set_in(statement)
            ):
                yield statement
            else:
                yield from _freezing(statement)


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
