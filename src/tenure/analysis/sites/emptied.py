"""How an object empties what it collects: a metric's `reset`."""

from __future__ import annotations

from collections.abc import Mapping

from tenure.analysis.sites.class_search import class_family
from tenure.analysis.sites.library_calls import owner_of
from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.scopes import definitions

RESET = "reset"


def emptied_by(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> str:
    """`auroc.reset`, where the class of the object that has the container, or one that it is made from, defines it;
    else "". Its name promises that; what it empties is not looked at, but one that was written for a base of the class
    which sets the attribute knows nothing of that: the `reset` of an environment below a wrapper's frames."""
    owner = owner_of(reference)
    if not reference.element or not owner or not reference.owner_type:
        return ""
    family = class_family(reference.owner_type, sources)
    resets = [at for at, (path, qualname) in enumerate(family) if _defines(sources[path], f"{qualname}.{RESET}")]
    sets = [at for at, (path, name) in enumerate(family) if _sets(sources[path], name, reference.name)]
    return f"{owner}.{RESET}" if resets and (not sets or resets[0] <= sets[0]) else ""


def _defines(source: SourceFile, qualname: str) -> bool:
    return any(scope.qualname == qualname for scope in definitions(source))


def _sets(source: SourceFile, class_name: str, attribute: str) -> bool:
    """Whether a class has a statement `self.attribute = ...` of its own."""
    return any(
        b.kind == "attribute" and b.on_self and b.name == attribute and b.class_name == class_name
        for b in bindings_of(source)
    )
