"""Pack hooks that were put in place and never taken away: a `saved_tensors_hooks` that was entered and not left."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.heap.wording import ONLY_C_CODE
from tenure.errors import SourceError
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.syntax.text.scopes import dotted, enclosing_function, parse
from tenure.syntax.text.store_calls import PACK_HOOKS


def by_the_hooks_entered(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect, told by the call that made the hooks, where what grows hangs on a function that only C code keeps
    and that is a pack hook of the program's; the suspect itself where there is no such call."""
    root = suspect.path_text[0] if suspect.path_text else ""
    if suspect.symptom != "growth" or not root.startswith(ONLY_C_CODE):
        return suspect
    function = root.rpartition(".")[2].rpartition(" ")[2]
    holders = [
        holder
        for source in sources.values()
        if source.origin == "yours" and PACK_HOOKS in source.text
        for holder in _calls_with(source, function)
    ]
    return replace(suspect, holder=holders[0], cut=(holders[0],), ambiguous=len(holders) > 1) if holders else suspect


def _calls_with(source: SourceFile, function: str) -> Iterator[HoldingReference]:
    try:
        tree = parse(source)
    except SourceError:
        return
    for statement in ast.walk(tree):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for call in ast.walk(statement) if isinstance(statement, (ast.Assign, ast.Expr)) else ():
            if isinstance(call, ast.Call) and _is_of(call, function):
                name = dotted(targets[0]) if targets else PACK_HOOKS
                place = SourceLocation(source.path, call.lineno, enclosing_function(source, call.lineno))
                yield HoldingReference(
                    kind="hook", name=name.rpartition(".")[2], expression=name, sites=(place,), calls=function
                )


def _is_of(call: ast.Call, function: str) -> bool:
    """Whether the call makes hooks of which the function is one."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else dotted(call.func)
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return called == PACK_HOOKS and any(dotted(each).rpartition(".")[2] == function for each in given)
