"""Modules that were let go and live on: a name for them is gone, the memory is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.assemble import Group, Measured, assemble_suspect
from tenure.analysis.graph import Graph, ancestors, reach, unquoted
from tenure.analysis.groups import View, fingerprint_of
from tenure.analysis.wording import attribute_name
from tenure.model.heap import ROOT_KINDS, Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import Series, Suspect

_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL)
_PASSING = (
    ReferenceKind.GRAD_FN,
    ReferenceKind.NEXT,
    ReferenceKind.SAVED,
    ReferenceKind.GRAD,
    ReferenceKind.BASE,
    ReferenceKind.HOOK,
)


@dataclass(frozen=True)
class _Binding:
    """A direct name of a module: `owner` is the address of the object or root that has the name."""

    owner: int
    label: str
    is_attribute: bool


@dataclass(frozen=True)
class _Module:
    """A module that no other module contains, by address."""

    node: int
    type_name: str
    parameters: frozenset[tuple[int, int]]
    bindings: frozenset[_Binding]


@dataclass(frozen=True)
class _Release:
    """What was let go between two censuses: parameters by address and size, and the name that went."""

    parameters: frozenset[tuple[int, int]]
    type_name: str
    name: str
    step: int


def find_survivors(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": modules that lost the name they went by while something else keeps them.

    An attribute set to None or deleted says that the module was to go, whatever other names remain. A variable that
    goes says so only where no other name remains. A module that moved to a new name, that an optimizer still has or
    that became part of another module is in use.
    """
    moments = [view for view in views if view.census.moment != "exit"]
    ordered = sorted(moments, key=lambda view: (view.census.step, view.census.moment == "forward-entry"))
    if len(ordered) < 2:
        return ()
    found = [_modules(view) for view in ordered]
    releases: dict[int, _Release] = {}
    for (view, after), (before_modules, after_modules) in zip(pairwise(ordered), pairwise(found), strict=True):
        for address, module in before_modules.items():
            release = _find_release(view, after, address, module, after_modules)
            if release is not None:
                releases.setdefault(address, release)
    last, last_modules = ordered[-1], found[-1]
    suspects = []
    for address, release in sorted(releases.items()):
        nodes = _alive_parameters(last, release)
        if len(nodes) and not _is_in_use(last, address, nodes, last_modules):
            suspects.append(_suspect(ordered, last, release, nodes))
    return tuple(suspects)


def _modules(view: View) -> dict[int, _Module]:
    """Modules by address that are not part of another module, with their names and parameters."""
    graph = view.graph
    found = {}
    tensors = _parameter_tensors(graph)
    for node in _module_nodes(graph):
        if _is_inside_module(graph, node):
            continue
        below = reach(graph, np.array([node]), without=np.isin(graph.census.references.kind, _PASSING))
        parameters = frozenset((address, size) for address, size, storage in tensors if below[storage])
        if parameters:
            bindings = frozenset(_bindings(view, node))
            found[int(graph.census.nodes.address[node])] = _Module(node, graph.type_names[node], parameters, bindings)
    return found


def _module_nodes(graph: Graph) -> list[int]:
    """Objects with a table of parameters or of modules of their own: `torch.nn.Module` by its shape."""
    references = graph.census.references
    tables = [
        int(references.source[r])
        for r in np.flatnonzero(np.isin(references.kind, (ReferenceKind.ITEM, ReferenceKind.ATTRIBUTE))).tolist()
        if unquoted(graph.labels[r]) in ("_parameters", "_modules") and graph.instance_tables[int(references.target[r])]
    ]
    owners: set[int] = set()
    for table in tables:
        above = [r for r in graph.references_to(table) if references.kind[r] == ReferenceKind.DICT]
        owners.update(int(references.source[r]) for r in above)
        if not above:
            owners.add(table)
    return sorted(owners)


def _is_inside_module(graph: Graph, node: int) -> bool:
    references = graph.census.references
    for reference in graph.references_to(node):
        table = int(references.source[reference])
        if graph.instance_tables[table] and any(
            unquoted(graph.labels[above]) == "_modules" for above in graph.references_to(table)
        ):
            return True
    return False


def _parameter_tensors(graph: Graph) -> list[tuple[int, int, int]]:
    """Address and bytes of every tensor whose storage is a parameter's, and the storage's node."""
    storages, references = graph.census.storages, graph.census.references
    found = []
    for row in np.flatnonzero(np.isin(storages.role, (Role.PARAMETER, Role.BUFFER))).tolist():
        node, size = int(storages.node[row]), int(storages.bytes[row])
        for reference in graph.references_to(node):
            if references.kind[reference] == ReferenceKind.STORAGE:
                found.append((int(graph.census.nodes.address[references.source[reference]]), size, node))
    return found


def _bindings(view: View, node: int) -> list[_Binding]:
    """Names that variables and the user's own objects have for a module, each owner reached from a root."""
    graph, references = view.graph, view.census.references
    found = []
    for reference in graph.references_to(node):
        owner = int(references.source[reference])
        if graph.library[owner] or not view.paths.held_by_root(owner):
            continue
        address = int(view.census.nodes.address[owner])
        if references.kind[reference] in _VARIABLES and view.census.nodes.kind[owner] in ROOT_KINDS:
            found.append(_Binding(address, graph.labels[reference], is_attribute=False))
        elif name := attribute_name(graph, reference):
            instance = int(view.census.nodes.address[_instance(graph, owner)])
            found.append(_Binding(instance, name, is_attribute=True))
    return found


def _instance(graph: Graph, owner: int) -> int:
    """The object whose `__dict__` or module table `owner` is, else `owner` itself."""
    references = graph.census.references
    while graph.instance_tables[owner]:
        above = graph.references_to(owner)
        if not above:
            return owner
        owner = int(references.source[above[0]])
    return owner


def _find_release(
    before: View, after: View, address: int, module: _Module, later: dict[int, _Module]
) -> _Release | None:
    still = later.get(address)
    owners = set(after.census.nodes.address.tolist())
    remaining = still.bindings if still is not None else frozenset()
    gone = [
        binding for binding in module.bindings - remaining if binding.owner in owners and not _is_bound(after, binding)
    ]
    moved = bool(remaining - module.bindings)
    clear = any(binding.is_attribute for binding in gone) or not remaining
    if not module.bindings or moved or not (gone and clear):
        return None
    name = min(gone, key=lambda binding: (not binding.is_attribute, binding.label)).label
    return _Release(module.parameters, module.type_name, name, after.census.step)


def _is_bound(view: View, binding: _Binding) -> bool:
    """The name stands for something else now: rebound, not let go."""
    graph, references = view.graph, view.census.references
    for owner in np.flatnonzero(view.census.nodes.address == binding.owner).tolist():
        tables = [int(references.target[r]) for r in graph.references_from(owner)]
        tables = [table for table in tables if graph.instance_tables[table]]
        for reference in (r for node in (owner, *tables) for r in graph.references_from(node)):
            named = references.kind[reference] in _VARIABLES and graph.labels[reference] == binding.label
            if named or attribute_name(graph, reference) == binding.label:
                return True
    return False


def _alive_parameters(view: View, release: _Release) -> Ints:
    alive = [node for address, size, node in _parameter_tensors(view.graph) if (address, size) in release.parameters]
    nodes = np.array(sorted(set(alive)), dtype=np.int64)
    return nodes[[view.paths.held_by_root(node) for node in nodes.tolist()]] if len(nodes) else nodes


def _is_in_use(view: View, address: int, nodes: Ints, modules: dict[int, _Module]) -> bool:
    """Another module contains the parameters, or an optimizer updates them for a module that is still there."""
    if any(view.census.nodes.address[module.node] != address and _reaches(view, module.node, nodes)
           for module in modules.values() if _has_name(module)):  # fmt: skip
        return True
    if address not in modules:
        return False
    above = ancestors(view.graph, nodes, without=np.isin(view.census.references.kind, _PASSING))
    objects = np.flatnonzero(above & (view.census.nodes.kind == NodeKind.OBJECT)).tolist()
    return any(".optim." in view.graph.type_names[node] for node in objects)


def _has_name(module: _Module) -> bool:
    return bool(module.bindings)


def _reaches(view: View, module: int, nodes: Ints) -> bool:
    below = reach(view.graph, np.array([module]), without=np.isin(view.census.references.kind, _PASSING))
    return bool(below[nodes].any())


def _suspect(views: Sequence[View], last: View, release: _Release, nodes: Ints) -> Suspect:
    alive = [_alive_parameters(view, release) for view in views]
    series = Series(
        moment=last.census.moment,
        steps=tuple(view.census.step for view in views),
        bytes=tuple(int(view.graph.bytes_of_node[found].sum()) for view, found in zip(views, alive, strict=True)),
        objects=tuple(len(found) for found in alive),
        graph_nodes=(0,) * len(views),
    )
    return assemble_suspect(
        Group(last, nodes, nodes),
        symptom="survivor",
        measured=Measured(
            series=series,
            facts={"released": release.name, "released_step": release.step, "module": release.type_name},
        ),
        fingerprint=fingerprint_of(f"survivor {release.type_name} {release.name}"),
    )
