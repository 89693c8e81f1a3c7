"""What an optimizer keeps of parameters that others took the place of, told where the program moves their state over,
`optimizer.state[new] = optimizer.state[old]`, or gives it ever more groups, `optimizer.add_param_group(...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.heap.graph import unquoted
from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect, is_of_optimizers
from tenure.syntax.text.file_nodes import nodes_in
from tenure.syntax.text.scopes import enclosing_function

_STATE, _GROUPS = "state", "param_groups"
_ADD_GROUP = "add_param_group"


def by_the_statement_that_gives_parameters(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where an optimizer's state keeps ever more parameters, or old ones, and the program's own statements
    store in that state, by these: there the old entry is to be taken out (`state.pop(old)`). Where there are none, and
    it gets ever more, by the calls that add a group."""
    through = {unquoted(hop.label) for hop in suspect.path} & {_STATE, _GROUPS}
    of_optimizer = any(is_of_optimizers(hop.source_type) for hop in suspect.path)
    if not of_optimizer or not through or not (suspect.grows or suspect.symptom == "survivor"):
        return suspect
    found, name = list(_stores(sources)) if _STATE in through else [], _STATE
    if not found and suspect.grows:
        found, name = list(_groups_added(sources)), _GROUPS
    if not found:
        return suspect
    receiver = found[0][0]
    holder = HoldingReference("item", name, f"{receiver}.{name}[*]", sites=tuple(site for _, site in found))
    cut = tuple(replace(each, name=name, sites=holder.sites) if _is_of(each, name) else each for each in suspect.cut)
    return replace(suspect, holder=holder, cut=cut, ambiguous=len(found) > 1, holder_is_yours=True)


def _is_of(reference: HoldingReference, table: str) -> bool:
    return reference.expression.partition("[")[0].endswith(f".{table}")


def _stores(sources: Mapping[str, SourceFile]) -> Iterator[tuple[str, SourceLocation]]:
    """Stores in the `state` of an object of which the same file reads `param_groups`, too; not those of an optimizer's
    own methods."""
    for path, source in sources.items():
        if source.origin != "yours" or f".{_STATE}[" not in source.text:
            continue
        for binding in bindings_of(source):
            stores = binding.kind == "item" and binding.name == _STATE and not binding.on_self
            if stores and f"{binding.receiver}.{_GROUPS}" in source.text:
                yield binding.receiver, SourceLocation(path, binding.line, binding.function)


def _groups_added(sources: Mapping[str, SourceFile]) -> Iterator[tuple[str, SourceLocation]]:
    """Calls of an object's `add_param_group`, with the object; those of constructors where there are no others, and not
    those of an optimizer's own methods."""
    found = [
        (ast.unparse(call.func.value), SourceLocation(path, call.lineno, enclosing_function(source, call.lineno)))
        for path, source in sources.items()
        if source.origin == "yours" and f".{_ADD_GROUP}(" in source.text
        for call in nodes_in(source)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == _ADD_GROUP
    ]
    of_others = [each for each in found if each[0] not in ("self", "super()")]
    later = [each for each in of_others if not each[1].function.endswith("__init__")]
    yield from later or of_others
