"""Fewer entries of a container that only grows: the newest ones, so many keys, or none that was read.

What is left out may be asked for later; these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import insert_line, replace_expression
from tenure.syntax.text.expressions import split_receiver
from tenure.syntax.text.name_uses import function_around, indent_of
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import children, walk

_ADDS = ("append", "add")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COPIES = ("list", "tuple")
_ASKS = ("get", "__contains__")


def keep_newest(sources: Sequence[SourceFile], source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edits by which a list keeps the entries that somebody reads from its end; the newest where nobody does.

    `del xs[:-n]` behind the `append` on `line`, or `maxlen=n` of the deque. None where any read asks for more.
    """
    call = _append_at(source, line, name)
    if call is None:
        return ()
    statement, container = call
    depth = _depth(container)
    lengths = [
        _from_the_end(parents, node, depth)
        for each in sources
        for parents, node in _reads(each, name, _root(container))
        if not (each is source and statement.lineno <= node.lineno <= (statement.end_lineno or 0))
    ]
    most = _longest(lengths)
    if most is None:
        return ()
    made = [each for source in sources for each in _deques(source, name)]
    if made:
        return tuple(edit for file, made_by in made for edit in replace_expression(file, made_by, _deque(most)))
    text = f"del {ast.get_source_segment(source.text, container)}[:-{most}]"
    return insert_line(source, (statement.end_lineno or 0) + 1, indent_of(source, statement) + text)


def _longest(lengths: Sequence[str | None]) -> str | None:
    """The largest of some lengths, 1 of none; None where one is not known, or they cannot be compared."""
    texts = {length for length in lengths if length is not None}
    if None in lengths or (len(texts) > 1 and not all(text.isdecimal() for text in texts)):
        return None
    return max(texts, key=lambda text: int(text) if text.isdecimal() else 0, default="1")


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
        for cls in _nodes(source):
            if isinstance(cls, ast.ClassDef) and cls.name == name:
                methods = (each for each in cls.body if isinstance(each, _FUNCTIONS) and each.name == "__missing__")
                stores = (node for method in methods for node in walk(method) if isinstance(node, ast.Assign))
                yield from ((source, node.lineno) for node in stores if _item_stored_at(source, node.lineno))


def clear_before_filled(
    sources: Sequence[SourceFile], source: SourceFile, line: int, name: str
) -> Iterator[tuple[Edit, ...]]:
    """Edits that empty a container in front of what fills it: a statement that sets an item, or the loop of a caller
    that adds its entries one by one."""
    item, appended = _item_stored_at(source, line), _append_at(source, line, name)
    if item is not None and split_receiver(item[1])[1] == name and "[" not in dotted(item[1].value):
        owner = ast.get_source_segment(source.text, item[1].value)
        yield insert_line(source, item[0].lineno, f"{indent_of(source, item[0])}{owner}.clear()")
    function = function_around(parse(source), [line])
    if appended is None or not isinstance(function, _FUNCTIONS) or dotted(appended[1]) != f"self.{name}":
        return
    for file in sources:
        for loop in _nodes(file):
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
    taken = [(each, *read) for each in sources for read in _reads(each, name, _root(found[1]))]
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
    owner, key = (ast.get_source_segment(file.text, part) for part in (item.value, item.slice))
    return replace_expression(file, item, f"{owner}.pop({key})")


def _looks(parents: Sequence[ast.AST], node: ast.expr) -> bool:
    """Whether a read takes an entry by key, asks how many there are, or whether one is."""
    parent = parents[-1]
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id == "len"
    return (isinstance(parent, ast.Subscript) and parent.value is node) or isinstance(parent, ast.Compare)


def _append_at(source: SourceFile, line: int, name: str) -> tuple[ast.stmt, ast.expr] | None:
    """The statement on a line that is nothing but `xs.append(x)`, and its `xs`."""
    for node in _nodes(source):
        if isinstance(node, ast.Expr) and node.lineno <= line <= (node.end_lineno or 0):
            call = node.value
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _ADDS:
                container = call.func.value
                if dotted(container) and split_receiver(container)[1] == name:
                    return node, container
    return None


def _item_stored_at(source: SourceFile, line: int) -> tuple[ast.stmt, ast.Subscript] | None:
    """The assignment on a line that sets an item, `x[key] = value`, and that item; of several targets one."""
    for node in _nodes(source):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0):
            items = [each for each in node.targets if isinstance(each, ast.Subscript)]
            if len(items) == 1 and len(indent_of(source, node).encode()) == node.col_offset:
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


def _depth(container: ast.expr) -> int:
    """How many items lie between the name and what is appended to: 1 of `self.rows[key]`."""
    depth = 0
    while isinstance(container, ast.Subscript):
        container, depth = container.value, depth + 1
    return depth


def _root(container: ast.expr) -> type[ast.expr]:
    """Whether the name of a container is an attribute's or a variable's."""
    while isinstance(container, ast.Subscript):
        container = container.value
    return type(container)


def _reads(source: SourceFile, name: str, kind: type[ast.expr]) -> Iterator[tuple[list[ast.AST], ast.expr]]:
    """Where a file reads an attribute (or a variable) of this name, with the nodes around, the innermost last."""
    try:
        waiting: list[tuple[list[ast.AST], ast.AST]] = [([], parse(source))]
    except SourceError:
        return
    while waiting:
        parents, node = waiting.pop()
        named = node if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, ast.Load) else None
        if (
            named is not None
            and isinstance(named, kind)
            and split_receiver(named)[1] == name
            and not _is_changed(parents)
        ):
            yield parents, named
        waiting += [([*parents, node], child) for child in children(node)]


def _is_changed(parents: Sequence[ast.AST]) -> bool:
    """Whether an item is set: `x[key] = value`."""
    parent = parents[-1] if parents else None
    return isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store)


def _from_the_end(parents: list[ast.AST], node: ast.expr, depth: int) -> str | None:
    """How many entries a read takes from the end, as text; None where it may take others."""
    around = list(reversed(parents))
    read: ast.expr = node
    for each in around[:depth]:
        if not isinstance(each, ast.Subscript) or each.value is not read:
            return None
        read = each
    around = around[depth:]
    copy = around[0] if around else None
    if isinstance(copy, ast.Call) and dotted(copy.func) in _COPIES and copy.args == [read]:
        read, around = copy, around[1:]
    parent = next(iter(around), None)
    if not isinstance(parent, ast.Subscript) or parent.value is not read or isinstance(parent.ctx, ast.Del):
        return None
    at = parent.slice
    if isinstance(at, ast.UnaryOp):
        return _length(at, around, plain=True)
    is_tail = isinstance(at, ast.Slice) and at.upper is None and at.step is None
    return _length(at.lower, around, plain=False) if is_tail and isinstance(at, ast.Slice) else None


def _length(at: ast.expr | None, around: Sequence[ast.AST], *, plain: bool) -> str | None:
    if not isinstance(at, ast.UnaryOp) or not isinstance(at.op, ast.USub):
        return None
    value = at.operand
    if isinstance(value, ast.Name) and not plain:
        value = _default_of(value.id, around) or value
    if isinstance(value, ast.Constant) and isinstance(value.value, int) and value.value > 0:
        return str(value.value)
    text = dotted(value).partition("[")[0]
    return ast.unparse(value) if text.startswith("self.") and not plain else None


def _default_of(name: str, around: Sequence[ast.AST]) -> ast.expr | None:
    """What an argument is where it is not given."""
    function = next((node for node in around if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))), None)
    if function is None:
        return None
    names = [*function.args.posonlyargs, *function.args.args]
    given = dict(zip([each.arg for each in reversed(names)], reversed(function.args.defaults), strict=False))
    return given.get(name)


def _deques(source: SourceFile, name: str) -> Iterator[tuple[SourceFile, ast.expr]]:
    for node in _nodes(source):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            empty = not node.value.args and not node.value.keywords
            if empty and dotted(node.value.func) == "deque" and name in [split_receiver(each)[1] for each in targets]:
                yield source, node.value


def _deque(most: str) -> str:
    return f"deque(maxlen={most})"


def _nodes(source: SourceFile) -> Iterator[ast.AST]:
    try:
        yield from walk(parse(source))
    except SourceError:
        return
