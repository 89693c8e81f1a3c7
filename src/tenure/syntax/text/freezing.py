"""Where a program says whether parameters are trained: `layer.requires_grad_(False)`, `p.requires_grad = trained`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tenure.syntax.text.tree_walks import walk


class RequiresGrad(NamedTuple):
    """One such place. `of` is whose it is and `value` what it is set to; None where that is not written there."""

    node: ast.expr | ast.stmt
    of: ast.expr | None
    value: ast.expr | None

    @property
    def freezes(self) -> bool:
        """Whether it is set to False."""
        return getattr(self.value, "value", True) is False

    @property
    def may_freeze(self) -> bool:
        """Whether it is set to False, or to what is computed."""
        return self.of is not None and self.value is not None and getattr(self.value, "value", False) is not True


def requires_grad_set_by(node: ast.AST) -> Iterator[RequiresGrad]:
    """What one assignment or call sets; a `setattr` and the like by the name that it is given."""
    if isinstance(node, ast.Assign):
        targets = (each for each in node.targets if isinstance(each, ast.Attribute) and each.attr == "requires_grad")
        yield from (RequiresGrad(node, target.value, node.value) for target in targets)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
        given = [*node.args, *(each.value for each in node.keywords)]
        yield RequiresGrad(node, node.func.value, given[0] if given else None)
    elif isinstance(node, ast.Constant) and node.value == "requires_grad":
        yield RequiresGrad(node, None, None)


def requires_grad_set_in(tree: ast.AST) -> Iterator[RequiresGrad]:
    """All of a tree, level by level."""
    for node in walk(tree):
        yield from requires_grad_set_by(node)
