"""Changes of whole statements: removed, put under a `with`, given other arguments, with or without a decorator.

Made on a concrete syntax tree, which keeps comments and formatting, and given back as edits of lines; none where the
statement stands in a way that is not provided for. Each costs a parse of the function or class around it by LibCST,
which is loaded when first used.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import apply_edits, edits_between, only_if_it_parses, shifted, split_lines
from tenure.syntax.text.depth import is_deep
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import indent_of
from tenure.syntax.text.scopes import parse
from tenure.syntax.text.top_parts import part_around

if TYPE_CHECKING:
    import libcst
    from libcst import BaseStatement, CSTNode, IndentedBlock, Module

    Block = Module | IndentedBlock
    Change = Callable[[Module, CSTNode], CSTNode | None]

Place = tuple[int, int]
"""Line, from 1, and column in characters, from 0."""


def remove_statement(source: SourceFile, statement: ast.stmt) -> tuple[Edit, ...]:
    """The edits that take a simple statement out; `pass` stays where its block would be empty.

    A comment on its own line goes with it, those on lines above stay.
    """

    def change(module: Module, node: CSTNode) -> CSTNode | None:
        import libcst

        line, block = _around(module, node)
        if line is None:
            return None
        others = [each for each in line.body if each is not node]
        if others:
            last = others[-1].with_changes(semicolon=libcst.MaybeSentinel.DEFAULT)
            return module.deep_replace(line, line.with_changes(body=[*others[:-1], last]))
        if len(block.body) == 1 or any(each.comment is not None for each in line.leading_lines):
            return _above_next(module, block, line)
        return _with_body(module, block, [each for each in block.body if each is not line])

    return _changed(source, statement, change)


def put_rest_under(source: SourceFile, statement: ast.stmt) -> tuple[Edit, ...]:
    """The edits that make `with call:` of a statement that is a call, around all that follows it in its block."""

    def change(module: Module, node: CSTNode) -> CSTNode | None:
        import libcst

        line, block = _around(module, node)
        at = list(block.body).index(line) if line is not None else 0
        rest = list(block.body[at + 1 :])
        if line is None or len(line.body) != 1 or not isinstance(node, libcst.Expr) or not rest:
            return None
        around = libcst.With(
            items=[libcst.WithItem(node.value)],
            body=libcst.IndentedBlock(rest, header=line.trailing_whitespace),
            leading_lines=line.leading_lines,
        )
        return _with_body(module, block, [*block.body[:at], around])

    return _changed(source, statement, change)


def swap_lines(source: SourceFile, first: ast.stmt) -> tuple[Edit, ...]:
    """The edit that puts a statement of one line behind the next one, where that too has a line of its own."""
    lines = [line.rstrip("\r\n") for line in split_lines(source.text)[first.lineno - 1 : first.lineno + 1]]
    both = [
        node
        for node in nodes_of(source, ast.stmt)
        if first.lineno <= (node.end_lineno or 0) and node.lineno <= first.lineno + 1
    ]
    both = [node for node in both if not hasattr(node, "body") or node.lineno >= first.lineno]
    spans = [(node.lineno, node.end_lineno, node.col_offset) for node in both]
    if spans != [(first.lineno + at, first.lineno + at, first.col_offset) for at in (0, 1)]:
        return ()
    return only_if_it_parses(source, [Edit(source.path, first.lineno, "\n".join(lines), "\n".join(lines[::-1]))])


def set_argument(source: SourceFile, call: ast.Call, name: str, value: str | None) -> tuple[Edit, ...]:
    """The edits that give a call the keyword argument `name=value`, or take it away where `value` is None."""

    def change(module: Module, node: CSTNode) -> CSTNode | None:
        import libcst

        assert isinstance(node, libcst.Call)
        others = [each for each in node.args if each.keyword is None or each.keyword.value != name]
        if value is None:
            if others and others[-1] is not node.args[-1]:
                others[-1] = others[-1].with_changes(comma=node.args[-1].comma)
            return module.deep_replace(node, node.with_changes(args=others))
        made = libcst.ensure_type(libcst.parse_expression(f"f({name}={value})"), libcst.Call).args[0]
        args = [each if each in others else each.with_changes(value=made.value) for each in node.args]
        if len(others) == len(args):
            args = [*args, made.with_changes(comma=args[-1].comma if args else libcst.MaybeSentinel.DEFAULT)]
        if len(args) > 1 and len(others) == len(node.args):
            comma = libcst.Comma(whitespace_after=libcst.SimpleWhitespace(" "))
            args[-2] = args[-2].with_changes(comma=comma)
        return module.deep_replace(node, node.with_changes(args=args))

    return _changed(source, call, change)


def decorate(source: SourceFile, function: ast.FunctionDef | ast.AsyncFunctionDef, decorator: str) -> tuple[Edit, ...]:
    """The edit that puts `@<decorator>` right above a `def`, below other decorators: those may make it a property."""
    text = f"{indent_of(source, function)}@{decorator}"
    return only_if_it_parses(source, [Edit(source.path, function.lineno, "", text)])


def remove_decorator(source: SourceFile, decorator: ast.expr) -> tuple[Edit, ...]:
    """The edit that takes the lines of a decorator out; none where its `@` stands on another line."""
    lines = [line.rstrip("\r\n") for line in split_lines(source.text)[decorator.lineno - 1 : decorator.end_lineno]]
    if not lines[0].lstrip().startswith("@"):
        return ()
    return only_if_it_parses(source, [Edit(source.path, decorator.lineno, "\n".join(lines), None)])


def _changed(source: SourceFile, node: ast.stmt | ast.expr, change: Change) -> tuple[Edit, ...]:
    """The edits between a file and what a change of the node makes of it."""
    if is_deep(source):  # which LibCST, written in Rust, would end the process over
        return ()
    import libcst
    from libcst.metadata import MetadataWrapper, PositionProvider

    part, above = _part_with(source, node)
    kind = libcst.BaseSmallStatement if isinstance(node, ast.stmt) else libcst.Call
    first, last = node.lineno - above, (node.end_lineno or node.lineno) - above
    span = (_place(part, first, node.col_offset), _place(part, last, node.end_col_offset))
    try:
        module = libcst.parse_module(part.text)
        places = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        found = [
            each
            for each, at in places.items()
            if isinstance(each, kind) and ((at.start.line, at.start.column), (at.end.line, at.end.column)) == span
        ]
        changed = change(module, found[0]) if found and module.code == part.text else None
    except (libcst.ParserSyntaxError, libcst.CSTValidationError, RecursionError, ValueError):
        return ()
    return shifted(_lines_between(part, changed.code), above) if isinstance(changed, libcst.Module) else ()


def _part_with(source: SourceFile, node: ast.stmt | ast.expr) -> tuple[SourceFile, int]:
    """The statement at the top of a file that a node is in, as a file, and how many lines are above; all of the file
    for a statement that stands there itself, since the next ones may change with it."""
    tops = {(each.lineno, each.col_offset) for each in parse(source).body}
    if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) in tops:
        return source, 0
    end = node.end_lineno or node.lineno
    text, above = part_around(source, node.lineno, end, split_lines(source.text))
    return dataclasses.replace(source, text=text), above


def _lines_between(source: SourceFile, text: str) -> tuple[Edit, ...]:
    edits = edits_between(source.path, source.text, text)
    try:
        same = apply_edits(source.text, edits).rstrip("\n") == text.rstrip("\n")
    except SourceError:
        return ()
    return only_if_it_parses(source, edits) if same else ()


def _place(source: SourceFile, line: int, offset: int | None) -> Place:
    """A place in characters for one whose column is an offset in bytes of UTF-8."""
    text = source.text.split("\n")[line - 1]
    return line, len(text.encode()[:offset].decode(errors="replace"))


def _around(module: Module, node: CSTNode) -> tuple[libcst.SimpleStatementLine | None, Block]:
    """The line that a simple statement is in, and the block with that line; None for `if x: statement`."""
    import libcst

    waiting: list[CSTNode] = [module]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (libcst.Module, libcst.IndentedBlock)):
            for line in each.body:
                if isinstance(line, libcst.SimpleStatementLine) and any(part is node for part in line.body):
                    return line, each
        waiting += each.children
    return None, module


def _with_body(module: Module, block: Block, body: Sequence[BaseStatement]) -> CSTNode:
    changed = block.with_changes(body=body)
    return changed if block is module else module.deep_replace(block, changed)


def _above_next(module: Module, block: Block, line: libcst.SimpleStatementLine) -> CSTNode | None:
    """Without a line that has comments above it, or is alone in its block: `pass`, or the comments above the next."""
    import libcst

    at = list(block.body).index(line)
    if len(block.body) == 1:
        return module.deep_replace(line, line.with_changes(body=[libcst.Pass()]))
    if at + 1 == len(block.body):
        if isinstance(block, libcst.Module):
            return None
        footer = [*line.leading_lines, *block.footer]
        return module.deep_replace(block, block.with_changes(body=block.body[:at], footer=footer))
    following = block.body[at + 1]
    assert isinstance(following, (libcst.SimpleStatementLine, libcst.BaseCompoundStatement))
    moved = following.with_changes(leading_lines=[*line.leading_lines, *following.leading_lines])
    return _with_body(module, block, [*block.body[:at], moved, *block.body[at + 2 :]])
