"""References that a person can drop, described so that the statement which made them can be found in source."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from tenure.analysis.heap.graph import (
    ELEMENT_REFERENCES,
    MODULE_TABLES,
    Bools,
    Graph,
    is_builtin_type,
    is_hook_table,
    labelled,
    unquoted,
)
from tenure.analysis.heap.hook_functions import called_by_hooks
from tenure.analysis.heap.paths import Paths, path_to
from tenure.analysis.heap.wording import attribute_name, expression, function_of, is_finished_frame, is_merged
from tenure.model.heap import Ints, NodeKind, ReferenceKind
from tenure.model.suspect import HoldingReference

_NAMES = {
    ReferenceKind.LOCAL: "local",
    ReferenceKind.GLOBAL: "global",
    ReferenceKind.CELL: "closure",
    ReferenceKind.DEFAULT: "default",
    ReferenceKind.CACHED: "cache",
    ReferenceKind.HOOK: "hook",
}
INTERNAL_ATTRIBUTES = MODULE_TABLES | {
    "__func__", "__wrapped__", "__self__", "__traceback__", "__context__", "__cause__",
    "tb_frame", "tb_next", "f_back",
}  # fmt: skip
"""Made by the interpreter or by torch, not by a statement."""


THREAD_LOCAL = "_thread._local"
"""The interpreter's own type, whose attributes are the program's."""
TENSOR_HOOKS = "_tensor_hooks"
"""What `Tensor.register_hook` fills; torch's own name for it is the one that modules have for another table."""
HANDLERS = ("signal handler of ", "atexit handler ", "at-fork handler ")
SAVED_BY_FUNCTION = "tensors["
"""How the slots of a custom autograd Function are labelled; those of built-in nodes have names."""
MOST_ALIASES = 8
"""Names of one container that are looked at beside the nearest."""
_CONTENTS = ReferenceKind.CONTENTS


@dataclass(frozen=True)
class Droppable:
    """A reference by number; where `container` is a node, all of its elements count as this one reference."""

    reference: int
    container: int = -1


def find_droppable(graph: Graph) -> Bools:
    """Per reference: one statement of somebody's code made it and can drop it.

    Variables, attributes, closures, defaults, hooks and cached results; a dict's item where the dict has a lasting
    name. Not what torch or the interpreter adds by itself, and not an element of a tuple, list or passing dict:
    there the variable is what a person drops.
    """
    references, nodes = graph.census.references, graph.census.nodes
    source_kind = nodes.kind[references.source]
    strings = (*graph.census.strings, "")
    builtin = np.array([is_builtin_type(text) and text != THREAD_LOCAL for text in strings])[
        nodes.type[references.source]
    ]
    internal = labelled(graph, INTERNAL_ATTRIBUTES)
    internal &= ~labelled(graph, MODULE_TABLES) | graph.instance_tables[references.target]
    frame_type = np.array([text.rpartition(".")[2] == "frame" for text in strings])[nodes.type[references.source]]
    kind = references.kind

    variable = np.isin(
        kind,
        (
            ReferenceKind.GLOBAL,
            ReferenceKind.CELL,
            ReferenceKind.DEFAULT,
            ReferenceKind.HOOK,
            ReferenceKind.CACHED,
        ),
    )
    variable |= (kind == ReferenceKind.LOCAL) & ((source_kind == NodeKind.FRAME) | ~frame_type)
    owned = np.isin(source_kind, (NodeKind.OBJECT, NodeKind.TENSOR, NodeKind.CLASS))
    attribute = (kind == ReferenceKind.ATTRIBUTE) & owned & (~builtin | (source_kind == NodeKind.CLASS))
    item = kind == ReferenceKind.ITEM
    in_table = item & graph.instance_tables[references.source]
    attribute |= in_table & (~_indivisible_tables(graph)[references.source] | _carries_graph(graph)[references.target])
    hidden = (source_kind == NodeKind.HIDDEN) & (kind != ReferenceKind.LOCAL)
    lasting = item & _has_lasting_name(graph, attribute)[references.source]
    return np.asarray(variable | (attribute & ~internal) | hidden | lasting, dtype=bool)


def holding_reference(
    graph: Graph, paths: Paths, dropped: Droppable, *, many: Collection[int] = ()
) -> HoldingReference:
    """A droppable reference in words, with the scope and owner that a search of the source needs."""
    references = graph.census.references
    element = dropped.container >= 0
    owner = dropped.container if element else int(references.source[dropped.reference])
    path = (*path_to(graph, paths, owner), dropped.reference)
    found = _reference_along(graph, path, element, {*many, dropped.container} if element else many)
    if not element:
        return replace(found, aliases=_given_by(graph, path[-2:])) if found.kind in ("local", "item") else found
    aliases = (
        _reference_along(graph, (*other, dropped.reference), element, {*many, dropped.container})
        for other in _other_paths(graph, paths, owner, path[-2:-1])
    )
    return replace(found, aliases=tuple(dict.fromkeys(alias for alias in aliases if alias != found)))


def _given_by(graph: Graph, path: tuple[int, ...]) -> tuple[HoldingReference, ...]:
    """By variables of other running functions of the program, what a variable or an item of one is: where that is a
    parameter, its caller's are among them. `path` ends with the reference, an item's with the two."""
    references, kinds = graph.census.references, graph.census.nodes.kind
    item = path[1:] if references.kind[path[-1]] == ReferenceKind.ITEM else ()
    variable = path[0] if item else path[-1]
    if references.kind[variable] != ReferenceKind.LOCAL:
        return ()
    others = [
        r
        for r in graph.references_to(int(references.target[variable]))
        if r != variable
        and references.kind[r] == ReferenceKind.LOCAL
        and kinds[references.source[r]] == NodeKind.FRAME
        and not graph.library[references.source[r]]
    ]
    return tuple(_reference_along(graph, (r, *item), False, ()) for r in others[:MOST_ALIASES])


def _other_paths(graph: Graph, paths: Paths, container: int, known: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Paths to a container by the other variables and attributes that name it, nearest first."""
    references = graph.census.references
    named = find_droppable(graph) & graph.user_made
    found = []
    for last in graph.references_to(container):
        above = graph.references_to(int(references.source[last])) if references.kind[last] == _CONTENTS else [last]
        for reference in above:
            source = int(references.source[reference])
            if last not in known and named[reference] and paths.reached(source):
                ending = (reference,) if reference == last else (reference, last)
                found.append((int(paths.cost[source]), (*path_to(graph, paths, source), *ending)))
    return [path for _, path in sorted(found)[:MOST_ALIASES]]


def _reference_along(graph: Graph, path: tuple[int, ...], element: bool, many: Collection[int]) -> HoldingReference:
    """The last reference of a path in words; of an `element`, the name that its container goes by on this path."""
    references = graph.census.references
    owner = int(references.source[path[-1]])
    named = _last_named(graph, path[:-1] if element else path)
    text = expression(graph, path, many=many)
    container_type = graph.type_names[owner] if element or is_element(graph, path[-1]) else ""
    if named < 0:
        kind = "hidden" if graph.census.nodes.kind[int(references.source[path[0]])] == NodeKind.HIDDEN else "unknown"
        name = graph.labels[path[0]] or graph.census.text(int(graph.census.nodes.name[int(references.source[path[0]])]))
        if (saving := _saving_function(graph, path)) >= 0:
            return HoldingReference(kind="saved", name="save_for_backward", expression=text or name,
                                    owner_type=graph.type_names[saving])  # fmt: skip
        return HoldingReference(kind=kind, name=name, expression=text or name, element=element,
                                container_type=container_type)  # fmt: skip
    kind, name, owner_type = _describe(graph, path, named)
    file, function, line = _scope(graph, path, named)
    return HoldingReference(
        kind=kind,
        name=name,
        expression=text or name,
        owner_type=owner_type,
        scope_file=file,
        scope_function=function,
        scope_line=line,
        element=element,
        container_type=container_type,
        inside=_nameless_owner(graph, path[named + 1 :]),
        calls=called_by_hooks(graph, owner if element else int(references.target[path[-1]])) if kind == "hook" else "",
    )


def _saving_function(graph: Graph, path: tuple[int, ...]) -> int:
    """The node of a custom Function of a path without names that keeps what it saved for backward: by the path's last
    reference, or as the node that the path starts at, whose graph is behind it; -1 where there is none."""
    references, kinds = graph.census.references, graph.census.nodes.kind
    last, first = int(references.source[path[-1]]), int(references.source[path[0]])
    if _is_saved_by_function(graph, path[-1]):
        return last
    saves = kinds[first] == NodeKind.AUTOGRAD and any(
        _is_saved_by_function(graph, reference) for reference in graph.references_from(first)
    )
    return first if saves else -1


def _is_saved_by_function(graph: Graph, reference: int) -> bool:
    saved = graph.census.references.kind[reference] == ReferenceKind.SAVED
    return bool(saved) and graph.labels[reference].startswith(SAVED_BY_FUNCTION)


def _nameless_owner(graph: Graph, path: tuple[int, ...]) -> str:
    """Type of the object that, along a path, has its container by no name of its own: `itertools.cycle`; "" where all
    is named."""
    references, nodes = graph.census.references, graph.census.nodes
    for reference in path:
        source = int(references.source[reference])
        nameless = references.kind[reference] == ReferenceKind.OTHER and not graph.labels[reference]
        if nameless and nodes.kind[source] == NodeKind.OBJECT:
            return graph.type_names[source]
    return ""


def gradient_reference(graph: Graph, path: tuple[int, ...]) -> HoldingReference | None:
    """The gradient by which a path enters a graph; None where it enters none, or another way.

    `backward(create_graph=True)` makes that reference, and no name in the program stands for it.
    """
    kinds = graph.census.references.kind
    for at, reference in enumerate(path):
        if kinds[reference] == ReferenceKind.GRAD_FN:
            if at and kinds[path[at - 1]] == ReferenceKind.GRAD:
                return HoldingReference(kind="gradient", name="backward", expression=expression(graph, path[:at]))
            return None
    return None


def gradients_with_graph(graph: Graph, of: Ints | None = None) -> tuple[Droppable, ...]:
    """References of tensors to gradients that carry a graph, those of the nodes `of` alone where given: what
    `tensor.grad = None` drops."""
    references = graph.census.references
    found = (references.kind == ReferenceKind.GRAD) & _carries_graph(graph)[references.target]
    if of is not None:
        found &= np.isin(references.source, of)
    return tuple(Droppable(reference) for reference in np.flatnonzero(found).tolist())


def handler_reference(graph: Graph, path: tuple[int, ...]) -> HoldingReference | None:
    """The registration of the signal or exit handler that a path starts at; None where it starts elsewhere.

    Whoever registered the function can take it back; what the function refers to is its own business.
    """
    if not path:
        return None
    nodes, census = graph.census.nodes, graph.census
    root, function = int(graph.census.references.source[path[0]]), int(graph.census.references.target[path[0]])
    text = census.text(int(nodes.name[root]))
    if nodes.kind[root] != NodeKind.HIDDEN or not text.startswith(HANDLERS):
        return None
    name = census.text(int(nodes.name[function])) or text.rpartition(" ")[2].partition(":")[0]
    file = census.text(int(nodes.file[function]))
    return HoldingReference(
        kind="handler", name=name.rpartition(".")[2], expression=text, scope_file=file, scope_line=0
    )


def ring_reference(graph: Graph, reference: int) -> HoldingReference:
    """The reference of a ring that is to be cut; it hangs on no root, so its owner's type must do for a scope."""
    references, nodes, census = graph.census.references, graph.census.nodes, graph.census
    source = int(references.source[reference])
    for above in graph.references_to(source):
        if references.kind[above] == ReferenceKind.DICT:
            source = int(references.source[above])
    name = attribute_name(graph, reference) or graph.labels[reference] or graph.type_names[source]
    if is_finished_frame(graph, source) and references.kind[reference] == ReferenceKind.LOCAL:
        return HoldingReference(
            kind="local",
            name=name,
            expression=name,
            scope_file=census.text(int(nodes.file[source])),
            scope_function=census.text(int(nodes.name[source])),
            scope_line=max(0, int(nodes.line[source])),
        )
    of_closure = references.kind[reference] == ReferenceKind.CELL
    return HoldingReference(
        kind="closure" if of_closure else "cycle",
        name=name,
        expression=name if of_closure else f"{graph.type_names[source].rpartition('.')[2]}.{name}",
        owner_type=graph.type_names[source],
        scope_file=census.text(int(nodes.file[source])),
        scope_function=census.text(int(nodes.name[source])),
        scope_line=max(0, int(nodes.line[source])),
    )


def innermost_droppable(graph: Graph, droppable: Bools, path: tuple[int, ...], many: Collection[int]) -> Droppable:
    """The last reference of a path that a person can drop, outside of any autograd graph where there is one."""
    kinds, sources = graph.census.references.kind, graph.census.references.source
    outside = len(path)
    for position, reference in enumerate(path):
        if kinds[reference] == ReferenceKind.GRAD_FN:
            outside = position
            break
    for reference in reversed(path[:outside] or path):
        source = int(sources[reference])
        if source in many and kinds[reference] in ELEMENT_REFERENCES:
            return Droppable(reference, source)
        if droppable[reference]:
            return Droppable(reference)
    return Droppable(path[0])


def _indivisible_tables(graph: Graph) -> Bools:
    """Per node: a module's table of parameters, buffers or submodules, or the attributes of an autograd node.

    A module is dropped whole, not in parts; and so is a graph."""
    references = graph.census.references
    tables = graph.instance_tables.copy()
    of_objects = graph.census.nodes.kind[references.source] != NodeKind.AUTOGRAD
    tables[references.target[(references.kind == ReferenceKind.DICT) & of_objects]] = False
    return tables


def _carries_graph(graph: Graph) -> Bools:
    """Per node: a tensor made by a recorded operation. Among a module's buffers it is there by an assignment of the
    user's, made again in every step: the module is not to blame, the statement is."""
    references = graph.census.references
    made = np.zeros(graph.size, dtype=bool)
    made[references.source[references.kind == ReferenceKind.GRAD_FN]] = True
    return made


def _has_lasting_name(graph: Graph, attribute: Bools) -> Bools:
    """Per node: a plain dict that an attribute or a global holds, directly."""
    references = graph.census.references
    lasting = attribute | np.isin(references.kind, (ReferenceKind.GLOBAL, ReferenceKind.CONTENTS))
    local = references.kind == ReferenceKind.LOCAL
    named = np.zeros(graph.size, dtype=bool)
    named[references.target[lasting]] = True
    named[references.target[local]] = False
    return named & ~graph.instance_tables


def _last_named(graph: Graph, path: tuple[int, ...]) -> int:
    """Position of the last reference that has a name of its own; -1 where none has."""
    for position in range(len(path) - 1, -1, -1):
        reference = path[position]
        kind = ReferenceKind(int(graph.census.references.kind[reference]))
        if kind in _NAMES or attribute_name(graph, reference):
            return position
        if kind == ReferenceKind.ITEM and not is_merged(graph, reference) and position == len(path) - 1:
            return position
    return -1


def _describe(graph: Graph, path: tuple[int, ...], position: int) -> tuple[str, str, str]:
    """Kind, name and owner type of the reference at `position`."""
    reference = path[position]
    kind = ReferenceKind(int(graph.census.references.kind[reference]))
    label, nodes = graph.labels[reference], graph.census.nodes
    if kind == ReferenceKind.HOOK and nodes.kind[graph.census.references.source[reference]] == NodeKind.TENSOR:
        return "hook", TENSOR_HOOKS, ""
    if kind == ReferenceKind.GLOBAL and graph.hook_tables[graph.census.references.target[reference]]:
        return "hook", label, ""
    attribute = attribute_name(graph, reference)
    owner = _owner(graph, path, position)
    above = graph.labels[path[position - 1]] if position else ""
    if is_hook_table(unquoted(above)):
        return "hook", unquoted(above), graph.type_names[_owner(graph, path, position - 1)]
    if attribute and nodes.kind[owner] == NodeKind.CLASS:
        return "class", attribute, graph.census.text(int(nodes.name[owner])) or graph.type_names[owner]
    if attribute:
        return ("hook" if is_hook_table(attribute) else "attribute"), attribute, graph.type_names[owner]
    if kind == ReferenceKind.ITEM:
        holder = _last_named(graph, path[:position])
        name = _describe(graph, path, holder)[1] if holder >= 0 else ""
        return "item", f"{name}[{label}]", graph.type_names[owner]
    if kind in (ReferenceKind.CELL, ReferenceKind.DEFAULT, ReferenceKind.CACHED):
        function = function_of(graph, path, position)
        qualname = graph.census.text(int(nodes.name[function]))
        if kind == ReferenceKind.CACHED and qualname:
            return _NAMES[kind], qualname.rpartition(".")[2], graph.type_names[function]
        return _NAMES[kind], label or qualname, graph.type_names[function]
    return _NAMES[kind], label, ""


def _scope(graph: Graph, path: tuple[int, ...], position: int) -> tuple[str, str, int]:
    """File, function and line of the nearest frame, function, class or module that the path comes through."""
    nodes, census = graph.census.nodes, graph.census
    for at in range(position, -1, -1):
        source = function_of(graph, path, at)
        kind = nodes.kind[source]
        if nodes.file[source] < 0:
            continue
        file = census.text(int(nodes.file[source]))
        if kind == NodeKind.NAMESPACE:
            return file, "<module>", 0
        return file, census.text(int(nodes.name[source])), max(0, int(nodes.line[source]))
    return "", "", 0


def _owner(graph: Graph, path: tuple[int, ...], position: int) -> int:
    """The object that a reader would name as the owner: above any `__dict__` or module table."""
    while position and is_merged(graph, path[position - 1]):
        position -= 1
    return int(graph.census.references.source[path[position]])


def is_element(graph: Graph, reference: int) -> bool:
    """Whether a reference is one of many of a container, and no attribute in an object's table."""
    kind = graph.census.references.kind[reference]
    source = int(graph.census.references.source[reference])
    return bool(kind in ELEMENT_REFERENCES and not graph.instance_tables[source])
