"""Where a program reads what one statement keeps: an attribute or variable, the entries of a list, of a table, of lists
in a table, and parts of them.

A read that cannot be followed makes the whole answer None: the value may be wanted there as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tenure.model.source import SourceFile
from tenure.syntax.edits.container_reads import JOINS, append_at, depth_of, reads_beside, with_parents
from tenure.syntax.edits.kept_values import find_kept
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_TABLE, _LIST = "table", "list"
Parents = Sequence[ast.AST]


@dataclass(frozen=True)
class Store:
    """A statement that keeps something: in what, and through which containers the way from its name leads."""

    statement: ast.stmt
    container: ast.expr
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Read:
    """A place that reads what was kept: the expression, the nodes around it (the innermost last), and whether it is of
    all values of a list, joined."""

    source: SourceFile
    node: ast.expr
    parents: Parents
    joined: bool = False


def store_at(source: SourceFile, line: int, name: str) -> Store | None:
    """The statement on a line that keeps something under a name: `xs.append(x)`, `xs[key] = x`, `self.x = x`."""
    appended = append_at(source, line, name)
    if appended is not None:
        return Store(*appended, (_TABLE,) * depth_of(appended[1]) + (_LIST,))
    kept = find_kept(source, line, name)
    if kept is None or kept.value is None or not isinstance(kept.statement, ast.Assign) or kept.target is None:
        return None
    return Store(kept.statement, kept.target, (_TABLE,) * depth_of(kept.target)) if dotted(kept.target) else None


def reads_of_kept(
    sources: Sequence[SourceFile], source: SourceFile, store: Store, name: str, labels: Sequence[str]
) -> list[Read] | None:
    """All reads of what a statement of `source` keeps; `labels` lead from that to the part that is meant, as in
    `part_of`. None where one read is not clear."""
    root = store.container
    while isinstance(root, ast.Subscript):
        root = root.value
    found: list[Read] = []
    for file in [source] if isinstance(root, ast.Name) else sources:
        for parents, node in reads_beside([file], source, store.statement, name, store.container):
            reads = _follow(Read(file, node, parents), store.levels, labels)
            if reads is None:
                return None
            found += reads
    return found


def _follow(read: Read, levels: Sequence[str], labels: Sequence[str]) -> list[Read] | None:
    """The reads of the values below what is read; none where it asks only how many there are."""
    parent = read.parents[-1] if read.parents else None
    if _only_counts(read.node, read.parents):
        return []
    if not levels:
        return _of_part(read, labels)
    if isinstance(parent, ast.Subscript) and parent.value is read.node and not isinstance(parent.slice, ast.Slice):
        return None if isinstance(parent.ctx, ast.Del) else _follow(_outwards(read, parent, 1), levels[1:], labels)
    if levels[0] == _TABLE:
        return _of_table(read, levels, labels)
    if isinstance(parent, ast.Call) and called_name(parent) in JOINS and parent.args == [read.node]:
        is_whole = len(levels) == 1 and not labels and not parent.keywords
        return [Read(read.source, parent, read.parents[:-1], joined=True)] if is_whole else None
    loop = _loop_over(read.node, read.parents)
    return _through_loop(read.source, *loop, levels[1:], labels) if loop is not None else None


def _outwards(read: Read, node: ast.expr, steps: int) -> Read:
    return Read(read.source, node, read.parents[: len(read.parents) - steps])


def _of_table(read: Read, levels: Sequence[str], labels: Sequence[str]) -> list[Read] | None:
    """By key (`get`, `pop`), or through all entries of a dictionary."""
    method, call = (read.parents[-1], read.parents[-2]) if len(read.parents) > 1 else (None, None)
    if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call) or call.func is not method:
        return None
    if method.attr in ("get", "pop") and len(call.args) == 1:
        return _follow(_outwards(read, call, 2), levels[1:], labels)
    loop = _loop_over(call, read.parents[:-2])
    if loop is None or method.attr not in ("items", "values") or call.args:
        return None
    target, body = loop
    if method.attr == "items":
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            return None
        target = target.elts[1]
    return _through_loop(read.source, target, body, levels[1:], labels)


def _through_loop(
    source: SourceFile, target: ast.expr, body: Sequence[ast.AST], levels: Sequence[str], labels: Sequence[str]
) -> list[Read] | None:
    left = list(labels)
    if isinstance(target, (ast.Tuple, ast.List)):
        at = int(left.pop(0)) if left and left[0].isdecimal() and not levels else -1
        if not 0 <= at < len(target.elts) or any(isinstance(each, ast.Starred) for each in target.elts):
            return None
        target = target.elts[at]
    found: list[Read] = []
    for named, parents in _mentions(target, body):
        reads = _follow(Read(source, named, parents), levels, left)
        if reads is None:
            return None
        found += reads
    return found


def _of_part(read: Read, labels: Sequence[str]) -> list[Read] | None:
    """The part of a value that the labels lead to, `row.logits`, `row['logits']`, `row[1]`; none where another part is
    taken."""
    for label in labels:
        above = read.parents[-1] if read.parents else None
        taken = _label_of(above, read.node)
        if not taken or not isinstance(above, ast.expr):
            return None
        if taken != label:
            return []
        read = _outwards(read, above, 1)
    return [read]


def _label_of(above: ast.AST | None, named: ast.expr) -> str:
    """`logits` of `row.logits`, `'logits'` of `row['logits']`, `1` of `row[1]`; "" of anything else."""
    if isinstance(above, ast.Subscript) and above.value is named and isinstance(above.slice, ast.Constant):
        return repr(above.slice.value)
    return above.attr if isinstance(above, ast.Attribute) and above.value is named else ""


def _only_counts(node: ast.expr, around: Parents) -> bool:
    """Whether a read asks how many there are, whether there are any, whether it is None, or empties a container."""
    parent = around[-1] if around else None
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in ("len", "bool")
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)):
        return parent.test is node
    if isinstance(parent, ast.Compare):
        asks = isinstance(parent.ops[0], (ast.Is, ast.IsNot)) if parent.left is node else False
        return asks or isinstance(parent.ops[0], (ast.In, ast.NotIn))
    above = around[-2] if len(around) > 1 else None
    cleared = isinstance(parent, ast.Attribute) and parent.attr == "clear" and isinstance(above, ast.Call)
    return cleared or isinstance(parent, ast.UnaryOp)


def _loop_over(node: ast.AST, around: Parents) -> tuple[ast.expr, list[ast.AST]] | None:
    """The target of the loop or comprehension that goes through a container, and what is done in it."""
    parent = around[-1] if around else None
    if isinstance(parent, ast.For) and parent.iter is node:
        return parent.target, list(parent.body)
    if not isinstance(parent, ast.comprehension) or parent.iter is not node:
        return None
    whole = around[-2]
    assert isinstance(whole, _COMPREHENSIONS)
    inner = whole.generators[whole.generators.index(parent) + 1 :]
    done = [whole.key, whole.value] if isinstance(whole, ast.DictComp) else [whole.elt]
    return parent.target, [*done, *parent.ifs, *inner]


def _mentions(target: ast.expr, body: Sequence[ast.AST]) -> Iterator[tuple[ast.expr, list[ast.AST]]]:
    """Where a loop's variable is read in it, with the nodes around."""
    name = target.id if isinstance(target, ast.Name) else ""
    for part in body:
        for parents, node in with_parents(part):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node, parents
