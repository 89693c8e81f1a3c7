"""What a class gives to the interpreter for good, taken back by the method that ends its work."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_handles import ending_methods
from tenure.syntax.edits.let_go import at_end
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import function_around, indent_of
from tenure.syntax.text.scopes import dotted, parse
from tenure.syntax.text.tree_walks import walk

_BACK = {
    "atexit.register": "atexit.unregister",
    "gc.callbacks.append": "gc.callbacks.remove",
    "sys.path_hooks.append": "sys.path_hooks.remove",
    "addHandler": "removeHandler",
    "addFilter": "removeFilter",
}
"""By the call, or the method, that gives something of an object of the class."""


def take_back(source: SourceFile, line: int) -> Iterator[tuple[Edit, ...]]:
    """The edits by which `close`, `__exit__` and the like of the class end what its call on `line` began:
    `gc.callbacks.remove(self.watch)` for `gc.callbacks.append(self.watch)`; and such that set the attribute to None
    too, as a function that reads `self` closes a ring with it. None for what is not the object's own."""
    calls = [node for node in nodes_of(source, ast.Call) if node.lineno <= line <= (node.end_lineno or 0) and node.args]
    pairs = [(call, back) for call in calls if (back := _counterpart(source, call))]
    if len(pairs) != 1:
        return
    (call, back), tree = pairs[0], parse(source)
    function = function_around(tree, [line])
    given, ends = _name_later(call.args[0], function), ending_methods(tree, function)
    if given and ends:
        yield at_end(source, ends[0], f"{back}({given})")
        if given.count(".") == 1:
            yield at_end(source, ends[0], f"{back}({given})\n{indent_of(source, ends[0].body[0])}{given} = None")


def _name_later(given: ast.expr, function: ast.AST) -> str:
    """What another method of the object calls it by: `self.watch`, also of a variable that is stored there."""
    text = dotted(given)
    if isinstance(given, ast.Name) and text != "self":
        stores = (node for node in walk(function) if isinstance(node, ast.Assign) and dotted(node.value) == text)
        text = next((dotted(each) for node in stores for each in node.targets), "")
    return text if text.partition(".")[0] == "self" and "[" not in text else ""


def _counterpart(source: SourceFile, call: ast.Call) -> str:
    """The call that ends what this one begins; "" where none is known."""
    if not isinstance(call.func, ast.Attribute):
        return ""
    owner = ast.get_source_segment(source.text, call.func.value) or ""
    by_method = _BACK.get(call.func.attr, "")
    return _BACK.get(f"{owner}.{call.func.attr}") or (by_method and f"{owner}.{by_method}")
