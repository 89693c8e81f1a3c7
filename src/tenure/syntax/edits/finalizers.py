"""Finalizers that keep alive what they wait for the end of: `weakref.finalize(self, self.close)`."""

from __future__ import annotations

import ast

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import replace_expression
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.file_nodes import nodes_of
from tenure.syntax.text.name_uses import class_around
from tenure.syntax.text.scopes import dotted
from tenure.syntax.text.tree_walks import walk


def finalize_without_owner(source: SourceFile, line: int) -> tuple[Edit, ...]:
    """The edit that gives `weakref.finalize` on `line`, in place of a method of the object that it waits for, what the
    one call in that method is of: `finalize(self, self.ledger.discard, self.key)`.

    What the call is given is read when the finalizer is made: a run has to prove that it is the same then.
    """
    calls = (node for node in nodes_of(source, ast.Call) if node.lineno <= line <= (node.end_lineno or 0))
    found = [node for node in calls if called_name(node) == "finalize" and len(node.args) == 2 and not node.keywords]
    if len(found) != 1:
        return ()
    waits_for, method = found[0].args
    inner = _only_call(source, line, dotted(waits_for), dotted(method))
    if inner is None or dotted(waits_for) != "self":
        return ()
    given = [inner.func, *inner.args, *inner.keywords]
    texts = [ast.get_source_segment(source.text, each) or "" for each in given]
    return replace_expression(source, method, ", ".join(texts)) if all(texts) else ()


def _only_call(source: SourceFile, line: int, owner: str, method: str) -> ast.Call | None:
    """The call that a method of the class around `line` consists of; None where it is more, or takes something, or
    leads back to the object itself."""
    cls = class_around(source, line)
    functions = [each for each in (cls.body if cls is not None else ()) if isinstance(each, ast.FunctionDef)]
    found = next((each for each in functions if method == f"{owner}.{each.name}"), None)
    if found is None or len(found.args.args) != 1 or found.args.kwonlyargs or found.decorator_list:
        return None
    last = found.body[-1]
    if len(found.body) != 1 or not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        return None
    attributes = {id(node.value) for node in walk(last) if isinstance(node, ast.Attribute)}
    names = [node for node in walk(last) if isinstance(node, ast.Name) and node.id == found.args.args[0].arg]
    leads_back = any(id(node) not in attributes for node in names) or dotted(last.value.func).count(".") < 2
    return None if leads_back else last.value
