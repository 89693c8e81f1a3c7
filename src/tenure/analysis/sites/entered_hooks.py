"""Pack hooks that were put in place and never taken away: a `saved_tensors_hooks` that was entered and not left."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.sites.site_search import place_at
from tenure.errors import SourceError
from tenure.model.source import SourceFile
from tenure.model.suspect import ONLY_C_CODE, HoldingReference, Suspect
from tenure.syntax.text.expressions import called_name
from tenure.syntax.text.scopes import dotted, parse
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
        for holder in _hooks_made(source)
        if function in holder.calls.split()
    ]
    if not holders:
        return suspect
    holder = replace(holders[0], calls=function)
    return replace(suspect, holder=holder, cut=(holder,), ambiguous=len(holders) > 1)


def by_their_own_name(holder: HoldingReference, sources: Mapping[str, SourceFile]) -> HoldingReference:
    """Hooks that a call at the holder's statement makes, by what the program calls them; all else as it is."""
    source = sources.get(holder.sites[0].file) if holder.sites and holder.name == PACK_HOOKS else None
    made = _hooks_made(source) if source is not None else ()
    named = next((each for each in made if each.sites[0].line == holder.sites[0].line), holder)
    return replace(holder, name=named.name, expression=named.expression)


def _hooks_made(source: SourceFile) -> Iterator[HoldingReference]:
    try:
        tree = parse(source)
    except SourceError:
        return
    for statement in ast.walk(tree):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        for call in ast.walk(statement) if isinstance(statement, (ast.Assign, ast.Expr)) else ():
            if isinstance(call, ast.Call) and called_name(call) == PACK_HOOKS:
                name = dotted(targets[0]) if targets else PACK_HOOKS
                given = (_last(each) for each in (*call.args, *(keyword.value for keyword in call.keywords)))
                place = place_at(source, call.lineno)
                yield HoldingReference(
                    kind="hook", name=name.rpartition(".")[2], expression=name, sites=(place,), calls=" ".join(given)
                )


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else dotted(node).rpartition(".")[2]
