"""Calls of `backward(create_graph=True)`: no statement of the program names the gradients that they store."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.analysis.sites.site_search import LIKELY, SURE, RankedSite, Sought
from tenure.errors import SourceError
from tenure.model.source import SourceLocation
from tenure.syntax.text.scopes import dotted, enclosing_function, parse


def backward_calls(sought: Sought) -> Iterator[RankedSite]:
    """Calls that ask for a graph of the gradients, the user's own first."""
    for path, source in sought.sources.items():
        if "create_graph" not in source.text:
            continue
        try:
            tree = parse(source)
        except SourceError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _stores_graph(node):
                location = SourceLocation(path, node.lineno, enclosing_function(source, node.lineno))
                plausibility = SURE if source.origin == "yours" else LIKELY
                yield RankedSite(location, node.end_lineno or node.lineno, plausibility)


def _stores_graph(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
    if name != "backward":
        return False
    asked = [keyword.value for keyword in node.keywords if keyword.arg == "create_graph"]
    return any(not (isinstance(value, ast.Constant) and not value.value) for value in asked)
