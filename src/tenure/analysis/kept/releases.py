"""What was let go between two censuses: the names of modules that went, while their owners live on, for good."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.groups import View
from tenure.analysis.heap.wording import attribute_name
from tenure.analysis.kept.named_modules import VARIABLES, Binding, NamedModule, Parameter


@dataclass(frozen=True)
class Release:
    """What was let go between two censuses: its parameters, and the names that went."""

    parameters: frozenset[Parameter]
    type_name: str
    gone: frozenset[Binding]
    step: int
    position: int
    """Of the first census without the names."""
    list_only: bool = False
    """No name of the module's own went, but a variable for a list or dict that it was in."""

    @property
    def name(self) -> str:
        """The one to tell: an attribute rather than a variable, `self` last."""
        return min(
            self.gone, key=lambda binding: (not binding.is_attribute, binding.label == "self", binding.label)
        ).label

    @property
    def is_attribute(self) -> bool:
        """Whether an object let it go, and not a function alone."""
        return any(binding.is_attribute for binding in self.gone)


def final_releases(ordered: Sequence[View], found: Sequence[dict[int, NamedModule]]) -> list[tuple[int, Release]]:
    """What was let go for good, by address."""
    releases: dict[int, Release] = {}
    called: set[int] = set()
    for at, (before_modules, after_modules) in enumerate(pairwise(found), start=1):
        called |= {address for address, module in before_modules.items() if module.is_called or module.was_called}
        for address, module in before_modules.items():
            release = _find_release(
                ordered[at], at, address, module, same_module(after_modules, address, module.type_name)
            ) or _find_left_behind(ordered[at], at, address, before_modules, after_modules)
            if release is not None and (release.is_attribute or address in called):
                releases.setdefault(address, release)
    final = {at: each for at, each in sorted(releases.items()) if _is_final(each, at, ordered, found)}
    return [(at, each) for at, each in final.items() if not each.list_only] + _whole_lists(final, found)


def _whole_lists(final: Mapping[int, Release], found: Sequence[dict[int, NamedModule]]) -> list[tuple[int, Release]]:
    """One release for each list all of which was let go; what is taken out one by one goes on to somebody."""
    lists: dict[tuple[frozenset[Binding], int], dict[int, Release]] = {}
    for at, release in final.items():
        if release.list_only:
            lists.setdefault((release.gone, release.position), {})[at] = release
    whole = []
    for (gone, position), members in lists.items():
        together = [at for at, module in found[position - 1].items() if module.lists & gone]
        if all(at in members or at not in found[-1] for at in together):
            first = min(members)
            parameters = frozenset().union(*(release.parameters for release in members.values()))
            whole.append((first, dataclasses.replace(members[first], parameters=parameters)))
    return whole


def _find_release(after: View, at: int, address: int, module: NamedModule, still: NamedModule | None) -> Release | None:
    """Names that went while their owners live, and did not come to stand for something else.

    A module that was taken out of a collection that goes on was let go where no name and no other container has it now.
    """
    remaining = still.bindings if still is not None else frozenset()
    collected = still.collections if still is not None else frozenset()
    contained = still.is_element if still is not None else address in after.census.nodes.address
    nameless = not remaining and not contained
    gone = frozenset(
        binding
        for binding in (module.bindings - remaining) | (module.collections - collected)
        if _has_owner(after, binding)
        and (not _is_bound(after, binding) or (nameless and binding in module.collections))
    )
    if remaining - module.bindings:
        return None
    if gone:
        return Release(module.parameters, module.type_name, gone, after.census.step, at)
    lists = still.lists if still is not None else frozenset()
    gone = frozenset(name for name in module.lists - lists if _has_owner(after, name) and not _is_bound(after, name))
    if not gone or remaining or {name.scope for name in lists} & {name.scope for name in gone}:
        return None
    return Release(module.parameters, module.type_name, gone, after.census.step, at, list_only=True)


def _find_left_behind(
    after: View, at: int, address: int, before_modules: dict[int, NamedModule], after_modules: dict[int, NamedModule]
) -> Release | None:
    """A module without a name of its own, whose optimizer made way for one that took only its companions over."""
    module, still = before_modules[address], after_modules.get(address)
    if still is None or still.bindings or still.optimizers or not module.bindings or not module.optimizers:
        return None
    if any(binding.is_attribute for binding in module.bindings):
        return None
    companions = [other for other, each in before_modules.items() if each.optimizers & module.optimizers]
    taken_over = any(
        other in after_modules and after_modules[other].optimizers - module.optimizers for other in companions
    )
    if not taken_over:
        return None
    return Release(module.parameters, module.type_name, module.bindings, after.census.step, at)


def _is_final(release: Release, address: int, views: Sequence[View], found: Sequence[dict[int, NamedModule]]) -> bool:
    """No name came back and no new one came, and the module was not called again; a variable, that goes and comes
    within every step, must stay away for two."""
    if not release.is_attribute and len({view.census.step for view in views[release.position :]}) < 2:
        return False
    before = found[release.position - 1][address]
    gone = _lasting(release.gone)
    known = _lasting(before.bindings | before.collections | before.lists) - gone
    later = ((at, same_module(found[at], address, before.type_name)) for at in range(release.position, len(found)))
    for at, module in ((at, module) for at, module in later if module is not None):
        used = module.is_called or (module.was_called and at > release.position)
        names = _lasting(module.bindings | module.collections | module.lists)
        new_attributes = {name for name in names - known if isinstance(name[0], int)}
        if used or names & gone or new_attributes:
            return False
    return True


def same_module(modules: Mapping[int, NamedModule], address: int, type_name: str) -> NamedModule | None:
    """The module at an address, where that is not one of another class that came there after it."""
    found = modules.get(address)
    return found if found is not None and found.type_name == type_name else None


def _lasting(bindings: frozenset[Binding]) -> set[tuple[int | str, str]]:
    """Names as they are called again in another census: by owner, or by function where the owner is one call of it."""
    return {(binding.scope or binding.owner, binding.label) for binding in bindings}


def _has_owner(view: View, binding: Binding) -> bool:
    """Whether the object, or the call of the function, that had the name is still there."""
    nodes = view.census.nodes
    owners = np.flatnonzero(nodes.address == binding.owner).tolist()
    if binding.is_attribute:
        return any(view.graph.type_names[owner] == binding.type_name for owner in owners)
    return any((view.census.text(int(nodes.name[owner])) or "<module>") == binding.scope for owner in owners)


def _is_bound(view: View, binding: Binding) -> bool:
    """The name stands for something else now: rebound, not let go."""
    graph, references = view.graph, view.census.references
    for owner in np.flatnonzero(view.census.nodes.address == binding.owner).tolist():
        tables = [int(references.target[r]) for r in graph.references_from(owner)]
        tables = [table for table in tables if graph.instance_tables[table]]
        for reference in (r for node in (owner, *tables) for r in graph.references_from(node)):
            named = references.kind[reference] in VARIABLES and graph.labels[reference] == binding.label
            if named or attribute_name(graph, reference) == binding.label:
                return True
    return False
