"""What is kept to be computed later, computed where it is kept: `lambda: f(x)` and `partial(f, x)` hold `x` till then.

What they compute may be asked for never, or differently later; these are edits to be tried by a run.
"""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_values import find_kept
from tenure.syntax.edits.line_edits import replace_expression
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.tree_walks import walk

_NAMES = ("made", "value", "result")


def compute_early(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit by which the one `lambda: x` or `partial(f, x)` in what the statement on `line` keeps gives back what
    is computed there and then: `lambda made=f(x): made`. None of functions that take something."""
    kept = find_kept(source, line, name)
    if kept is None or kept.value is None:
        return ()
    exprs = (node for node in walk(kept.value) if isinstance(node, ast.expr))
    later = [(node, text) for node in exprs if (text := _computed(source, node))]
    if len(later) != 1:
        return ()
    used = {node.id for node in walk(kept.value) if isinstance(node, ast.Name)}
    made = next((each for each in _NAMES if each not in used), "")
    return replace_expression(source, later[0][0], f"lambda {made}={later[0][1]}: {made}") if made else ()


def compute_lambda_early(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The same of the one function without arguments that is written on `line`, whoever keeps it."""
    written = (node for node in nodes_in(source) if isinstance(node, (ast.Lambda, ast.Call)) and node.lineno == line)
    later = [(node, text) for node in written if (text := _computed(source, node))]
    return replace_expression(source, later[0][0], f"lambda made={later[0][1]}: made") if len(later) == 1 else ()


def compute_given_early(source: SourceFile, line: int, name: str) -> tuple[Edit, ...]:
    """The edit by which the function under a variable that the statement on `line` keeps, to be called with nothing
    later, is called there and then: `rows.append(lambda made=render(): made)` for `rows.append(render)`."""
    kept = find_kept(source, line, name)
    if kept is None or not isinstance(kept.value, (ast.Name, ast.Attribute)):
        return ()
    text = ast.get_source_segment(source.text, kept.value)
    return replace_expression(source, kept.value, f"lambda made={text}(): made")


def _computed(source: SourceFile, node: ast.expr) -> str:
    """What a function without arguments computes, as text; "" of anything else."""
    if isinstance(node, ast.Lambda):
        given = node.args
        takes = given.posonlyargs or given.args or given.kwonlyargs or given.vararg or given.kwarg
        return "" if takes else ast.get_source_segment(source.text, node.body) or ""
    if not isinstance(node, ast.Call) or called_name(node) != "partial" or len(node.args) < 2:
        return ""
    texts = [ast.get_source_segment(source.text, each) or "" for each in node.args]
    keywords = [ast.get_source_segment(source.text, each) or "" for each in node.keywords]
    return f"{texts[0]}({', '.join([*texts[1:], *keywords])})"
