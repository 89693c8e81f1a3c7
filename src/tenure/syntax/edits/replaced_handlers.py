"""What a class puts in the place of the interpreter's handlers, given back by the method that ends its work."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_handles import block_of, do_behind_block, ending_methods
from tenure.syntax.edits.let_go import FunctionNode, at_end
from tenure.syntax.edits.line_edits import Insertion, insert_into_lines, insert_line, only_if_it_parses
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import begins_its_line, class_around, indent_of, spans
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_HOOKS = ("sys.excepthook", "sys.unraisablehook", "sys.displayhook", "threading.excepthook", "warnings.showwarning")


def give_back_former(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edits by which `close`, `release` and the like of the class give back what the method around `line` replaced:
    the handler of a signal (`signal.signal(signal.SIGTERM, handler)`), a hook (`sys.excepthook = report`), or the value
    of a context variable of the file (`current.set(span)`). A context manager written with `yield` gives it back when
    its block ends.

    None where several are replaced there, or where the class has no such end.
    """
    manager = next((each for each in nodes_of(source, ast.FunctionDef) if spans(each, [line]) and block_of(each)), None)
    if manager is not None:
        return _kept_and_given_back(source, manager, "former", manager)
    cls = class_around(source, line)
    method = next((each for each in cls.body if spans(each, [line])), None) if cls is not None else None
    if method is None:
        return ()
    ends = ending_methods(parse(source), method)
    return _kept_and_given_back(source, method, "self._former", ends[0]) if ends else ()


def _kept_and_given_back(source: SourceFile, function: ast.AST, former: str, end: FunctionNode) -> tuple[Edit, ...]:
    replaced = list(_replaced_in(source, function, former))
    if len(replaced) != 1:
        return ()
    kept, text = replaced[0]
    block = block_of(end)
    given_back = do_behind_block(source, block, text) if block is not None else at_end(source, end, text)
    return only_if_it_parses(source, [*kept, *given_back]) if kept and given_back else ()


def _replaced_in(source: SourceFile, function: ast.AST, former: str) -> Iterator[tuple[tuple[Edit, ...], str]]:
    """For each statement that replaces a handler: the edit that keeps the former one, none where it shares its line,
    and the line that gives it back."""
    variables = _context_variables(source)
    for node in walk(function):
        text = _given_back(source, node, former, variables) if isinstance(node, (ast.Expr, ast.Assign)) else ""
        if text and isinstance(node, (ast.Expr, ast.Assign)):
            yield _kept(source, node, former) if begins_its_line(source, node) else (), text


def _given_back(source: SourceFile, statement: ast.Expr | ast.Assign, former: str, variables: Collection[str]) -> str:
    """The line that undoes a statement which replaces a handler; "" of every other one."""
    if isinstance(statement, ast.Assign):
        hook = dotted(statement.targets[0]) if len(statement.targets) == 1 else ""
        return f"{hook} = {former}" if hook in _HOOKS else ""
    called = dotted(statement.value.func) if isinstance(statement.value, ast.Call) else ""
    owner, _, method = called.rpartition(".")
    if called == "signal.signal" and isinstance(statement.value, ast.Call) and len(statement.value.args) > 1:
        return f"signal.signal({ast.get_source_segment(source.text, statement.value.args[0])}, {former})"
    return f"{owner}.reset({former})" if method == "set" and owner in variables else ""


def _kept(source: SourceFile, statement: ast.Expr | ast.Assign, former: str) -> tuple[Edit, ...]:
    """What a call gives back, or the hook's value in front of its next one."""
    if isinstance(statement, ast.Expr):
        return insert_into_lines(source, [Insertion(statement.lineno, statement.col_offset, f"{former} = ")])
    hook = dotted(statement.targets[0])
    return insert_line(source, statement.lineno, f"{indent_of(source, statement)}{former} = {hook}")


def _context_variables(source: SourceFile) -> list[str]:
    """Names that a file binds to a `ContextVar` of its own."""
    return [
        dotted(node.targets[0])
        for node in parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and called_name(node.value) == "ContextVar"
    ]
