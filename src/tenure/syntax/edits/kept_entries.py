"""Fewer entries of a container that only grows: so many keys, or none that was read.

What is left out may be asked for later; these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.container_reads import append_at, reads_of, root_of
from tenure.syntax.edits.line_edits import insert_line, replace_expression
from tenure.syntax.text.expressions import split_receiver
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.name_uses import begins_its_line, function_around, indent_of
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.store_calls import GROWING_METHODS
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ASKS = ("get", "__contains__")
_GROWING_SELF = frozenset(f"self.{method}" for method in GROWING_METHODS)


def bound_keys(source: SourceFile, line: int, size: int) -> tuple[Edit, ...]:
    """The edit by which a dictionary that is asked before it is filled drops its oldest key for the one that the
    statement on `line` adds, once it has `size`."""
    found = _item_stored_at(source, line)
    if found is None:
        return ()
    statement, target = found
    text = ast.get_source_segment(source.text, target.value) or ""
    function = function_around(parse(source), [line])
    if not dotted(target.value) or "[" in text or not _is_asked(function, dotted(target.value), statement):
        return ()
    indent = indent_of(source, statement)
    lines = f"{indent}if len({text}) >= {size}:\n{indent}    del {text}[next(iter({text}))]"
    return insert_line(source, statement.lineno, lines)


def filled_when_missing(sources: Sequence[SourceFile], name: str) -> Iterator[tuple[SourceFile, int]]:
    """The lines on which a dictionary of this class fills itself, in its `__missing__`."""
    for source in sources:
        for cls in nodes_in(source):
            if isinstance(cls, ast.ClassDef) and cls.name == name:
                methods = (each for each in cls.body if isinstance(each, _FUNCTIONS) and each.name == "__missing__")
                stores = (node for method in methods for node in walk(method) if isinstance(node, ast.Assign))
                yield from ((source, node.lineno) for node in stores if _item_stored_at(source, node.lineno))


def stores_in_class(sources: Sequence[SourceFile], name: str) -> Iterator[tuple[SourceFile, int]]:
    """The lines on which the methods of a container of the program's own class put something into it: `self[key] = x`,
    `self.append(x)`."""
    for source in sources:
        for cls in nodes_in(source):
            if isinstance(cls, ast.ClassDef) and cls.name == name:
                statements = (node for node in walk(cls) if isinstance(node, (ast.Assign, ast.Expr)))
                yield from ((source, node.lineno) for node in statements if _stores_in_self(node))


def _stores_in_self(statement: ast.Assign | ast.Expr) -> bool:
    if isinstance(statement, ast.Assign):
        return any(isinstance(each, ast.Subscript) and dotted(each.value) == "self" for each in statement.targets)
    return isinstance(statement.value, ast.Call) and dotted(statement.value.func) in _GROWING_SELF


def clear_before_filled(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str
) -> Iterator[tuple[Edit, ...]]:
    """Edits that empty a container in front of what fills it: a statement that sets an item, or the loop of a caller
    that adds its entries one by one."""
    item, appended = _item_stored_at(source, line), append_at(source, line, name)
    if item is not None and split_receiver(item[1])[1] == name and "[" not in dotted(item[1].value):
        owner = ast.get_source_segment(source.text, item[1].value)
        yield insert_line(source, item[0].lineno, f"{indent_of(source, item[0])}{owner}.clear()")
    function = function_around(parse(source), [line])
    if appended is None or not isinstance(function, _FUNCTIONS) or dotted(appended[1]) != f"self.{name}":
        return
    for file in sources:
        for loop in nodes_in(file):
            if isinstance(loop, ast.For) and _calls_itself(loop, function.name):
                yield insert_line(file, loop.lineno, f"{indent_of(file, loop)}self.{name}.clear()")


def _calls_itself(loop: ast.For, name: str) -> bool:
    """Whether a loop calls `self.<name>(...)`."""
    calls = (node for statement in loop.body for node in walk(statement) if isinstance(node, ast.Call))
    return any(dotted(call.func) == f"self.{name}" for call in calls)


def take_out_when_read(sources: Sequence[SourceFile], source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that makes `x.pop(key)` of the one `x[key]` that reads what the statement on `line` keeps by key."""
    found = _item_stored_at(source, line)
    if found is None or split_receiver(found[1])[1] != name:
        return ()
    taken = [(each, *read) for each in sources for read in reads_of(each, name, root_of(found[1]))]
    items = [
        (each, parents[-1])
        for each, parents, node in taken
        if isinstance(parents[-1], ast.Subscript) and parents[-1].value is node
    ]
    if len(items) != 1 or any(not _looks(parents, node) for _, parents, node in taken):
        return ()
    file, item = items[0]
    if file is source and function_around(parse(file), [item.lineno]) is function_around(parse(source), [line]):
        return ()
    assert isinstance(item, ast.Subscript)
    return _popped(file, item)


def take_key_when_read(sources: Sequence[SourceFile], name: str, key: str) -> tuple[Edit, ...]:
    """The edit that makes `x.pop(key)` of the one `x[key]` in all files that reads a key (as `'traces'`) of what goes
    by a name: the dict has it no more once it is in hand."""
    found = [
        (source, node)
        for source in sources
        for node in nodes_in(source)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant)
        if repr(node.slice.value) == key and split_receiver(node.value)[1] == name
    ]
    return _popped(*found[0]) if len(found) == 1 else ()


def _popped(source: SourceFile, item: ast.Subscript) -> tuple[Edit, ...]:
    owner, key = (ast.get_source_segment(source.text, part) for part in (item.value, item.slice))
    return replace_expression(source, item, f"{owner}.pop({key})")


def _looks(parents: Sequence[ast.AST], node: ast.expr) -> bool:
    """Whether a read takes an entry by key, asks how many there are, or whether one is."""
    parent = parents[-1]
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id == "len"
    return (isinstance(parent, ast.Subscript) and parent.value is node) or isinstance(parent, ast.Compare)


def _item_stored_at(source: SourceFile, line: int) -> tuple[ast.stmt, ast.Subscript] | None:
    """The assignment on a line that sets an item, `x[key] = value`, and that item; of several targets one."""
    for node in nodes_in(source):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0):
            items = [each for each in node.targets if isinstance(each, ast.Subscript)]
            if len(items) == 1 and begins_its_line(source, node):
                return node, items[0]
    return None


def _is_asked(function: ast.AST, container: str, statement: ast.stmt) -> bool:
    """Whether a function looks for a key before it adds one: it can do without."""
    if container == "self":
        return getattr(function, "name", "") == "__missing__"
    for node in walk(function):
        if isinstance(node, ast.Compare) and container in map(dotted, node.comparators):
            return True
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _ASKS and dotted(called.value) == container:
            return True
        if isinstance(node, ast.Try) and node.lineno < statement.lineno and f"{container}[]" in _texts(node):
            return True
    return False


def _texts(node: ast.Try) -> set[str]:
    return {dotted(each) for part in node.body for each in walk(part)}
