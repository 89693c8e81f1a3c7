"""What an optimizer keeps of parameters that others took the place of, told where the program moves their state over:
`optimizer.state[new] = optimizer.state[old]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect, is_of_optimizers

_STATE = "state"


def by_the_statement_that_moves_state(suspect: Suspect, sources: Mapping[str, SourceFile]) -> Suspect:
    """The suspect; where an optimizer's state keeps ever more parameters, or old ones, and the program's own statements
    store in that state, by these: there the old entry is to be taken out (`state.pop(old)`)."""
    of_optimizer = any(is_of_optimizers(hop.source_type) for hop in suspect.path)
    in_state = of_optimizer and any(hop.label.strip("'\"") == _STATE for hop in suspect.path)
    if not in_state or not (suspect.grows or suspect.symptom == "survivor"):
        return suspect
    found = list(_stores(sources))
    if not found:
        return suspect
    receiver = found[0][0]
    holder = HoldingReference("item", _STATE, f"{receiver}.{_STATE}[*]", sites=tuple(site for _, site in found))
    return replace(suspect, holder=holder, ambiguous=len(found) > 1, holder_is_yours=True)


def _stores(sources: Mapping[str, SourceFile]) -> Iterator[tuple[str, SourceLocation]]:
    """Stores in the `state` of an object of which the same file reads `param_groups`, too; not those of an optimizer's
    own methods."""
    for path, source in sources.items():
        if source.origin != "yours" or ".state[" not in source.text:
            continue
        for binding in bindings_of(source):
            stores = binding.kind == "item" and binding.name == _STATE and not binding.on_self
            if stores and f"{binding.receiver}.param_groups" in source.text:
                yield binding.receiver, SourceLocation(path, binding.line, binding.function)
