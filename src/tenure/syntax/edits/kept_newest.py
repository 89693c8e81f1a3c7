"""A list, or rows that are joined to a tensor, that keep what is read from their end and no more.

What is left out may be asked for later; these are edits to be tried by a run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.container_reads import JOINS, append_at, depth_of, reads_beside
from tenure.syntax.edits.kept_values import call_method, find_kept
from tenure.syntax.edits.line_edits import insert_line, replace_expression
from tenure.syntax.text.expressions import called_name, split_receiver
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.name_uses import indent_of
from tenure.syntax.text.scopes import dotted

_COPIES = ("list", "tuple")
_DIMENSIONS = ("dim", "axis")


def keep_newest(sources: Sequence[SourceFile], source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edits by which a list keeps the entries that somebody reads from its end; the newest where nobody does.

    `del xs[:-n]` behind the `append` on `line`, or `maxlen=n` of the deque. None where any read asks for more.
    """
    call = append_at(source, line, name)
    if call is None:
        return ()
    statement, container = call
    most = _longest(_lengths_read(sources, source, statement, name, container))
    if most is None:
        return ()
    made = [each for source in sources for each in _deques(source, name)]
    if made:
        return tuple(edit for file, made_by in made for edit in replace_expression(file, made_by, _deque(most)))
    text = f"del {ast.get_source_segment(source.text, container)}[:-{most}]"
    return insert_line(source, (statement.end_lineno or 0) + 1, indent_of(source, statement) + text)


def keep_newest_rows(sources: Sequence[SourceFile], source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit that cuts what the statement on `line` joins to what was there, `x = torch.cat([x, new])` or
    `xs = xs + [new]`, to the rows that are read from its end: `[-n:]`. None where any read asks for more, or none does.
    """
    kept = find_kept(source, line, name)
    target = kept.target if kept is not None else None
    if kept is None or kept.value is None or target is None or not _joins(kept.value, dotted(target)):
        return ()
    lengths = _lengths_read(sources, source, kept.statement, name, target)
    most = _longest(lengths)
    return call_method(source, kept.value, f"[-{most}:]") if lengths and most is not None else ()


def _joins(value: ast.expr, text: str) -> bool:
    """Whether an expression is what `text` was with something behind it, along the first dimension."""
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.Add) and dotted(value.left) == text and isinstance(value.right, ast.List)
    parts: ast.expr = value
    if isinstance(value, ast.Call) and called_name(value) in JOINS and value.args:
        others = [*value.args[1:], *(each.value for each in value.keywords if each.arg in _DIMENSIONS)]
        if any(not isinstance(each, ast.Constant) or each.value != 0 for each in others):
            return False
        parts = value.args[0]
    if not isinstance(parts, (ast.List, ast.Tuple)) or len(parts.elts) < 2:
        return False
    first = parts.elts[0]
    return dotted(first.value if isinstance(first, ast.Starred) and parts is value else first) == text


def _lengths_read(
    sources: Sequence[SourceFile], source: SourceFile, statement: ast.stmt, name: str, container: ast.expr
) -> list[str | None]:
    """For each read of a container, but in the statement that adds to it, how many entries it takes from the end."""
    return [
        _from_the_end(parents, node, depth_of(container)) or _while_few(parents, node)
        for parents, node in reads_beside(sources, source, statement, name, container)
    ]


def _longest(lengths: Sequence[str | None]) -> str | None:
    """The largest of some lengths, 1 of none; None where one is not known, or they cannot be compared."""
    texts = {length for length in lengths if length is not None}
    if None in lengths or (len(texts) > 1 and not all(text.isdecimal() for text in texts)):
        return None
    return max(texts, key=lambda text: int(text) if text.isdecimal() else 0, default="1")


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
    if isinstance(parent, ast.Call) and read is node:
        return _compared_length(parent, around[1:])
    if not isinstance(parent, ast.Subscript) or parent.value is not read or isinstance(parent.ctx, ast.Del):
        return None
    at = parent.slice
    if isinstance(at, ast.UnaryOp):
        return _length(at, around, plain=True)
    is_tail = isinstance(at, ast.Slice) and at.upper is None and at.step is None
    return _length(at.lower, around, plain=False) if is_tail and isinstance(at, ast.Slice) else None


def _while_few(parents: Sequence[ast.AST], node: ast.expr) -> str | None:
    """How many entries a read takes that is made only while there are no more: `xs if len(xs) < 3 else ...`."""
    inner: ast.AST = node
    for each in reversed(parents):
        if isinstance(each, (ast.IfExp, ast.If)) and inner is not each.test:
            asked = _length_asked(each.test, dotted(node))
            otherwise = [each.orelse] if isinstance(each, ast.IfExp) else each.orelse
            few = (ast.Gt, ast.GtE) if inner in otherwise else (ast.Lt, ast.LtE)
            if asked and isinstance(asked[0], few):
                return asked[1]
        inner = each
    return None


def _compared_length(call: ast.Call, around: Sequence[ast.AST]) -> str | None:
    """How many entries `len(xs) > n` has to see, to give what it gave; None of other calls."""
    asked = _length_asked(around[0], dotted(call.args[0])) if around and call.args else None
    return asked[1] if asked else None


def _length_asked(test: ast.AST, text: str) -> tuple[ast.cmpop, str] | None:
    """How `len(<text>)` is compared with a number, and the number of entries that tells."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    call, bound = test.left, test.comparators[0]
    if not isinstance(call, ast.Call) or dotted(call.func) != "len" or [*map(dotted, call.args)] != [text]:
        return None
    value = bound.value if isinstance(bound, ast.Constant) else None
    return (test.ops[0], str(value + 1)) if isinstance(value, int) else None


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
    for node in nodes_in(source):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            empty = not node.value.args and not node.value.keywords
            if empty and dotted(node.value.func) == "deque" and name in [split_receiver(each)[1] for each in targets]:
                yield source, node.value


def _deque(most: str) -> str:
    return f"deque(maxlen={most})"
