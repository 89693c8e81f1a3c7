"""Objects that hold a hook and can remove it, asked to do so by who makes them, before they are forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_handles import removes
from tenure.syntax.edits.let_go import at_end
from tenure.syntax.edits.line_edits import insert_line
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import begins_its_line, class_around, function_around, indent_of
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def dismiss_before_forgotten(
    sources: Sequence[SourceFile], source: SourceFile, line: int
) -> Iterator[tuple[Edit, ...]]:
    """For each place that makes objects of the class which registers a hook on `line`, or of one made from it, the edit
    that calls their own method for removing it, which nobody calls yet.

    `for each in self.probes: each.detach()` in front of the statement that binds new ones to the attribute, and
    `probe.detach()` at the end of a function that has one in a variable.
    """
    cls = class_around(source, line)
    remover = _remover(cls, line) if cls is not None else ""
    called = (node for each in sources for node in nodes_of(each, ast.Call))
    if cls is None or not remover or any(_is_call_of(node, remover) for node in called):
        return
    kinds = _made_from(sources, cls.name)
    for each in sources:
        for statement in nodes_of(each, ast.Assign):
            yield from filter(None, [_dismissed(each, statement, kinds, remover)])


def _remover(cls: ast.ClassDef, line: int) -> str:
    """The method that removes the handle which a class keeps on `line`: `self.handle.remove()`."""
    kept = next((node for node in walk(cls) if isinstance(node, ast.Assign) and node.lineno == line), None)
    handle = dotted(kept.targets[0]) if kept is not None else ""
    methods = [each for each in cls.body if isinstance(each, _FUNCTIONS) and not each.args.args[1:]]
    removing = [each.name for each in methods if removes(each, handle)]
    return removing[0] if handle.startswith("self.") and len(removing) == 1 else ""


def _is_call_of(call: ast.Call, method: str) -> bool:
    """A call of a method of that name; of `detach` and `clear` none is told from those of tensors and containers."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == method and method not in ("detach", "clear")


def _made_from(sources: Sequence[SourceFile], name: str) -> set[str]:
    """A class and those that are made from it, by name."""
    kinds, classes = {name}, [node for each in sources for node in nodes_of(each, ast.ClassDef)]
    while more := {cls.name for cls in classes if kinds & set(map(dotted, cls.bases))} - kinds:
        kinds |= more
    return kinds


def _dismissed(source: SourceFile, statement: ast.Assign, kinds: set[str], remover: str) -> tuple[Edit, ...]:
    """What goes before a statement that makes some of these objects anew, or behind all that a function does."""
    value, text = statement.value, dotted(statement.targets[0])
    many = isinstance(value, ast.ListComp)
    made = value.elt if isinstance(value, ast.ListComp) else value
    function = function_around(parse(source), [statement.lineno])
    if not isinstance(function, _FUNCTIONS) or not isinstance(made, ast.Call) or called_name(made) not in kinds:
        return ()
    if "[" in text or not begins_its_line(source, statement):
        return ()
    indent, attribute = indent_of(source, statement), text.removeprefix("self.")
    if text.isidentifier():
        inner = indent_of(source, function.body[0])
        of_many, of_one = f"for each in {text}:\n{inner}    each.{remover}()", f"{text}.{remover}()"
        return at_end(source, function, of_many if many else of_one)
    if function.name == "__init__" or not attribute.isidentifier():
        return ()
    former = f'getattr(self, "{attribute}", ())' if many else f'filter(None, [getattr(self, "{attribute}", None)])'
    return insert_line(source, statement.lineno, f"{indent}for each in {former}:\n{indent}    each.{remover}()")
