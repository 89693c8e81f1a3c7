"""How an object empties what it collects: a metric's `reset`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tenure.analysis.sites.class_search import class_family
from tenure.analysis.sites.library_calls import owner_of
from tenure.analysis.sites.site_search import bindings_of
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference
from tenure.syntax.text.scopes import definitions

RESET = "reset"
_OWN_CALL = re.compile(r"\bself\.(\w+)\(")
_COMPUTED = r"\bsetattr\b|\bsuper\b|\b__dict__\b|\bvars\b|\b__init__\b"


def emptied_by(reference: HoldingReference, sources: Mapping[str, SourceFile]) -> str:
    """`auroc.reset`, where the class of the object that has the container, or one that it is made from, defines it;
    else "". Its name promises that, but one that was written for a base of the class which sets the attribute knows
    nothing of it, as the `reset` of an environment below a wrapper's frames; nor does one without a word of the
    attribute, in itself or in a method of the object that it calls, and that sets nothing by computed names."""
    owner = owner_of(reference)
    if not reference.element or not owner or not reference.owner_type:
        return ""
    family = class_family(reference.owner_type, sources)
    resets = [at for at, (path, qualname) in enumerate(family) if _defines(sources[path], f"{qualname}.{RESET}")]
    sets = [at for at, (path, name) in enumerate(family) if _sets(sources[path], name, reference.name)]
    if not resets or (sets and sets[0] < resets[0]):
        return ""
    path, qualname = family[resets[0]]
    return f"{owner}.{RESET}" if _may_empty(sources[path], qualname, reference.name) else ""


def _may_empty(source: SourceFile, class_name: str, attribute: str) -> bool:
    """Whether the `reset` of a class may reach an attribute."""
    methods = {
        scope.qualname.rpartition(".")[2]: "\n".join(source.text.split("\n")[scope.line - 1 : scope.end_line])
        for scope in definitions(source)
        if scope.qualname.rpartition(".")[0] == class_name
    }
    called = (methods.get(name, "") for name in _OWN_CALL.findall(methods[RESET]))
    return any(re.search(rf"\b{re.escape(attribute)}\b|{_COMPUTED}", text) for text in (methods[RESET], *called))


def _defines(source: SourceFile, qualname: str) -> bool:
    return any(scope.qualname == qualname for scope in definitions(source))


def _sets(source: SourceFile, class_name: str, attribute: str) -> bool:
    """Whether a class has a statement `self.attribute = ...` of its own."""
    return any(
        b.kind == "attribute" and b.on_self and b.name == attribute and b.class_name == class_name
        for b in bindings_of(source)
    )
