"""Gradients that carry a graph, asked for by `torch.autograd.grad` where `backward(create_graph=True)` stores them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import write_over
from tenure.syntax.edits.missing_imports import imports
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import function_around, indent_of
from tenure.syntax.text.scopes import dotted, inner_bodies, parse
from tenure.syntax.text.tree_walks import walk

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_GRADIENTS, _EACH = ("gradients", "asked_gradients"), ("gradient", "asked_gradient")
_OPTIONS = ("create_graph", "retain_graph")


def ask_for_gradients(source: SourceFile, line: int) -> Iterator[tuple[Edit, ...]]:
    """The edits that ask for the gradients of the backward pass on `line`, and read what that gives in the loop or
    comprehension behind it that reads `.grad` of parameters: `[p.grad for p in net.parameters()]`.

    First such that store none, then such that store each without its graph, for what adds to it later. None where the
    gradients are read otherwise in this function, or of parameters that a condition chooses.
    """
    function = function_around(parse(source), [line])
    names = {node.id for node in walk(function) if isinstance(node, ast.Name)}
    all_name, name = (next((each for each in found if each not in names), "") for found in (_GRADIENTS, _EACH))
    passed = _pass_at(function, line)
    if passed is None or not all_name or not name or not imports(source, "torch"):
        return
    statement, following = passed
    reader = _only_reader(function, following)
    if reader is None or _is_conditional(reader):
        return
    for stores in (False, True):
        yield write_over(source, _changes(source, statement, reader, all_name, name, stores=stores))


def ask_for_those_that_are_read(source: SourceFile) -> Iterator[tuple[Edit, ...]]:
    """For each backward pass of a file whose function reads the gradients of variables alone, as those of its inputs,
    the edit that computes these and no others: `x.grad, = torch.autograd.grad(score, [x])` for `score.backward()`.

    None where the function takes a step of an optimizer, or passes options to backward.
    """
    if not imports(source, "torch"):
        return
    for function in (*nodes_of(source, ast.FunctionDef), *nodes_of(source, ast.AsyncFunctionDef)):
        calls = [node for node in walk(function) if isinstance(node, ast.Call)]
        passes = [each for each in calls if isinstance(each.func, ast.Attribute) and each.func.attr == "backward"]
        steps = any(isinstance(each.func, ast.Attribute) and each.func.attr == "step" for each in calls)
        names = _whose_gradients_are_read(function)
        if len(passes) == 1 and not steps and names and not passes[0].args and not passes[0].keywords:
            called = passes[0].func
            assert isinstance(called, ast.Attribute)
            loss = ast.get_source_segment(source.text, called.value)
            targets = ", ".join(f"{name}.grad" for name in names) + "," * (len(names) == 1)
            text = f"{targets} = torch.autograd.grad({loss}, [{', '.join(names)}])"
            yield write_over(source, [(passes[0], text)])


def _whose_gradients_are_read(function: ast.AST) -> list[str]:
    """The variables whose gradients a function reads; none where it reads another object's, or sets any."""
    found = (node for node in walk(function) if isinstance(node, ast.Attribute) and node.attr == "grad")
    read = [node for node in found if dotted(node.value).rpartition(".")[2] != "autograd"]
    if not all(isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load) for node in read):
        return []
    in_order = sorted(read, key=lambda node: (node.lineno, node.col_offset))
    return list(dict.fromkeys(node.value.id for node in in_order if isinstance(node.value, ast.Name)))


def _pass_at(function: ast.AST, line: int) -> tuple[ast.Expr, ast.stmt] | None:
    """The statement `loss.backward(create_graph=True)` on a line, and the one behind it."""
    for node in walk(function):
        for body in inner_bodies(node):
            for statement, following in pairwise(body):
                if isinstance(statement, ast.Expr) and statement.lineno == line == statement.end_lineno:
                    return (statement, following) if _asks_with_graph(statement.value) else None
    return None


def _asks_with_graph(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "backward":
        return False
    if node.args or any(each.arg not in _OPTIONS for each in node.keywords):
        return False
    return any(each.arg == "create_graph" and getattr(each.value, "value", False) is True for each in node.keywords)


def _only_reader(function: ast.AST, following: ast.stmt) -> ast.expr | ast.For | None:
    """The loop or comprehension in the next statement that makes all of the function's reads of `.grad`, of one
    variable of its own."""
    mentions = [node for node in walk(function) if isinstance(node, ast.Attribute) and node.attr == "grad"]
    mentions = [
        node for node in mentions if not (isinstance(node.value, ast.Attribute) and node.value.attr == "autograd")
    ]
    for node in walk(following):
        if isinstance(node, (*_COMPREHENSIONS, ast.For)) and _parameter(node):
            inside = [each for each in walk(node) if each in mentions]
            if (
                mentions
                and len(inside) == len(mentions)
                and all(_is_read_of(each, _parameter(node)) for each in inside)
            ):
                return node
    return None


def _is_read_of(node: ast.AST, parameter: str) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != "grad" or not isinstance(node.ctx, ast.Load):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == parameter


def _turns(reader: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What a loop, or the one `for` of a comprehension, binds in each turn, and what it goes through."""
    if isinstance(reader, ast.For):
        return reader.target, reader.iter
    found = getattr(reader, "generators", [])
    return (found[0].target, found[0].iter) if len(found) == 1 and not found[0].is_async else None


def _parameter(reader: ast.AST) -> str:
    """The variable that stands for a parameter: `p` of `for p in ...` and of `for name, p in ...`."""
    turns = _turns(reader)
    target = turns[0] if turns is not None else None
    if isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[1]
    return target.id if isinstance(target, ast.Name) else ""


def _is_conditional(reader: ast.AST) -> bool:
    return any(each.ifs for each in getattr(reader, "generators", []))


def _changes(
    source: SourceFile, statement: ast.Expr, reader: ast.AST, all_name: str, name: str, *, stores: bool
) -> Iterator[tuple[ast.AST, str]]:
    """What is written in place of which nodes."""
    turns, call, parameter = _turns(reader), statement.value, _parameter(reader)
    assert turns is not None
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Attribute)
    target, through = turns
    loss, each, all_turns, *options = (
        ast.get_source_segment(source.text, node) or "" for node in (call.func.value, target, through, *call.keywords)
    )
    is_pair = isinstance(target, ast.Tuple)
    of = f"[{parameter} for {each} in {all_turns}]" if is_pair else f"list({all_turns})"
    bound = f"({each})" if is_pair and not each.startswith("(") else each
    zipped = f"zip({all_turns}, {all_name})"
    lines = [f"{all_name} = torch.autograd.grad({', '.join([loss, of, *options])})"]
    if stores:
        lines += [f"for {bound}, {name} in {zipped}:", f"    {parameter}.grad = {name}.detach().clone()"]
    yield statement, f"\n{indent_of(source, statement)}".join(lines)
    yield target, f"{bound}, {name}"
    yield through, zipped
    for node in walk(reader):
        if _is_read_of(node, parameter):
            yield node, name
