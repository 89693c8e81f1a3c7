"""All that an autograd Function keeps on its `ctx`, given to `save_for_backward` in one call.

Source does not tell which of it are tensors, and nothing else may be saved; nor what is written in place later. These
are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line, only_if_it_parses, write_over
from tenure.syntax.edits.saved_on_ctx import (
    Saved,
    add_to_saved,
    are_inside,
    find_saved,
    is_of_ctx,
    method_of,
    saves_already,
    writer_around,
)
from tenure.syntax.edits.statement_edits import remove_statement
from tenure.syntax.text.name_uses import class_around, indent_of
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk

_TUPLE = "tuple({})"


@dataclass(frozen=True)
class _Store:
    """A statement `ctx.a = x`, `ctx.a = (x, y)`, `ctx.a = {"x": x}` or `ctx.a = Record(x, y)` of `forward`."""

    statement: ast.Assign
    attribute: str
    names: tuple[str, ...]
    again: str | None
    """What makes one thing of several names again, `Record(*{})`; None of a single variable."""


def save_together(source: SourceFile, line: int) -> Iterator[tuple[Edit, ...]]:
    """The edits by which the Function around `line` saves what the statement there keeps on `ctx`, and those by which
    it saves all variables that it keeps there. What is saved already is saved with it.

    None where that is saved or read in more places than one, or the class uses the attribute elsewhere.
    """
    cls = class_around(source, line)
    writer = writer_around(cls, line) if cls is not None else None
    reader = method_of(cls, "backward") if cls is not None else None
    if cls is None or writer is None or reader is None:
        return
    stores = [each for each in _stores(writer) if _is_read_by(cls, reader, each)]
    here = [each for each in stores if each.statement.lineno <= line <= (each.statement.end_lineno or line)]
    plain = [each for each in stores if each.again is None]
    if saves_already(cls):
        saved = find_saved(cls, writer, reader)
        if saved is not None and here:
            yield _save_beside(source, writer, reader, saved, here[0])
        return
    if here:
        yield _save(source, writer, reader, here)
    if len(plain) > 1:
        yield _save(source, writer, reader, plain)


def _stores(writer: ast.FunctionDef) -> Iterator[_Store]:
    for statement in writer.body:
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Attribute):
            continue
        found = _names_of(statement.value) if is_of_ctx(writer, target) else None
        if found is not None:
            yield _Store(statement, target.attr, *found)


def _names_of(value: ast.expr) -> tuple[tuple[str, ...], str | None] | None:
    """The variables that a value consists of, and what makes one of them again."""
    if isinstance(value, ast.Name):
        return (value.id,), None
    if isinstance(value, ast.Dict):
        keys = tuple(each.value for each in value.keys if isinstance(each, ast.Constant))
        written = repr(keys).replace("{", "{{").replace("}", "}}")
        return _all_names(value.values, f"dict(zip({written}, {{}}))") if len(keys) == len(value.keys) else None
    parts = value.elts if isinstance(value, ast.Tuple) else value.args if isinstance(value, ast.Call) else ()
    made = dotted(value.func) if isinstance(value, ast.Call) else ""
    is_record = not made or made.rpartition(".")[2][:1].isupper()
    if not is_record or getattr(value, "keywords", None):
        return None
    return _all_names(parts, f"{made or 'tuple'}({'*' if made else ''}{{}})")


def _all_names(parts: Sequence[ast.expr], again: str) -> tuple[tuple[str, ...], str] | None:
    names = tuple(each.id for each in parts if isinstance(each, ast.Name))
    return (names, again) if names and len(names) == len(parts) else None


def _is_read_by(cls: ast.ClassDef, reader: ast.FunctionDef, store: _Store) -> bool:
    """Whether the class sets an attribute once, and reads it in `backward` alone."""
    named = [node for node in walk(cls) if isinstance(node, ast.Attribute) and node.attr == store.attribute]
    loads = [node for node in named if node is not store.statement.targets[0]]
    are_reads = all(isinstance(node.ctx, ast.Load) and is_of_ctx(reader, node) for node in loads)
    return bool(loads) and are_reads and are_inside(reader, loads)


def _save(
    source: SourceFile, writer: ast.FunctionDef, reader: ast.FunctionDef, stores: Sequence[_Store]
) -> tuple[Edit, ...]:
    used = {node.id for node in walk(reader) if isinstance(node, ast.Name)} | {each.arg for each in reader.args.args}
    local = {each.attribute: _free_name(each.attribute, used) for each in stores}
    ctx, ctx_read = (each.args.args[0].arg for each in (writer, reader))
    names = [name for each in stores for name in each.names]
    last = stores[-1].statement
    changes: list[tuple[ast.AST, str]] = [(last, f"{ctx}.save_for_backward({', '.join(names)})")]
    for node in walk(reader):
        if isinstance(node, ast.Attribute) and node.attr in local and is_of_ctx(reader, node):
            changes.append((node, local[node.attr]))
    first = next(node for node in reader.body if not isinstance(getattr(node, "value", None), ast.Constant))
    taken = indent_of(source, first) + _taken(stores, local, f"{ctx_read}.saved_tensors")
    gone = [edit for each in stores[:-1] for edit in remove_statement(source, each.statement)]
    written = write_over(source, changes)
    if not written or len({edit.line for edit in (*gone, *written)}) < len(gone) + len(written):
        return ()
    return only_if_it_parses(source, [*gone, *written, *insert_line(source, first.lineno, taken)])


def _taken(stores: Sequence[_Store], local: dict[str, str], saved: str) -> str:
    """The statement that takes apart what was saved."""
    again, names = stores[0].again, [local[each.attribute] for each in stores]
    if again is None:
        return f"{', '.join(names)} = {saved}" if len(names) > 1 else f"({names[0]},) = {saved}"
    return f"{names[0]} = {saved if again == _TUPLE else again.format(saved)}"


def _save_beside(
    source: SourceFile, writer: ast.FunctionDef, reader: ast.FunctionDef, saved: Saved, store: _Store
) -> tuple[Edit, ...]:
    """Of several variables that one thing is made of: `x, *parts = ctx.saved_tensors`, and the thing made again."""
    used = {node.id for node in walk(reader) if isinstance(node, ast.Name)}
    name = _free_name(store.attribute, used)
    loads = [node for node in walk(reader) if isinstance(node, ast.Attribute) and node.attr == store.attribute]
    if store.again is None or any(node.lineno <= saved.read.lineno for node in loads):
        return ()
    made = f"{ast.unparse(saved.read.value)}\n{indent_of(source, saved.read)}{name} = {store.again.format(name)}"
    reads: list[tuple[ast.AST, str]] = [(saved.read.value, made), *((node, name) for node in loads)]
    return add_to_saved(source, writer, saved, store.statement, store.names, f"*{name}", reads)


def _free_name(attribute: str, used: set[str]) -> str:
    return next(name for name in (attribute, f"saved_{attribute}", f"{attribute}_saved_here") if name not in used)
