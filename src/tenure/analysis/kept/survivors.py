"""Modules that were let go and live on: a name for them is gone, the memory is not."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.carriers import by_an_attribute, by_the_functions_name, drop_the_carrier, with_parts
from tenure.analysis.heap.cuts import LARGEST_CUT, freed_storages
from tenure.analysis.heap.graph import ELEMENT_REFERENCES, Bools, Graph, ancestors, reach
from tenure.analysis.heap.groups import View, fingerprint_of, in_program_order, series_of_nodes
from tenure.analysis.heap.held_group import Group, cut_of
from tenure.analysis.heap.holders import Droppable
from tenure.analysis.heap.modules import all_tensors, is_inside_module, module_nodes, parameter_tensors
from tenure.analysis.heap.wording import attribute_name
from tenure.model.heap import CALLED, CALLED_BY_ANY, ROOT_KINDS, Ints, NodeKind, ReferenceKind, Role
from tenure.model.suspect import Suspect

_VARIABLES = (ReferenceKind.LOCAL, ReferenceKind.GLOBAL)
_WEIGHTS = (Role.PARAMETER, Role.BUFFER)
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
    """A direct name of a module: `owner` is the address of the object or root that has the name, `scope` the
    function or module where the name is a variable, `type_name` the owner's where it is an attribute. An address alone
    may serve one call, or one object, after another."""

    owner: int
    label: str
    scope: str = ""
    type_name: str = ""

    @property
    def is_attribute(self) -> bool:
        return not self.scope


_Parameter = tuple[int, int, int]
"""A tensor by its address, its bytes, and the number of its storage."""


@dataclass(frozen=True)
class _Module:
    """A module that no other module contains, by address."""

    node: int
    type_name: str
    parameters: frozenset[_Parameter]
    bindings: frozenset[_Binding]
    collections: frozenset[_Binding]
    """Attributes by which lists and dicts go that it is in."""
    lists: frozenset[_Binding]
    """Variables by which such go."""
    is_element: bool
    """A list, dict or tuple has it, whatever it goes by."""
    is_called: bool
    """Its forward is being entered or runs."""
    was_called: bool
    """It was called since the census before, as far as that was watched."""
    optimizers: frozenset[int]
    """Addresses of the optimizers that have its parameters."""


@dataclass(frozen=True)
class _Release:
    """What was let go between two censuses: its parameters, and the names that went."""

    parameters: frozenset[_Parameter]
    type_name: str
    gone: frozenset[_Binding]
    step: int
    position: int
    """Of the first census without the names."""
    list_only: bool = False
    """No name of the module's own went, but a variable for a list or dict that it was in."""

    @property
    def name(self) -> str:
        return min(
            self.gone, key=lambda binding: (not binding.is_attribute, binding.label == "self", binding.label)
        ).label

    @property
    def is_attribute(self) -> bool:
        return any(binding.is_attribute for binding in self.gone)


def find_survivors(views: Sequence[View]) -> tuple[Suspect, ...]:
    """Suspects of symptom "survivor": modules that lost the name they went by while something else keeps them.

    An attribute or a variable set to None or deleted, while its owner lives on, says that the module was to go,
    whatever other names remain; so does an optimizer that gave way to another which took only the rest of its
    modules over. A variable that went with its function says nothing. A module that moved to a new name, that is
    called again, that an optimizer still has or that became part of another module is in use. A variable's list of
    modules counts where it was emptied at once and nothing has any of them by name. Of a module that only
    another object of the program has a name for (a pipeline's, a session's) that object's names are looked at too.
    """
    ordered = in_program_order(views)
    if len(ordered) < 2:
        return ()
    found = [_modules(view) for view in ordered]
    carriers = [_carriers(view, modules) for view, modules in zip(ordered, found, strict=True)]
    last, suspects = ordered[-1], []
    for address, release in _final_releases(ordered, found):
        nodes = _alive_parameters(last, release)
        if len(nodes) and not _is_in_use(last, _same(found[-1], address, release.type_name), nodes, found[-1]):
            suspects.append(_suspect(ordered, last, release, nodes))
    for address, release in _final_releases(ordered, carriers):
        nodes = _alive_parameters(last, release)
        others = {at: each for at, each in found[-1].items() if {name.owner for name in each.bindings} != {address}}
        mine = carriers[-1].get(address)
        if len(nodes) and mine is not None and not _is_in_use(last, mine, nodes, others | carriers[-1]):
            suspects.append(_suspect(ordered, last, release, nodes, carrier=mine.node))
    return tuple(suspects)


def name_that_went(ordered: Sequence[View], address: int) -> str:
    """The attribute by which a module went that nothing has by name any more, nor any container; "" where there is one.

    Its owner may be gone too, or hold no memory any more, which a census does not tell apart.
    """
    names = [_names_of(view, address) for view in ordered]
    if names[-1]:
        return ""
    attributes = ({name.label for name in found if name.is_attribute} for found in reversed(names))
    return min(next(filter(None, attributes), {""}))


def _names_of(view: View, address: int) -> list[_Binding]:
    nodes = np.flatnonzero(view.census.nodes.address == address).tolist()
    return [name for node in nodes for name in (*_bindings(view, node), *_names_of_containers(view, node))]


def _final_releases(ordered: Sequence[View], found: Sequence[dict[int, _Module]]) -> list[tuple[int, _Release]]:
    """What was let go for good, by address."""
    releases: dict[int, _Release] = {}
    called: set[int] = set()
    for at, (before_modules, after_modules) in enumerate(pairwise(found), start=1):
        called |= {address for address, module in before_modules.items() if module.is_called or module.was_called}
        for address, module in before_modules.items():
            release = _find_release(
                ordered[at], at, address, module, _same(after_modules, address, module.type_name)
            ) or _find_left_behind(ordered[at], at, address, before_modules, after_modules)
            if release is not None and (release.is_attribute or address in called):
                releases.setdefault(address, release)
    final = {at: each for at, each in sorted(releases.items()) if _is_final(each, at, ordered, found)}
    return [(at, each) for at, each in final.items() if not each.list_only] + _whole_lists(final, found)


def _same(modules: Mapping[int, _Module], address: int, type_name: str) -> _Module | None:
    """The module at an address, where that is not one of another class that came there after it."""
    found = modules.get(address)
    return found if found is not None and found.type_name == type_name else None


def _whole_lists(final: Mapping[int, _Release], found: Sequence[dict[int, _Module]]) -> list[tuple[int, _Release]]:
    """One release for each list all of which was let go; what is taken out one by one goes on to somebody."""
    lists: dict[tuple[frozenset[_Binding], int], dict[int, _Release]] = {}
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


def _carriers(view: View, modules: dict[int, _Module]) -> dict[int, _Module]:
    """Objects of the program that alone have a name for some module: a pipeline, a session. Their names are its own."""
    found: dict[int, _Module] = {}
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


def _modules(view: View) -> dict[int, _Module]:
    """Modules by address that are not part of another module, with their names and parameters."""
    graph = view.graph
    found = {}
    tensors = parameter_tensors(graph)
    for node in module_nodes(graph):
        if is_inside_module(graph, node):
            continue
        below = reach(graph, np.array([node]), without=np.isin(graph.census.references.kind, _PASSING))
        parameters = frozenset(
            (address, size, _identity(graph, storage)) for address, size, storage in tensors if below[storage]
        )
        if parameters:
            bindings = frozenset(_bindings(view, node))
            containers = _names_of_containers(view, node)
            was_called = bool(graph.census.nodes.flags[node] & (CALLED | CALLED_BY_ANY))
            found[int(graph.census.nodes.address[node])] = _Module(
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
    above = ancestors(graph, parameters, without=np.isin(graph.census.references.kind, _PASSING))
    objects = np.flatnonzero(above & (graph.census.nodes.kind == NodeKind.OBJECT)).tolist()
    return frozenset(int(graph.census.nodes.address[node]) for node in objects if ".optim." in graph.type_names[node])


def _bindings(view: View, node: int) -> list[_Binding]:
    """Names that variables and the user's own objects have for a module, each owner reached from a root."""
    return [name for reference in view.graph.references_to(node) for name in _names_for(view, reference)]


def _collections(view: View, node: int) -> list[_Binding]:
    """Attributes of the user's own objects by which plain containers go that a module is in."""
    return [name for name in _names_of_containers(view, node) if name.is_attribute]


def _names_of_containers(view: View, node: int) -> list[_Binding]:
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


def _names_for(view: View, reference: int) -> list[_Binding]:
    graph, references = view.graph, view.census.references
    owner = int(references.source[reference])
    if graph.library[owner] or not view.paths.held_by_root(owner):
        return []
    if references.kind[reference] in _VARIABLES and view.census.nodes.kind[owner] in ROOT_KINDS:
        scope = view.census.text(int(view.census.nodes.name[owner])) or "<module>"
        return [_Binding(int(view.census.nodes.address[owner]), graph.labels[reference], scope)]
    name = attribute_name(graph, reference)
    instance = _instance(graph, owner)
    address = int(view.census.nodes.address[instance])
    return [_Binding(address, name, type_name=graph.type_names[instance])] if name else []


def _instance(graph: Graph, owner: int) -> int:
    """The object whose `__dict__` or module table `owner` is, else `owner` itself."""
    references = graph.census.references
    while graph.instance_tables[owner]:
        above = graph.references_to(owner)
        if not above:
            return owner
        owner = int(references.source[above[0]])
    return owner


def _find_release(after: View, at: int, address: int, module: _Module, still: _Module | None) -> _Release | None:
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
        return _Release(module.parameters, module.type_name, gone, after.census.step, at)
    lists = still.lists if still is not None else frozenset()
    gone = frozenset(name for name in module.lists - lists if _has_owner(after, name) and not _is_bound(after, name))
    if not gone or remaining or {name.scope for name in lists} & {name.scope for name in gone}:
        return None
    return _Release(module.parameters, module.type_name, gone, after.census.step, at, list_only=True)


def _find_left_behind(
    after: View, at: int, address: int, before_modules: dict[int, _Module], after_modules: dict[int, _Module]
) -> _Release | None:
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
    return _Release(module.parameters, module.type_name, module.bindings, after.census.step, at)


def _is_final(release: _Release, address: int, views: Sequence[View], found: Sequence[dict[int, _Module]]) -> bool:
    """No name came back and no new one came, and the module was not called again; a variable, that goes and comes
    within every step, must stay away for two."""
    if not release.is_attribute and len({view.census.step for view in views[release.position :]}) < 2:
        return False
    before = found[release.position - 1][address]
    gone = _lasting(release.gone)
    known = _lasting(before.bindings | before.collections | before.lists) - gone
    later = ((at, _same(found[at], address, before.type_name)) for at in range(release.position, len(found)))
    for at, module in ((at, module) for at, module in later if module is not None):
        used = module.is_called or (module.was_called and at > release.position)
        names = _lasting(module.bindings | module.collections | module.lists)
        new_attributes = {name for name in names - known if isinstance(name[0], int)}
        if used or names & gone or new_attributes:
            return False
    return True


def _lasting(bindings: frozenset[_Binding]) -> set[tuple[int | str, str]]:
    """Names as they are called again in another census: by owner, or by function where the owner is one call of it."""
    return {(binding.scope or binding.owner, binding.label) for binding in bindings}


def _has_owner(view: View, binding: _Binding) -> bool:
    """Whether the object, or the call of the function, that had the name is still there."""
    nodes = view.census.nodes
    owners = np.flatnonzero(nodes.address == binding.owner).tolist()
    if binding.is_attribute:
        return any(view.graph.type_names[owner] == binding.type_name for owner in owners)
    return any((view.census.text(int(nodes.name[owner])) or "<module>") == binding.scope for owner in owners)


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


def _identity(graph: Graph, storage: int) -> int:
    return int(graph.census.storage_identities[graph.storage_row[storage]])


def _alive_parameters(view: View, release: _Release) -> Ints:
    """Storages of those of its parameters that are still there: in the memory that they had, be it for a view of it
    alone, or moved to other. What else than weights has a tensor of their address and size, but other memory, came
    after them."""
    graph, roles = view.graph, view.census.storages.role
    moved = {(address, size) for address, size, _ in release.parameters}
    same = {identity for _, _, identity in release.parameters}
    alive = [
        node
        for address, size, node in all_tensors(graph)
        if _identity(graph, node) in same or ((address, size) in moved and roles[graph.storage_row[node]] in _WEIGHTS)
    ]
    nodes = np.array(sorted(set(alive)), dtype=np.int64)
    return nodes[[view.paths.held_by_root(node) for node in nodes.tolist()]] if len(nodes) else nodes


def _is_in_use(view: View, mine: _Module | None, nodes: Ints, modules: dict[int, _Module]) -> bool:
    """Another module than the released one contains the parameters, or an optimizer updates them for that one, which is
    still there."""
    others = (module for module in modules.values() if module is not mine and _has_name(module))
    if any(_reaches(view, module.node, nodes) for module in others):
        return True
    return mine is not None and bool(mine.optimizers & _optimizers_at_hand(view))


def _optimizers_at_hand(view: View) -> set[int]:
    """Addresses of objects to which more leads than elements of tables that a library's objects have: nobody gets at
    one of those to step it."""
    hidden = _elements_of_library_tables(view)
    return set(view.census.nodes.address[reach(view.graph, view.graph.roots, without=hidden)].tolist())


def _elements_of_library_tables(view: View) -> Bools:
    """Per reference: an element of a container that a library's object has as an attribute."""
    graph, references = view.graph, view.census.references
    elements = np.isin(references.kind, ELEMENT_REFERENCES)
    tables = {
        int(references.target[reference])
        for reference in np.flatnonzero(np.isin(references.target, np.unique(references.source[elements]))).tolist()
        if attribute_name(graph, reference) and graph.library[_instance(graph, int(references.source[reference]))]
    }
    return np.asarray(elements & np.isin(references.source, sorted(tables)), dtype=bool)


def _out_of_library_tables(view: View, nodes: Ints) -> tuple[Droppable, ...]:
    """The elements of a library's outermost tables that have to go so that `nodes` are freed; none where that is not
    enough."""
    graph, references, hidden = view.graph, view.census.references, _elements_of_library_tables(view)
    targets, without = references.target, np.isin(references.kind, _PASSING)
    outer = reach(graph, graph.roots, without=hidden)[references.source]
    elements = np.flatnonzero(hidden & outer).tolist()
    cut = tuple(
        Droppable(element) for element in elements if reach(graph, targets[[element]], without=without)[nodes].any()
    )
    return cut if cut and np.isin(nodes, freed_storages(graph, cut)).all() else ()


def _has_name(module: _Module) -> bool:
    return bool(module.bindings)


def _reaches(view: View, module: int, nodes: Ints) -> bool:
    below = reach(view.graph, np.array([module]), without=np.isin(view.census.references.kind, _PASSING))
    return bool(below[nodes].any())


def _suspect(
    views: Sequence[View], last: View, release: _Release, nodes: Ints, *, carrier: int | None = None
) -> Suspect:
    """`carrier`: the object that went by the released name, and is to go whole, unless it is held in more places than
    what it carries, as a member of an enumeration is."""
    alive = [_alive_parameters(view, release) for view in views]
    series = series_of_nodes(last.census.moment, views, alive)
    group = Group(last, nodes, nodes)
    if carrier is not None:
        whole = dataclasses.replace(group, targets=np.array([carrier]))
        group = min((whole, group), key=lambda each: len(cut_of(each)) or LARGEST_CUT)
    in_tables = _out_of_library_tables(last, nodes) if carrier is None else ()
    held_by = in_tables or by_the_functions_name(last, cut_of(group))
    cut = in_tables or _by_the_carrier(last, held_by, nodes, release)
    found = assemble_suspect(
        dataclasses.replace(group, cut=cut),
        symptom="survivor",
        measured=Measured(
            series=series,
            facts={"released": release.name, "released_step": release.step, "module": release.type_name},
        ),
        fingerprint=fingerprint_of(f"survivor {release.type_name} {release.name}"),
    )
    if in_tables:
        return dataclasses.replace(found, holder=found.cut[0], holder_is_yours=False)
    return by_an_attribute(with_parts(found, last, held_by))


def _by_the_carrier(
    view: View, held_by: tuple[Droppable, ...], nodes: Ints, release: _Release
) -> tuple[Droppable, ...]:
    """What is dropped, by the object's name that has it; not that of one whose own attribute was let go: it stays for
    what else it does."""
    cut = drop_the_carrier(view, held_by, nodes)
    carriers = view.census.nodes.address[[view.census.references.target[dropped.reference] for dropped in cut]]
    releases_itself = {binding.owner for binding in release.gone if binding.is_attribute}
    return held_by if cut != held_by and releases_itself & set(carriers.tolist()) else cut
