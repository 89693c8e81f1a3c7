"""Where memory is made anew because it is too small for what is asked: `if self.flat.numel() < n: self.flat =
torch.empty(n)`, as a workspace for the longest input so far is.

Seen from the statement that makes it, by the text of its function.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.name_uses import function_around
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.tree_walks import walk

_SIZES = frozenset({"shape", "nbytes"})
_ASK_FOR_SIZE = frozenset({"numel", "nelement", "size", "len"})
_ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@lru_cache(maxsize=1024)
def line_that_asks_for_room(source: SourceFile, line: int) -> int:
    """The line of a condition, in the function of an assignment at `line`, that compares how large the assigned
    memory is with something; 0 where there is none, where the new value is computed from the old one, as a longer
    history is, or where the text cannot be parsed."""
    try:
        tree = parse(source)
    except SourceError:
        return 0
    around = function_around(tree, [line])
    made = next((each for each in walk(around) if isinstance(each, ast.Assign) and each.lineno == line), None)
    if made is None:
        return 0
    names = {ast.unparse(target) for target in made.targets}
    if any(isinstance(each, ast.expr) and ast.unparse(each) in names for each in walk(made.value)):
        return 0
    looks = (each for each in walk(around) if isinstance(each, (ast.If, ast.While)))
    return next((look.lineno for look in looks if _compares_size_of(look.test, names)), 0)


def _compares_size_of(test: ast.expr, names: set[str]) -> bool:
    compared = (each for each in walk(test) if isinstance(each, ast.Compare) and isinstance(each.ops[0], _ORDERED))
    return any(_measured(part) in names for each in compared for side in (each.left, *each.comparators)
               for part in walk(side))  # fmt: skip


def _measured(node: ast.AST) -> str:
    """Whose size an expression is: `self.flat` of `self.flat.shape` and `len(self.flat)`; "" where it is none."""
    if isinstance(node, ast.Attribute) and node.attr in _SIZES:
        return ast.unparse(node.value)
    if not isinstance(node, ast.Call) or called_name(node) not in _ASK_FOR_SIZE:
        return ""
    if isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value)
    return ast.unparse(node.args[0]) if node.args else ""
