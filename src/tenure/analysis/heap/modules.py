"""Modules in a census: recognised by their tables, with the tensors that are their parameters and buffers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

from tenure.analysis.heap.graph import Bools, Graph, labelled, unquoted
from tenure.model.heap import CALLED, CALLED_BY_ANY, ReferenceKind, Role

OWN_TABLES = ("_parameters", "_modules")
"""What a module calls its own parameters, and the modules that are directly inside it."""


def called_at(graph: Graph, flags: int = CALLED | CALLED_BY_ANY) -> set[int]:
    """Addresses of the modules that were called before a census, by the program itself or by whomever."""
    nodes = graph.census.nodes
    return set(nodes.address[(nodes.flags & flags) != 0].tolist())


def module_nodes(graph: Graph) -> list[int]:
    """Objects with a table of parameters or of modules of their own: `torch.nn.Module` by its shape."""
    references = graph.census.references
    named = np.isin(references.kind, (ReferenceKind.ITEM, ReferenceKind.ATTRIBUTE)) & labelled(graph, OWN_TABLES)
    tables = np.unique(references.source[named & graph.instance_tables[references.target]])
    above = (references.kind == ReferenceKind.DICT) & np.isin(references.target, tables)
    without = np.setdiff1d(tables, references.target[above])
    owners: list[int] = np.union1d(references.source[above], without).tolist()
    return owners


def is_inside_module(graph: Graph, node: int) -> bool:
    """Whether another module has this one among its submodules."""
    return any(_is_of_submodule(graph, reference) for reference in graph.references_to(node))


def references_to_submodules(graph: Graph, nodes: Collection[int]) -> Bools:
    """Per reference: a module has one of these nodes as its submodule by it."""
    found = np.zeros(len(graph.census.references.target), dtype=bool)
    for node in nodes:
        for reference in graph.references_to(node):
            found[reference] = _is_of_submodule(graph, reference)
    return found


def _is_of_submodule(graph: Graph, reference: int) -> bool:
    table = int(graph.census.references.source[reference])
    return bool(graph.instance_tables[table]) and any(
        unquoted(graph.labels[above]) == "_modules" for above in graph.references_to(table)
    )


def parameter_tensors(graph: Graph) -> list[tuple[int, int, int]]:
    """Address and bytes of every tensor whose storage is a parameter's or a buffer's, and the storage's node."""
    storages = graph.census.storages
    return _tensors_of(graph, np.flatnonzero(np.isin(storages.role, (Role.PARAMETER, Role.BUFFER))).tolist())


def all_tensors(graph: Graph) -> list[tuple[int, int, int]]:
    """The same of every tensor: whose module is gone, its parameters are plain tensors to whoever still has them."""
    return _tensors_of(graph, range(len(graph.census.storages.node)))


def _tensors_of(graph: Graph, rows: Iterable[int]) -> list[tuple[int, int, int]]:
    storages, references = graph.census.storages, graph.census.references
    found = []
    for row in rows:
        node, size = int(storages.node[row]), int(storages.bytes[row])
        for reference in graph.references_to(node):
            if references.kind[reference] == ReferenceKind.STORAGE:
                found.append((int(graph.census.nodes.address[references.source[reference]]), size, node))
    return found


def children_of_modules(graph: Graph) -> dict[int, list[int]]:
    """Every module with the modules that are directly inside it."""
    references = graph.census.references
    modules = module_nodes(graph)
    known = set(modules)
    found: dict[int, list[int]] = {module: [] for module in modules}
    for module in modules:
        for table in _tables(graph, module, "_modules"):
            inside = graph.references_from(table)
            found[module] += [int(references.target[r]) for r in inside if int(references.target[r]) in known]
    return found


def tables_of_parameters(graph: Graph, modules: Iterable[int]) -> list[int]:
    """The `_parameters` of each of the modules, without those inside them."""
    return [table for module in modules for table in _tables(graph, module, "_parameters")]


def modules_of_all(graph: Graph, tensors: Collection[int]) -> list[int]:
    """The outermost modules all of whose parameters, their parts' included, are among these tensors: those with most of
    them first."""
    children, target = children_of_modules(graph), graph.census.references.target
    own: dict[int, set[int]] = {}
    for module in children:
        tables = tables_of_parameters(graph, [module])
        own[module] = {int(target[r]) for table in tables for r in graph.references_from(table)}
    below = {module: set[int]().union(*(own[part] for part in all_below(children, module))) for module in children}
    whole = {module for module, inner in below.items() if inner and inner <= set(tensors)}
    inside = {child for module in whole for child in children[module]}
    return sorted(whole - inside, key=lambda module: (-len(below[module]), module))


def _tables(graph: Graph, module: int, name: str) -> list[int]:
    """What a module has under one of torch's own names for its tables."""
    own = _targets(graph, module, ReferenceKind.DICT) or [module]
    references = [reference for table in own for reference in graph.references_from(table)]
    named = (reference for reference in references if unquoted(graph.labels[reference]) == name)
    return [int(graph.census.references.target[reference]) for reference in named]


def _targets(graph: Graph, node: int, kind: ReferenceKind) -> list[int]:
    references = graph.census.references
    return [int(references.target[r]) for r in graph.references_from(node) if references.kind[r] == kind]


def all_below(children: Mapping[int, Collection[int]], start: int) -> set[int]:
    """`start` and all that `children` lead to from it."""
    found, waiting = {start}, [start]
    while waiting:
        further = set(children.get(waiting.pop(), ())) - found
        found |= further
        waiting += further
    return found
