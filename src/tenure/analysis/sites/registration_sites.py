"""Statements that give a function to the interpreter: `signal.signal(...)`, `atexit.register(...)` and their like."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tenure.analysis.sites.site_search import LIKELY, SURE, WEAK, RankedSite, Sought
from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.syntax.text.scopes import dotted, enclosing_function, parse

_REGISTRATIONS = {
    "signal handler": ("signal.signal", "signal", "add_signal_handler"),
    "atexit handler": ("atexit.register", "register"),
    "at-fork handler": ("os.register_at_fork", "register_at_fork"),
}


def registrations(sought: Sought) -> Iterator[RankedSite]:
    """Calls that register the function of this name, the user's own first; by decorator too."""
    calls = next((names for root, names in _REGISTRATIONS.items() if sought.reference.expression.startswith(root)), ())
    for path, source in sought.sources.items():
        if not any(call.rpartition(".")[2] in source.text for call in calls):
            continue
        for line, end, exact in _calls(source, calls, sought.reference.name):
            plausibility = (SURE if exact else LIKELY) if source.origin == "yours" else WEAK
            yield RankedSite(SourceLocation(path, line, enclosing_function(source, line)), end, plausibility)


def _calls(source: SourceFile, calls: tuple[str, ...], name: str) -> Iterator[tuple[int, int, bool]]:
    try:
        tree = parse(source)
    except SourceError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _callee(node) in calls:
            names = {dotted(part).rpartition(".")[2] for part in ast.walk(node) if isinstance(part, ast.expr)}
            yield node.lineno, node.end_lineno or node.lineno, name in names
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            for decorator in node.decorator_list:
                if dotted(decorator) in calls:
                    yield decorator.lineno, decorator.lineno, True


def _callee(node: ast.Call) -> str:
    name = dotted(node.func)
    return name if name else node.func.attr if isinstance(node.func, ast.Attribute) else ""
