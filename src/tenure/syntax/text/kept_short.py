"""Where a container is kept short: entries are taken out once there are enough, `if len(self.rows) > 100:
self.rows.pop(0)`, or `self.rows = self.rows[-100:]`; or come in while there are not, `if len(self.rows) < 100`.

Seen from one statement that fills it, by the text of the class around it, or of its function.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.name_uses import class_around, function_around
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_LESS = (ast.Lt, ast.LtE)
_TAKES_OUT = frozenset({"clear", "pop", "popleft", "popitem", "remove"})


@lru_cache(maxsize=1024)
def line_that_keeps_short(source: SourceFile, line: int, name: str) -> int:
    """The line of a look at how much `name`, the last part of what it goes by, holds, over a statement that takes
    something out of it or keeps a part of it alone, or over the statement at `line` alone; or of one that keeps its
    newest entries whatever it holds. 0 where there is none, or the text cannot be parsed."""
    try:
        tree = parse(source)
    except SourceError:
        return 0
    around = class_around(source, line) or function_around(tree, [line])
    looks = (node for node in walk(around) if isinstance(node, (ast.If, ast.While)) and measures(node.test, name))
    looked = (
        look.lineno
        for look in looks
        if any(_takes_out(each, name) for each in look.body) or _lets_in_while_few(look, line, name)
    )
    newest = (node.lineno for node in walk(around) if isinstance(node, ast.stmt) and _keeps_newest(node, name))
    return next(looked, 0) or next(newest, 0)


def measures(test: ast.expr, name: str) -> bool:
    """Whether a condition asks how much `name` holds."""
    calls = (node for node in walk(test) if isinstance(node, ast.Call) and called_name(node) == "len")
    return any(each.args and _is_named(each.args[0], name) for each in calls)


def _lets_in_while_few(look: ast.If | ast.While, line: int, name: str) -> bool:
    """`if len(rows) < n:` over the statement at the line."""
    within = look.body[0].lineno <= line <= (look.body[-1].end_lineno or 0)
    return within and any(_asks_for_fewer(each, name) for each in _all_of(look.test))


def _all_of(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _asks_for_fewer(test: ast.expr, name: str) -> bool:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    few, many = (test.left, test.comparators[0]) if isinstance(test.ops[0], _LESS) else (test.comparators[0], test.left)
    return isinstance(test.ops[0], (*_LESS, ast.Gt, ast.GtE)) and measures(few, name) and not measures(many, name)


def _keeps_newest(statement: ast.stmt, name: str) -> bool:
    """`rows = (rows + [x])[-n:]`, `rows[:] = rows[-n:]` or `del rows[:-n]`."""
    if isinstance(statement, ast.Delete):
        parts = [each for each in statement.targets if isinstance(each, ast.Subscript)]
        return any(_is_named(each.value, name) and _is_from_the_end(each.slice, "upper") for each in parts)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Subscript):
        return False
    targets = [each.value if isinstance(each, ast.Subscript) else each for each in statement.targets]
    own = {dotted(node) for node in walk(statement.value)}
    kept = any(_is_named(each, name) and dotted(each) in own for each in targets)
    return kept and _is_from_the_end(statement.value.slice, "lower")


def _is_from_the_end(part: ast.expr, end: str) -> bool:
    """Whether a slice counts one of its ends from the container's, and gives no other."""
    if not isinstance(part, ast.Slice):
        return False
    other = part.lower if end == "upper" else part.upper
    counted = part.upper if end == "upper" else part.lower
    return other is None and isinstance(counted, ast.UnaryOp) and isinstance(counted.op, ast.USub)


def _takes_out(statement: ast.stmt, name: str) -> bool:
    return any(_is_named(taken_from, name) for node in walk(statement) for taken_from in _emptied(node))


def _emptied(node: ast.AST) -> list[ast.expr]:
    """What a call, a `del x[i]` or an `x = x[i:]` takes something out of."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES_OUT:
        return [node.func.value]
    if isinstance(node, ast.Delete):
        return [target.value for target in node.targets if isinstance(target, ast.Subscript)]
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
        return [target for target in node.targets if dotted(target) == dotted(node.value.value)]
    return []


def _is_named(node: ast.AST, name: str) -> bool:
    return dotted(node).rpartition(".")[2] == name
