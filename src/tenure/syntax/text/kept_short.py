"""Where a container's entries are taken out once there are enough of them: `if len(self.rows) > 100: self.rows.pop(0)`.

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

_TAKES_OUT = frozenset({"clear", "pop", "popleft", "popitem", "remove"})


@lru_cache(maxsize=1024)
def line_that_keeps_short(source: SourceFile, line: int, name: str) -> int:
    """The line of a look at how much `name`, the last part of what it goes by, holds, over a statement that takes
    something out of it or keeps a part of it alone; 0 where there is none, or the text cannot be parsed."""
    try:
        tree = parse(source)
    except SourceError:
        return 0
    around = class_around(source, line) or function_around(tree, [line])
    looks = (node for node in walk(around) if isinstance(node, (ast.If, ast.While)) and measures(node.test, name))
    return next((look.lineno for look in looks if any(_takes_out(each, name) for each in look.body)), 0)


def measures(test: ast.expr, name: str) -> bool:
    """Whether a condition asks how much `name` holds."""
    calls = (node for node in walk(test) if isinstance(node, ast.Call) and called_name(node) == "len")
    return any(each.args and _is_named(each.args[0], name) for each in calls)


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
