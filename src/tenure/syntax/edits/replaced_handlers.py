"""What a class puts in the place of the interpreter's handlers, given back by the method that ends its work."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_handles import ending_methods
from tenure.syntax.edits.let_go import at_end
from tenure.syntax.edits.line_edits import Insertion, insert_into_lines, insert_line, only_if_it_parses
from tenure.syntax.text.name_uses import begins_its_line, class_around, indent_of, spans
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_HOOKS = ("sys.excepthook", "sys.unraisablehook", "sys.displayhook", "threading.excepthook", "warnings.showwarning")
_FORMER = "self._former_handler"


def give_back_former(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edits by which `close`, `release` and the like of the class give back what the method around `line` replaced:
    the handler of a signal (`signal.signal(signal.SIGTERM, handler)`), or a hook (`sys.excepthook = report`).

    None where the method replaces several, or the class has no such end.
    """
    cls = class_around(source, line)
    method = next((each for each in cls.body if spans(each, [line])), None) if cls is not None else None
    if method is None:
        return ()
    replaced, ends = list(_replaced_in(source, method)), ending_methods(parse(source), method)
    if len(replaced) != 1 or not ends:
        return ()
    kept, text = replaced[0]
    given_back = at_end(source, ends[0], text)
    return only_if_it_parses(source, [*kept, *given_back]) if kept and given_back else ()


def _replaced_in(source: SourceFile, function: ast.AST) -> Iterator[tuple[tuple[Edit, ...], str]]:
    """For each statement that replaces a handler: the edit that keeps the former one, and the line that gives it
    back."""
    for node in walk(function):
        if not isinstance(node, (ast.Expr, ast.Assign)):
            continue
        alone = begins_its_line(source, node)
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and dotted(call.func) == "signal.signal" and len(call.args) > 1:
            number = ast.get_source_segment(source.text, call.args[0])
            kept = insert_into_lines(source, [Insertion(node.lineno, node.col_offset, f"{_FORMER} = ")])
            yield kept if alone else (), f"signal.signal({number}, {_FORMER})"
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and dotted(node.targets[0]) in _HOOKS:
            hook = dotted(node.targets[0])
            kept = insert_line(source, node.lineno, f"{indent_of(source, node)}{_FORMER} = {hook}")
            yield kept if alone else (), f"{hook} = {_FORMER}"
