"""How an object empties what it collects: a metric's `reset`."""

from __future__ import annotations

from collections.abc import Mapping

from tenure.analysis.sites.class_search import class_family
from tenure.analysis.sites.library_calls import owner_of
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.scopes import definitions

RESET = "reset"


def emptied_by(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> str:
    """`auroc.reset`, where the class of the object that has the container, or one that it is made from, defines it;
    else "". Its name promises that; what it empties is not looked at."""
    owner = owner_of(reference)
    if not reference.element or not owner or not reference.owner_type:
        return ""
    family = class_family(reference.owner_type, sources)
    defined = any(
        scope.qualname == f"{qualname}.{RESET}" for path, qualname in family for scope in definitions(sources[path])
    )
    return f"{owner}.{RESET}" if defined else ""
