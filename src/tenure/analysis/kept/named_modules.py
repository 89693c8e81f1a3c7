"""Modules that no other module contains, and carriers of such, with the names that the program has for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tenure.analysis.heap.graph import ELEMENT_REFERENCES, PASSING_BY, Bools, Graph, ancestors, instance_of, reach
from tenure.analysis.heap.groups import View
from tenure.analysis.heap.modules import is_inside_module, module_nodes, parameter_tensors
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import CALLED, CALLED_BY_ANY, ROOT_KINDS, NodeKind, ReferenceKind, Role

VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL)
Parameter = tuple[int, int, int]
"""A tensor by its address, its bytes, and the number of its storage."""


@dataclass(frozen=True)
class Binding:
    """A direct name of a module: `owner` is the address of the object or root that has the name, `scope` the
    function or module where the name is a variable, `type_name` the owner's where it is an attribute. An address alone
    may serve one call, or one object, after another."""

    owner: int
    label: str
    scope: str = ""
    type_name: str = ""

    @property
    def is_attribute(self) -> bool:
        """An object's name for it, not a function's or a file's."""
        return not self.scope


@dataclass(frozen=True)
class NamedModule:
    """A module that no other module contains, by address."""

    node: int
    type_name: str
    parameters: frozenset[Parameter]
    bindings: frozenset[Binding]
    collections: frozenset[Binding]
    """Attributes by which lists and dicts go that it is in."""
    lists: frozenset[Binding]
    """Variables by which such go."""
    is_element: bool
    """A list, dict or tuple has it, whatever it goes by."""
    is_called: bool
    """Its forward is being entered or runs."""
    was_called: bool
    """It was called since the census before, as far as that was watched."""
    optimizers: frozenset[int]
    """Addresses of the optimizers that have its parameters."""


def name_that_went(ordered: Sequence[View], address: int) -> str:
    """The attribute by which a module went that nothing has by name any more, nor any container; "" where there is one.

    Its owner may be gone too, or hold no memory any more, which a census does not tell apart.
    """
    names = [_names_of(view, address) for view in ordered]
    if names[-1]:
        return ""
    attributes = ({name.label for name in found if name.is_attribute} for found in reversed(names))
    return min(next(filter(None, attributes), {""}))


def named_modules(view: View) -> dict[int, NamedModule]:
    """Modules by address that are not part of another module, with their names and parameters."""
    graph = view.graph
    found = {}
    tensors = parameter_tensors(graph)
    without = np.isin(graph.census.references.kind, PASSING_BY)
    for node in module_nodes(graph):
        if is_inside_module(graph, node):
            continue
        below = reach(graph, np.array([node]), without=without)
        parameters = frozenset(
            (address, size, graph.identity_of_storage[storage]) for address, size, storage in tensors if below[storage]
        )
        if parameters:
            bindings = frozenset(_bindings(view, node))
            containers = _names_of_containers(view, node)
            was_called = bool(graph.census.nodes.flags[node] & (CALLED | CALLED_BY_ANY))
            found[int(graph.census.nodes.address[node])] = NamedModule(
                node,
                graph.type_names[node],
                parameters,
                bindings,
                frozenset(name for name in containers if name.is_attribute),
                frozenset(name for name in containers if not name.is_attribute),
                _is_element(view, node),
                _is_called(graph, node),
                was_called,
                _optimizers(graph, below),
            )
    return found


def carriers_of(view: View, modules: dict[int, NamedModule]) -> dict[int, NamedModule]:
    """Objects of the program that alone have a name for some module: a pipeline, a session. Their names are its own."""
    found: dict[int, NamedModule] = {}
    for module in modules.values():
        owners = {name.owner for name in module.bindings}
        if len(owners) != 1 or not all(name.is_attribute for name in module.bindings):
            continue
        (address,) = owners
        at = np.flatnonzero((view.census.nodes.address == address) & (view.census.nodes.kind == NodeKind.OBJECT))
        if address in modules or len(at) != 1 or not view.paths.held_by_root(int(at[0])):
            continue
        node, known = int(at[0]), found.get(address, module)
        found[address] = dataclasses.replace(
            module,
            node=node,
            parameters=module.parameters | known.parameters,
            bindings=frozenset(_bindings(view, node)),
            collections=frozenset(_collections(view, node)),
            lists=frozenset(),
            is_element=_is_element(view, node),
            is_called=module.is_called or known.is_called or _is_called(view.graph, node),
            was_called=module.was_called or known.was_called,
            optimizers=module.optimizers | known.optimizers,
        )
    return found


def _names_of(view: View, address: int) -> list[Binding]:
    nodes = np.flatnonzero(view.census.nodes.address == address).tolist()
    return [name for node in nodes for name in (*_bindings(view, node), *_names_of_containers(view, node))]


def _is_called(graph: Graph, node: int) -> bool:
    """torch's own call of the module, or a forward of it, is running."""
    references, nodes = graph.census.references, graph.census.nodes
    return any(
        references.kind[r] == ReferenceKind.LOCAL
        and graph.labels[r] == "self"
        and nodes.kind[references.source[r]] == NodeKind.FRAME
        for r in graph.references_to(node)
    )


def _optimizers(graph: Graph, below: Bools) -> frozenset[int]:
    """Addresses of the optimizers with a parameter among the nodes `below` a module."""
    storages = graph.census.storages
    parameters = storages.node[(storages.role == Role.PARAMETER) & below[storages.node]]
    above = ancestors(graph, parameters, without=np.isin(graph.census.references.kind, PASSING_BY))
    objects = np.flatnonzero(above & (graph.census.nodes.kind == NodeKind.OBJECT)).tolist()
    return frozenset(int(graph.census.nodes.address[node]) for node in objects if ".optim." in graph.type_names[node])


def _bindings(view: View, node: int) -> list[Binding]:
    """Names that variables and the user's own objects have for a module, each owner reached from a root."""
    return [name for reference in view.graph.references_to(node) for name in _names_for(view, reference)]


def _collections(view: View, node: int) -> list[Binding]:
    """Attributes of the user's own objects by which plain containers go that a module is in."""
    return [name for name in _names_of_containers(view, node) if name.is_attribute]


def _names_of_containers(view: View, node: int) -> list[Binding]:
    graph = view.graph
    containers = _containers(graph, node)
    return [name for owner in containers for above in graph.references_to(owner) for name in _names_for(view, above)]


def _is_element(view: View, node: int) -> bool:
    return any(view.paths.held_by_root(container) for container in _containers(view.graph, node))


def _containers(graph: Graph, node: int) -> set[int]:
    """Lists, dicts, sets and tuples that a module is in."""
    references = graph.census.references
    return {
        int(references.source[reference])
        for reference in graph.references_to(node)
        if references.kind[reference] in ELEMENT_REFERENCES
        and not graph.instance_tables[int(references.source[reference])]
    }


def _names_for(view: View, reference: int) -> list[Binding]:
    graph, references = view.graph, view.census.references
    owner = int(references.source[reference])
    if graph.library[owner] or not view.paths.held_by_root(owner):
        return []
    if references.kind[reference] in VARIABLES and view.census.nodes.kind[owner] in ROOT_KINDS:
        scope = view.census.text(int(view.census.nodes.name[owner])) or "<module>"
        return [Binding(int(view.census.nodes.address[owner]), graph.labels[reference], scope)]
    name = attribute_name(graph, reference)
    instance = instance_of(graph, owner)
    address = int(view.census.nodes.address[instance])
    return [Binding(address, name, type_name=graph.type_names[instance])] if name else []
