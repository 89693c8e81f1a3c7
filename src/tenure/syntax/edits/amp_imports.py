"""Imports of `torch.cuda.amp` and `torch.cpu.amp`, and what it takes to import the newer names in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.amp_names import DEVICES
from tenure.syntax.edits.line_edits import edits_between, only_if_it_parses, split_lines
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.tree_walks import walk

_NEWER = ("autocast", "GradScaler")
_PARTS = (".autocast_mode", ".grad_scaler")
Import = ast.Import | ast.ImportFrom


def old_device(statement: Import) -> str:
    """The device whose older names a statement imports: `cuda`, `cpu`, or "" for other imports."""
    if isinstance(statement, ast.ImportFrom):
        modules = [f"{statement.module}.amp" for each in statement.names if each.name == "amp"]
        modules.append(_without_part(statement.module or ""))
    else:
        modules = [_without_part(each.name) for each in statement.names if each.asname]
    return next((DEVICES[each] for each in modules if each in DEVICES), "")


def rename_import(sources: Sequence[SourceFile], source: SourceFile, statement: Import) -> tuple[Edit, ...]:
    """The edits that import from `torch.amp`, and name the device in each call of what is imported.

    None where a name is used otherwise, is bound anew or imported by another file, where arguments by place would mean
    something else, and where the statement imports more.
    """
    device, old = old_device(statement), _imported(statement)
    tree = parse(source)
    if statement not in tree.body or not old or not _is_own(sources, source, set(old)):
        return ()
    insertions = list(_uses(tree, statement, old))
    if None in insertions:
        return ()
    lines = split_lines(source.text)
    changed = [line.encode() for line in lines]
    for call in sorted(filter(None, insertions), key=lambda each: (each.lineno, each.col_offset), reverse=True):
        end = call.func.end_col_offset or 0
        line = changed[(call.func.end_lineno or call.lineno) - 1]
        if line[end : end + 1] != b"(":
            return ()
        rest = ", " if call.args or call.keywords else ""
        changed[(call.func.end_lineno or call.lineno) - 1] = (
            line[: end + 1] + f'"{device}"{rest}'.encode() + line[end + 1 :]
        )
    if statement.lineno != statement.end_lineno:
        return ()
    at = statement.lineno - 1
    raw = changed[at]
    changed[at] = raw[: statement.col_offset] + _newer(statement).encode() + raw[statement.end_col_offset :]
    after = b"".join(changed).decode()
    return only_if_it_parses(source, edits_between(source.path, source.text, after))


def _without_part(module: str) -> str:
    for part in _PARTS:
        module = module.removesuffix(part)
    return module


def _imported(statement: Import) -> dict[str, str]:
    """Names that a statement binds, with what each is: `autocast`, `GradScaler`, or `amp` for the module; none where it
    imports anything else."""
    found: dict[str, str] = {}
    for each in statement.names:
        if isinstance(statement, ast.Import) or statement.module in ("torch.cuda", "torch.cpu"):
            is_known = each.name == "amp" if isinstance(statement, ast.ImportFrom) else each.name in DEVICES
            found[each.asname or each.name] = "amp" if is_known else ""
        else:
            found[each.asname or each.name] = each.name if each.name in _NEWER else ""
    return found if all(found.values()) else {}


def _newer(statement: Import) -> str:
    names = ", ".join(f"{each.name} as {each.asname}" if each.asname else each.name for each in statement.names)
    if isinstance(statement, ast.Import):
        return f"import torch.amp as {statement.names[0].asname}"
    return (
        f"from torch import {names}"
        if statement.module in ("torch.cuda", "torch.cpu")
        else f"from torch.amp import {names}"
    )


def _is_own(sources: Sequence[SourceFile], source: SourceFile, names: set[str]) -> bool:
    """Whether no other file imports one of the names from a module that is not torch's."""
    others = [each for each in sources if each is not source and any(name in each.text for name in names)]
    return not any(
        isinstance(node, ast.ImportFrom)
        and not (node.module or "").startswith("torch")
        and any(each.name in (*names, "*") for each in node.names)
        for other in others
        for node in walk(parse(other))
    )


def _uses(tree: ast.Module, statement: Import, names: dict[str, str]) -> Iterator[ast.Call | None]:
    """Calls of what is imported, whose first argument is to become the device; None for any other use."""
    called = {id(node.func): node for node in walk(tree) if isinstance(node, ast.Call)}
    owners = {id(node.value): node for node in walk(tree) if isinstance(node, ast.Attribute)}
    for node in walk(tree):
        if node is not statement and names.keys() & _bound_by(node):
            yield None
        elif isinstance(node, ast.Name) and node.id in names:
            what: ast.AST = node
            kind = names[node.id]
            if kind == "amp":
                what = owners.get(id(node), node)
                kind = what.attr if isinstance(what, ast.Attribute) else ""
            call = called.get(id(what))
            is_same = kind == "GradScaler" or (kind == "autocast" and call is not None and not call.args)
            yield call if isinstance(node.ctx, ast.Load) and is_same and call is not None else None
        elif isinstance(node, ast.Constant) and node.value in names:
            yield None  # `__all__`, or an annotation


def _bound_by(node: ast.AST) -> set[str]:
    """Names that a node other than a variable binds."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {each.asname or each.name for each in node.names}
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    return {node.arg} if isinstance(node, ast.arg) else set()
