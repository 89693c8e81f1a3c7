"""Where gradients that nobody reads any more can be let go: at the line that freezes a module, behind a step."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import Insertion, insert_into_lines, insert_line
from tenure.syntax.text.expressions import split_receiver
from tenure.syntax.text.freezing import requires_grad_set_in
from tenure.syntax.text.name_uses import function_around, indent_of
from tenure.syntax.text.scopes import dotted, inner_bodies, parse
from tenure.syntax.text.tree_walks import walk

_READERS = ("clip_grad", "get_total_norm", "unscale_", "GradScaler", "add_param_group", "unfreeze")


def drop_gradients_of(sources: Iterable[SourceFile], module: str) -> tuple[Edit, ...]:
    """The edit by which the one statement that freezes a module of this name drops its gradients too.

    `m.requires_grad_(False)` is followed by `.zero_grad(set_to_none=True)`, a loop over `m.parameters()` by
    `p.grad = None`. None where the program reads gradients, clips them, or trains a frozen module again.
    """
    trees = [(source, tree) for source in sources if (tree := _tree(source)) is not None]
    if any(_reads_gradients(tree, lines=()) or _trains_again(tree) for _, tree in trees):
        return ()
    found = [(source, node) for source, tree in trees for node in walk(tree) if _freezes(node, module)]
    if len(found) != 1:
        return ()
    source, node = found[0]
    if isinstance(node, ast.For):
        last = node.body[-1]
        if last.lineno == node.lineno or not isinstance(node.target, ast.Name):
            return ()
        line = (last.end_lineno or last.lineno) + 1
        return insert_line(source, line, f"{indent_of(source, last)}{node.target.id}.grad = None")
    assert isinstance(node, ast.Expr)
    place = Insertion(node.end_lineno or node.lineno, node.end_col_offset or 0, ".zero_grad(set_to_none=True)")
    return insert_into_lines(source, [place])


def drop_behind_step(sources: Sequence[SourceFile], file: str, line: int) -> tuple[Edit, ...]:
    """The edit that calls `zero_grad()` behind the `step()` that follows the backward pass on `line`.

    Offered where the function drops the gradients before that pass anyway, by the same optimizer, and nothing but the
    lines between the pass and the step reads a gradient.
    """
    trees = {source.path: (source, tree) for source in sources if (tree := _tree(source)) is not None}
    if file not in trees:
        return ()
    source, tree = trees[file]
    bodies = [body for node in walk(function_around(tree, [line])) for body in inner_bodies(node)]
    body = next((each for each in bodies if any(_is_at(node, line) for node in each)), [])
    at = next((at for at, node in enumerate(body) if _is_at(node, line)), 0)
    zeroed = {_called_on(node, "zero_grad") for node in body[:at]} - {""}
    steps = [node for node in body[at + 1 :] if _called_on(node, "step")]
    if len(steps) != 1 or _called_on(steps[0], "step") not in zeroed or isinstance(body[at], ast.For):
        return ()
    last = steps[0].end_lineno or steps[0].lineno
    around = [(path, range(body[at].lineno, last + 1) if path == file else ()) for path in trees]
    if any(_reads_gradients(trees[path][1], lines) for path, lines in around):
        return ()
    text = f"{indent_of(source, steps[0])}{_called_on(steps[0], 'step')}.zero_grad()"
    return insert_line(source, last + 1, text)


def _tree(source: SourceFile) -> ast.Module | None:
    try:
        return parse(source)
    except SourceError:
        return None


def _is_at(node: ast.stmt, line: int) -> bool:
    return isinstance(node, (ast.Expr, ast.Assign)) and node.lineno <= line <= (node.end_lineno or node.lineno)


def _called_on(node: ast.stmt, method: str) -> str:
    """`self.optimizer` of the statement `self.optimizer.step()`; "" for any other, also one with arguments."""
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != method:
        return ""
    text = dotted(call.func.value)
    return "" if call.args or call.keywords or "[]" in text else text


def _reads_gradients(tree: ast.Module, lines: Iterable[int]) -> bool:
    """Whether a file mentions `.grad`, or a function that reads gradients, outside of these lines."""
    allowed = set(lines)
    for node in walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        is_read = isinstance(node, ast.Attribute) and name in ("grad", "_grad")
        is_read = is_read and not (isinstance(node, ast.Attribute) and dotted(node.value).endswith("autograd"))
        if (is_read or any(word in name for word in _READERS)) and getattr(node, "lineno", 0) not in allowed:
            return True
    return False


def _trains_again(tree: ast.Module) -> bool:
    """Whether a file sets `requires_grad` to anything but False."""
    return not all(each.freezes for each in requires_grad_set_in(tree))


def _freezes(node: ast.AST, module: str) -> bool:
    """Whether a statement freezes a module of this name, and it alone."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        is_freeze = isinstance(called, ast.Attribute) and called.attr == "requires_grad_"
        return is_freeze and split_receiver(getattr(called, "value", called))[1] == module
    if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call) or node.orelse:
        return False
    called = node.iter.func
    over = (
        isinstance(called, ast.Attribute) and called.attr == "parameters" and split_receiver(called.value)[1] == module
    )
    return over and len(node.body) == 1 and any(True for _ in requires_grad_set_in(node))
