"""One pass over a file's syntax tree: its functions and classes, with what stands in each.

What is defined inside a function belongs to the inner one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tenure.model.source import SourceFile
from tenure.syntax.program.functions import Class, Function
from tenure.syntax.program.patterns import matched
from tenure.syntax.text.scopes import MODULE, FunctionNode, base_names, parse
from tenure.syntax.text.slim_trees import Call
from tenure.syntax.text.tree_walks import FIELDS, children


class FileWalk:
    """The functions of a file, its top first, and its classes. Raises SourceError for what is no Python."""

    def __init__(self, source: SourceFile) -> None:
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.top = Function(source, parse(source), MODULE)
        self.functions.append(self.top)
        self._walk(children(self.top.node), self.top, "", None)

    def _walk(self, nodes: Iterable[ast.AST], function: Function, prefix: str, cls: Class | None) -> None:
        waiting = list(nodes)[::-1]
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                waiting += [*node.decorator_list, *_defaults(node)]
                self._enter_function(node, function, prefix, cls)
                continue
            if isinstance(node, ast.ClassDef):
                waiting += [*node.decorator_list, *node.bases]
                self._enter_class(node, function, prefix)
                continue
            kind = type(node)
            if kind in _NOTED:
                getattr(function, _NOTED[kind]).append(node)
            elif kind is ast.Match:
                function.bindings += matched(node)  # type: ignore[arg-type]
            for name in reversed(FIELDS[kind]):
                inside = getattr(node, name, None)
                if type(inside) is list:
                    waiting += inside[::-1]
                elif inside is not None:
                    waiting.append(inside)

    def _enter_function(self, node: FunctionNode, outer: Function, prefix: str, cls: Class | None) -> None:
        inner = Function(outer.source, node, prefix + node.name, cls.node.name if cls is not None else "")
        inner.owner = cls if cls is not None else outer.owner
        if inner.owner is not None:
            inner.owner.functions.append(inner)
        self.functions.append(inner)
        if cls is not None:
            cls.methods.setdefault(node.name, inner)
        self._walk(node.body, inner, f"{inner.qualname}.<locals>.", None)

    def _enter_class(self, node: ast.ClassDef, outer: Function, prefix: str) -> None:
        cls = Class(outer.source, node, base_names(node))
        self.classes.append(cls)
        self._walk(node.body, outer, f"{prefix}{node.name}.", cls)


_NOTED: dict[type, str] = {
    **dict.fromkeys((ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr), "bindings"),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), "loops"),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), "comprehensions"),
    **dict.fromkeys((ast.With, ast.AsyncWith), "withs"),
    **dict.fromkeys((ast.Call, Call), "calls"),
    **{ast.Return: "returns", ast.Delete: "deletes", ast.ExceptHandler: "handlers"},
    **dict.fromkeys((ast.Yield, ast.YieldFrom), "yields"),
    **dict.fromkeys((ast.Import, ast.ImportFrom), "imports"),
    **dict.fromkeys((ast.Global, ast.Nonlocal), "declarations"),
}
"""Which list of its function a node goes to."""


def _defaults(node: FunctionNode) -> Iterator[ast.expr]:
    yield from node.args.defaults
    yield from (each for each in node.args.kw_defaults if each is not None)
