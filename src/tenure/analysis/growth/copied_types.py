"""Whether what collects is copies: modules, metrics or state dicts, by themselves, in records, or behind closures."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from tenure.analysis.heap.graph import MODULE_TABLES, is_builtin_type, own_references, unquoted
from tenure.analysis.heap.groups import View, owners_of
from tenure.analysis.heap.storage_facts import storage_rows
from tenure.model.heap import Ints, NodeKind, ReferenceKind, Role

MOSTLY = 0.9
"""Share of the bytes from which what is collected counts as modules."""
_CALLABLES = ("method", "function", "functools.partial", "partial", "cell", "builtin_function_or_method")
_METRIC = re.compile(r"Metric|Meter|Matrix|Accuracy|Precision|Recall|(?<![A-Za-z])F1|AUROC|Jaccard|IoU")
_STATE_KEY = re.compile(r"(\w+\.)+\w+|weight|bias|running_(mean|var)|num_batches_tracked")


def copied_type(view: View, members: Ints, nodes: Ints) -> str:
    """The type of the members where they are modules, metrics or state dicts; "" for any other class of objects.

    A module has parameters or buffers of its own, or a module's tables; a metric says so by its name; a state dict's
    keys are dotted names. What only leads to a module, as a loader does whose collator uses it, is no copy of one.
    """
    types = view.graph.type_names
    objects = [node for node in members.tolist() if view.census.nodes.kind[node] == NodeKind.OBJECT]
    names = {types[node] for node in objects}
    if len(names) != 1 or len(objects) * 2 < len(members):
        return ""
    name = str(next(iter(names)))
    if is_builtin_type(name):
        if all(_is_state_dict(view, node) for node in objects):
            return name
        return _type_inside(view, objects) or _type_below(view, members, nodes)
    tensors = _parameters_among(view, nodes)
    is_copy = any(has_module_tables(view, node) or _carries(view, node, tensors) for node in objects)
    return name if is_copy or _METRIC.search(name.rpartition(".")[2]) else ""


def _parameters_among(view: View, nodes: Ints) -> set[int]:
    """Tensors that are parameters or buffers, by their storages among `nodes`."""
    rows = storage_rows(view, nodes)
    owned = np.isin(view.census.storages.role[rows], (Role.PARAMETER, Role.BUFFER))
    return set(owners_of(view, view.census.storages.node[rows[owned]]).tolist())


def _carries(view: View, node: int, tensors: Collection[int]) -> bool:
    """Whether an attribute of an object is a module, or one of `tensors`, or a plain container with such elements. A
    bound method, a function or a partial is neither: it uses what it leads to."""
    attributes = _values(view, node)
    types = view.graph.type_names
    containers = (each for each in attributes if is_builtin_type(types[each]) and types[each] not in _CALLABLES)
    inside = [value for each in containers for value in _values(view, each)]
    return any(each in tensors or has_module_tables(view, each) for each in (*attributes, *inside))


def _values(view: View, node: int) -> list[int]:
    """What an object's attributes, or a container's elements, are."""
    references = view.census.references
    made = own_references(view.graph, node)
    return [int(references.target[r]) for r in made if references.kind[r] != ReferenceKind.DICT]


def _type_inside(view: View, holders: Sequence[int]) -> str:
    """The type of the modules or state dicts that lie in tuples, lists or dicts, one in each: `(score, model)`."""
    graph, kinds = view.graph, view.census.nodes.kind
    targets = {int(view.census.references.target[r]) for node in holders for r in graph.references_from(node)}
    objects = [node for node in sorted(targets) if kinds[node] == NodeKind.OBJECT]
    copies = [node for node in objects if has_module_tables(view, node) or _is_state_dict(view, node)]
    names = {graph.type_names[node] for node in copies}
    return names.pop() if len(names) == 1 and len(copies) >= len(holders) else ""


def _type_below(view: View, members: Ints, nodes: Ints) -> str:
    """The type of the outermost modules that the members lead to by any way, a closure for example, where parameters
    and buffers are all that weighs."""
    rows = storage_rows(view, nodes)
    sizes, roles = view.census.storages.bytes[rows], view.census.storages.role[rows]
    of_modules = int(sizes[np.isin(roles, (Role.PARAMETER, Role.BUFFER))].sum())
    if of_modules < MOSTLY * int(sizes.sum()):
        return ""
    inside, tops = set(nodes.tolist()) - set(members.tolist()), set()
    for node in inside:
        if view.census.nodes.kind[node] == NodeKind.OBJECT and has_module_tables(view, node):
            above = _owners_up(view, node, inside)
            if not any(has_module_tables(view, each) for each in above):
                tops.add(view.graph.type_names[node])
    return str(tops.pop()) if len(tops) == 1 else ""


def _owners_up(view: View, node: int, inside: Collection[int]) -> list[int]:
    """The nodes from which the node's path comes, as long as they are `inside`."""
    found = []
    while (parent := int(view.paths.parent[node])) >= 0:
        node = int(view.census.references.source[parent])
        if node not in inside:
            break
        found.append(node)
    return found


def _is_state_dict(view: View, node: int) -> bool:
    """A dict whose keys are dotted names: `fc.weight`, or of a single layer `weight` and `bias`.

    Weights that a recorded operation has made, as those adapted to a task, are results and no copies."""
    graph, references = view.graph, view.census.references
    items = [r for r in graph.references_from(node) if references.kind[r] == ReferenceKind.ITEM]
    keys = [unquoted(graph.labels[r]) for r in items]
    named = bool(keys) and all(_STATE_KEY.fullmatch(key) for key in keys)
    return named and not any(_has_graph(view, int(references.target[r])) for r in items)


def _has_graph(view: View, tensor: int) -> bool:
    kinds = view.census.references.kind
    return any(kinds[r] == ReferenceKind.GRAD_FN for r in view.graph.references_from(tensor))


def has_module_tables(view: View, node: int) -> bool:
    """Whether an object keeps parameters, buffers or submodules as `torch.nn.Module` does."""
    graph = view.graph
    return any(unquoted(graph.labels[r]) in MODULE_TABLES for r in own_references(graph, node))
