"""From `ctx.y = y` to `ctx.save_for_backward(y)`, where an autograd Function writes and reads it in plain sight."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line, only_if_it_parses, replace_expression, write_over
from tenure.syntax.edits.statement_edits import remove_statement
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import class_around, indent_of, stored_in
from tenure.syntax.text.tree_walks import walk

_WRITERS = ("forward", "setup_context")
_SAVED = ("save_for_backward", "saved_tensors", "saved_variables", "save_for_forward")


def save_for_backward(source: SourceFile, attribute: str, line: int, part: int | None) -> tuple[Edit, ...]:
    """The edits by which the Function whose statement on `line` sets `ctx.<attribute>` saves that tensor instead.

    `part` is the tensor's place where a tuple is set. None unless there is one such statement, at the top of
    `forward`, `backward` alone reads it, and nobody outside of the class uses the attribute. What is saved already
    is saved with it, where one statement saves and one takes apart; a part of a tuple only where nothing is.
    """
    try:
        cls = class_around(source, line)
        mentions = [node for node in nodes_of(source, ast.Attribute) if node.attr == attribute]
    except SourceError:
        return ()
    if cls is None or not are_inside(cls, mentions):
        return ()
    writer, reader = writer_around(cls, line), method_of(cls, "backward")
    stores = [node for node in mentions if isinstance(node.ctx, ast.Store)]
    loads = [node for node in mentions if isinstance(node.ctx, ast.Load)]
    if writer is None or reader is None or len(stores) != 1 or len(loads) + 1 != len(mentions):
        return ()
    statement = next((node for node in writer.body if isinstance(node, ast.Assign) and stores[0] in node.targets), None)
    if statement is None or len(statement.targets) != 1 or not is_of_ctx(writer, stores[0]):
        return ()
    if not are_inside(reader, loads) or not all(is_of_ctx(reader, node) for node in loads) or _changes_in_place(writer):
        return ()
    if saves_already(cls):
        return _save_beside(source, cls, writer, statement, reader, loads) if part is None else ()
    if part is None:
        return _save_whole(source, statement, stores[0], loads)
    return _save_part(source, statement, stores[0], reader, loads, part)


def _save_whole(
    source: SourceFile, statement: ast.Assign, store: ast.Attribute, loads: Sequence[ast.Attribute]
) -> tuple[Edit, ...]:
    if statement.lineno != statement.end_lineno or not isinstance(statement.value, (ast.Name, ast.Attribute, ast.Call)):
        return ()
    ctx = ast.unparse(store.value)
    text = source.text.split("\n")[statement.lineno - 1].rstrip("\r").encode()
    value = ast.get_source_segment(source.text, statement.value) or ""
    changed = text[: statement.col_offset] + f"{ctx}.save_for_backward({value})".encode()
    written = Edit(source.path, statement.lineno, text.decode(), (changed + text[statement.end_col_offset :]).decode())
    read = [
        edit
        for node in loads
        for edit in replace_expression(source, node, f"{ast.unparse(node.value)}.saved_tensors[0]")
    ]
    lines = [edit.line for edit in (written, *read)]
    return only_if_it_parses(source, [written, *read]) if len(set(lines)) == len(lines) else ()


def _save_part(
    source: SourceFile,
    statement: ast.Assign,
    store: ast.Attribute,
    reader: ast.FunctionDef,
    loads: Sequence[ast.Attribute],
    part: int,
) -> tuple[Edit, ...]:
    """A tuple without the tensor, which `backward` takes apart in one statement."""
    value = statement.value
    unpacked = [node for node in reader.body if isinstance(node, ast.Assign) and node.value in loads]
    if not isinstance(value, ast.Tuple) or len(unpacked) != 1 or len(loads) != 1 or len(unpacked[0].targets) != 1:
        return ()
    targets = unpacked[0].targets[0]
    if (
        not isinstance(targets, (ast.Tuple, ast.List))
        or len(targets.elts) != len(value.elts)
        or part >= len(value.elts)
    ):
        return ()
    kept, target = value.elts[part], targets.elts[part]
    if any(isinstance(each, ast.Starred) for each in (*value.elts, *targets.elts)) or not isinstance(kept, ast.Name):
        return ()
    if not isinstance(target, ast.Name):
        return ()
    saves = f"{indent_of(source, statement)}{ast.unparse(store.value)}.save_for_backward({kept.id})"
    reads = f"{indent_of(source, unpacked[0])}({target.id},) = {ast.unparse(loads[0].value)}.saved_tensors"
    edits = (
        *insert_line(source, statement.lineno, saves),
        *replace_expression(source, kept, "None"),
        *insert_line(source, (unpacked[0].end_lineno or unpacked[0].lineno) + 1, reads),
    )
    return only_if_it_parses(source, edits) if len(edits) == 3 else ()


def _save_beside(
    source: SourceFile,
    cls: ast.ClassDef,
    writer: ast.FunctionDef,
    statement: ast.Assign,
    reader: ast.FunctionDef,
    loads: Sequence[ast.Attribute],
) -> tuple[Edit, ...]:
    """`ctx.save_for_backward(x, y)` for `ctx.save_for_backward(x)` beside `ctx.y = y`, in the later one's place."""
    saved = find_saved(cls, writer, reader)
    if saved is None or not isinstance(statement.value, ast.Name):
        return ()
    used = {node.id for node in walk(reader) if isinstance(node, ast.Name)}
    attribute = loads[0].attr if loads else "saved"
    name = next((each for each in (attribute, f"saved_{attribute}") if each not in used), "")
    if not name or any(node.lineno <= saved.read.lineno for node in loads):
        return ()
    return add_to_saved(source, writer, saved, statement, [statement.value.id], name, [(node, name) for node in loads])


@dataclass(frozen=True)
class Saved:
    """What a Function saves so far, by one statement, and the one that takes it apart in as many parts."""

    statement: ast.Expr
    call: ast.Call
    read: ast.Assign
    targets: ast.Tuple | ast.List


def find_saved(cls: ast.ClassDef, writer: ast.FunctionDef, reader: ast.FunctionDef) -> Saved | None:
    """None where a Function saves nothing, or saves or reads it otherwise too."""
    saves = [node for node in writer.body if isinstance(node, ast.Expr) and _is_save(node.value)]
    reads = [node for node in reader.body if isinstance(node, ast.Assign) and _takes_saved_apart(node)]
    mentions = [node for node in walk(cls) if isinstance(node, ast.Attribute) and node.attr in _SAVED]
    if len(saves) != 1 or len(reads) != 1 or len(mentions) != 2:
        return None
    call, targets = saves[0].value, reads[0].targets[0]
    assert isinstance(call, ast.Call)
    assert isinstance(targets, (ast.Tuple, ast.List))
    return Saved(saves[0], call, reads[0], targets) if len(targets.elts) == len(call.args) else None


def add_to_saved(
    source: SourceFile,
    writer: ast.FunctionDef,
    saved: Saved,
    statement: ast.Assign,
    more: Sequence[str],
    target: str,
    reads: Sequence[tuple[ast.AST, str]],
) -> tuple[Edit, ...]:
    """The edits that save the variables `more`, too, for the `statement` that kept them, and take them apart into
    `target`; with the changed `reads`. None where not all that is saved are variables that stay the same meanwhile."""
    names = [*(each.id for each in saved.call.args if isinstance(each, ast.Name)), *more]
    first, last = sorted((saved.statement, statement), key=lambda node: node.lineno)
    between = {name for node in writer.body if first.lineno < node.lineno < last.lineno for name in stored_in(node)}
    if len(names) != len(saved.call.args) + len(more) or between & set(names):
        return ()
    parts = [*(ast.get_source_segment(source.text, each) or "" for each in saved.targets.elts), target]
    is_bare = not (ast.get_source_segment(source.text, saved.targets) or "").startswith(("(", "["))
    taken = ", ".join(parts) if is_bare else f"({', '.join(parts)})"
    changes = [(last, f"{ast.unparse(saved.call.func)}({', '.join(names)})"), (saved.targets, taken), *reads]
    written = write_over(source, changes)
    return only_if_it_parses(source, [*remove_statement(source, first), *written]) if written else ()


def _is_save(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    return isinstance(node.func, ast.Attribute) and node.func.attr == "save_for_backward"


def _takes_saved_apart(node: ast.Assign) -> bool:
    is_read = isinstance(node.value, ast.Attribute) and node.value.attr == "saved_tensors"
    return is_read and len(node.targets) == 1 and isinstance(node.targets[0], (ast.Tuple, ast.List))


def method_of(cls: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """The method of a class with this name."""
    return next((node for node in cls.body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def writer_around(cls: ast.ClassDef, line: int) -> ast.FunctionDef | None:
    """The method around a line that may write to `ctx`."""
    methods = [node for name in _WRITERS if (node := method_of(cls, name)) is not None]
    return next((node for node in methods if node.lineno <= line <= (node.end_lineno or node.lineno)), None)


def saves_already(cls: ast.ClassDef) -> bool:
    """Whether a Function gives anything to `save_for_backward`, or takes it from there."""
    return any(isinstance(node, ast.Attribute) and node.attr in _SAVED for node in walk(cls))


def is_of_ctx(method: ast.FunctionDef, node: ast.Attribute) -> bool:
    """Whether an attribute is one of the method's first argument, as `ctx.y`."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    return isinstance(node.value, ast.Name) and bool(arguments) and node.value.id == arguments[0].arg


def _changes_in_place(method: ast.FunctionDef) -> bool:
    """Whether a method writes into tensors: what is saved must stay as it was."""
    for node in walk(method):
        if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name.endswith("_") and not name.startswith("_"):
                return True
        if isinstance(node, ast.keyword) and node.arg in ("inplace", "out"):
            return True
    return False


def are_inside(outer: ast.AST, nodes: Sequence[ast.AST]) -> bool:
    """Whether some nodes are all within another."""
    inside = {id(each) for each in walk(outer)}
    return all(id(each) in inside for each in nodes)
