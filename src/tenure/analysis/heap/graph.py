"""A census as a graph: who refers to whom, both ways, and which references the user's own code made."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tenure.model.heap import (
    NAMED_BY_LIBRARY,
    OWNER_UNKNOWN,
    ROOT_KINDS,
    Census,
    Ints,
    NodeKind,
    ReferenceKind,
)

Bools = npt.NDArray[np.bool_]

GRAPH_REFERENCES = (
    ReferenceKind.GRAD_FN,
    ReferenceKind.NEXT,
    ReferenceKind.SAVED,
)
PASSING_BY = (*GRAPH_REFERENCES, ReferenceKind.GRAD, ReferenceKind.BASE, ReferenceKind.HOOK)
"""References that use a module's memory, or hang on it, and do not own it."""
IMPLICIT_REFERENCES = (
    *GRAPH_REFERENCES,
    ReferenceKind.CONTENTS,
    ReferenceKind.DICT,
    ReferenceKind.STORAGE,
    ReferenceKind.BASE,
    ReferenceKind.GRAD,
    ReferenceKind.NATIVE,
)
_NATIVE_OWNERS = (*GRAPH_REFERENCES, ReferenceKind.GRAD, ReferenceKind.BASE, ReferenceKind.NATIVE)
ELEMENT_REFERENCES = (ReferenceKind.ITEM, ReferenceKind.INDEX, ReferenceKind.MEMBER, ReferenceKind.CACHED)
MODULE_TABLES = frozenset({"_modules", "_parameters", "_buffers"})
LISTS_OF_MODULES = frozenset(
    f"torch.nn.modules.container.{name}" for name in ("ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
)

_INSTALLED = frozenset({
    "torch", "torchvision", "torchaudio", "functorch", "triton", "numpy", "scipy", "pandas",
    "sklearn", "transformers", "accelerate", "diffusers", "datasets", "tokenizers",
    "huggingface_hub", "safetensors", "peft", "trl", "lightning", "pytorch_lightning",
    "lightning_fabric", "lightning_utilities", "torchmetrics", "ignite", "composer", "deepspeed",
    "timm", "einops", "tqdm", "wandb", "tensorboard", "matplotlib", "PIL", "cv2", "ray", "joblib",
    "IPython", "ipykernel", "zmq", "_pytest", "pytest", "pluggy", "tenure", "rich", "click",
    "networkx", "sympy",
})  # fmt: skip
_BUILTINS = frozenset({"builtins", "collections", "types", "functools", "weakref", "_weakref", "itertools", "_thread"})
_LIBRARIES = (_INSTALLED | sys.stdlib_module_names) - _BUILTINS
_CALLED = ("__wrapped__", "__func__", "__self__", "func")
_MOST_WRAPPERS = 8
_LIBRARY_FOLDERS = ("site-packages", "dist-packages", "/lib/python3", "\\lib\\", "<frozen")


@dataclass(frozen=True)
class Graph:
    """A census with its references sorted by source (`out`) and by target (`into`).

    `out[out_start[n]:out_start[n + 1]]` are the numbers of the references that node `n` makes.
    """

    census: Census
    out: Ints
    out_start: Ints
    into: Ints
    into_start: Ints

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.census.nodes.kind)

    @cached_property
    def roots(self) -> Ints:
        """Nodes that are alive by themselves: frames, namespaces, classes, hidden roots."""
        return np.flatnonzero(np.isin(self.census.nodes.kind, ROOT_KINDS))

    @cached_property
    def type_names(self) -> tuple[str, ...]:
        """Qualified type name of every node, without `builtins.`."""
        names = [text.removeprefix("builtins.") for text in self.census.strings]
        names.append("")
        return tuple(names[position] for position in self.census.nodes.type.tolist())

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Label of every reference."""
        strings = (*self.census.strings, "")
        return tuple(strings[position] for position in self.census.references.label.tolist())

    @cached_property
    def instance_tables(self) -> Bools:
        """Per node: a dict whose items are attributes (an instance's `__dict__`, a module's `_parameters`)."""
        tables = np.zeros(self.size, dtype=bool)
        references = self.census.references
        tables[references.target[references.kind == ReferenceKind.DICT]] = True
        named = labelled(self, MODULE_TABLES) & np.isin(references.kind, (ReferenceKind.ITEM, ReferenceKind.ATTRIBUTE))
        tables[references.target[named & self._dicts[references.target]]] = True
        return tables

    @cached_property
    def lists_of_modules(self) -> Bools:
        """Per node: the table of a ModuleList, ModuleDict or the like, whose items are elements: none is an attribute
        that a statement names."""
        references = self.census.references
        types = of_types(self, LISTS_OF_MODULES.__contains__)
        tables = np.zeros(self.size, dtype=bool)
        tables[references.target[types[references.source]]] = True
        owners = np.zeros(self.size, dtype=bool)
        owners[references.target[types[references.source] & (references.kind == ReferenceKind.DICT)]] = True
        tables[references.target[owners[references.source]]] = True
        return np.asarray(tables & self.instance_tables & ~owners)

    @cached_property
    def _dicts(self) -> Bools:
        """Per node: a dict. What is no module may have a list that it calls `_buffers`."""
        known = np.array([text.rpartition(".")[2] in ("dict", "OrderedDict") for text in (*self.census.strings, "")])
        return np.asarray(known[self.census.nodes.type], dtype=bool)

    @cached_property
    def library(self) -> Bools:
        """Per node: made by torch, an installed package or the standard library rather than by the user.

        Containers, cells and functions without a file follow their owners: library where all owners are.
        """
        return _find_library_nodes(self)

    @cached_property
    def user_made(self) -> Bools:
        """Per reference: the user's code made it (implicit references, like a tensor's storage, are nobody's).

        The table of a module's hooks is the library's, but who registered a hook of his own made that entry; so is
        the table of a ModuleList.
        """
        references = self.census.references
        own_entry = _own_hooks(self) | self.lists_of_modules[references.source]
        explicit = ~np.isin(references.kind, IMPLICIT_REFERENCES)
        return np.asarray((~self.library[references.source] | own_entry) & explicit, dtype=bool)

    @cached_property
    def hook_tables(self) -> Bools:
        """Per node: a dict of registered hooks (`_forward_hooks`, `_backward_hooks`, ...), a tensor's among them; a
        library's own for all modules (`_global_forward_hooks`) too."""
        tables = np.zeros(self.size, dtype=bool)
        references = self.census.references
        wanted = [number for number, text in enumerate(self.census.strings) if is_hook_table(unquoted(text))]
        named = np.isin(references.kind, (ReferenceKind.ITEM, ReferenceKind.ATTRIBUTE))
        of_library = (references.kind == ReferenceKind.GLOBAL) & self.library[references.source]
        tables[references.target[np.isin(references.label, wanted) & (named | of_library)]] = True
        of_tensor = self.census.nodes.kind[references.source] == NodeKind.TENSOR
        tables[references.target[(references.kind == ReferenceKind.HOOK) & of_tensor]] = True
        return tables & self._dicts

    @cached_property
    def storage_row(self) -> dict[int, int]:
        """Node number of a storage -> its row in `census.storages`."""
        return {node: row for row, node in enumerate(self.census.storages.node.tolist())}

    @cached_property
    def identity_of_storage(self) -> dict[int, int]:
        """Node number of a storage -> the number by which other censuses of the process know it."""
        return dict(zip(self.census.storages.node.tolist(), self.census.storage_identities.tolist(), strict=True))

    @cached_property
    def bytes_of_node(self) -> Ints:
        """Per node: the storage's bytes; 0 for what is not a storage."""
        weights = np.zeros(self.size, dtype=np.int64)
        weights[self.census.storages.node] = self.census.storages.bytes
        return weights

    def references_from(self, node: int) -> list[int]:
        """Numbers of the references that `node` makes."""
        found: list[int] = self.out[self.out_start[node] : self.out_start[node + 1]].tolist()
        return found

    def references_to(self, node: int) -> list[int]:
        """Numbers of the references to `node`."""
        found: list[int] = self.into[self.into_start[node] : self.into_start[node + 1]].tolist()
        return found


def build_graph(census: Census) -> Graph:
    """Index a census both ways; two sorts over its references."""
    size = len(census.nodes.kind)
    out, out_start = _index(census.references.source, size)
    into, into_start = _index(census.references.target, size)
    return Graph(census, out, out_start, into, into_start)


def gather(order: Ints, start: Ints, nodes: Ints) -> Ints:
    """All entries of a sorted index for `nodes`, in one array."""
    first = start[nodes]
    counts = start[nodes + 1] - first
    total = int(counts.sum())
    if total == 0:
        return np.empty(0, dtype=np.int64)
    ends = np.cumsum(counts)
    offsets = np.arange(total) - np.repeat(ends - counts, counts)
    found: Ints = order[np.repeat(first, counts) + offsets]
    return found


def reach(graph: Graph, seeds: Ints, *, without: Bools | None = None) -> Bools:
    """Per node: can be reached from `seeds`, not following the references marked in `without`."""
    return _flood(graph.out, graph.out_start, graph.census.references.target, seeds, without)


def ancestors(graph: Graph, seeds: Ints, *, without: Bools | None = None) -> Bools:
    """Per node: reaches one of `seeds`, not following the references marked in `without`."""
    return _flood(graph.into, graph.into_start, graph.census.references.source, seeds, without)


def owner_unknown(graph: Graph) -> Bools:
    """Per node: its reference counts could not be read."""
    return np.asarray((graph.census.nodes.flags & OWNER_UNKNOWN) != 0, dtype=bool)


def of_types(graph: Graph, fits: Callable[[str], bool]) -> Bools:
    """Per node: its type's name fits. Asked once for each type."""
    types = graph.census.nodes.type
    return np.isin(types, [each for each in np.unique(types).tolist() if fits(graph.census.text(each))])


def held_unseen(graph: Graph) -> Bools:
    """Per node: something that is not in the census holds it (evaluation stack, C or C++ code), or may do so.

    A C++ owner counts only where no reference of the census (a gradient's leaf, a graph, a view) can be that owner;
    so does the one owner of a graph node that tensors or other nodes lead to, and of a tensor's table of hooks, which
    the node that made the tensor keeps too.
    """
    nodes, references = graph.census.nodes, graph.census.references
    explained = np.zeros(graph.size, dtype=bool)
    explained[references.target[np.isin(references.kind, _NATIVE_OWNERS)]] = True
    saved = np.zeros(graph.size, dtype=bool)
    saved[references.target[references.kind == ReferenceKind.SAVED]] = True
    to_storage = references.kind == ReferenceKind.STORAGE
    explained[references.source[to_storage & saved[references.target]]] = True
    hooks = np.zeros(graph.size, dtype=bool)
    of_tensor = nodes.kind[references.source] == NodeKind.TENSOR
    hooks[references.target[(references.kind == ReferenceKind.HOOK) & of_tensor]] = True
    in_graph = (nodes.kind == NodeKind.AUTOGRAD) & explained
    unseen = (nodes.unseen > 0) & ~((nodes.unseen == 1) & (hooks | in_graph))
    return np.asarray(unseen | ((nodes.native > 0) & ~explained) | owner_unknown(graph), dtype=bool)


def _own_hooks(graph: Graph) -> Bools:
    """Per reference: the entry of a table of hooks that calls the user's own code, be it wrapped (`torch.no_grad()`),
    bound to an object or partial."""
    references = graph.census.references
    own = graph.hook_tables[references.source] & ~graph.library[references.target]
    for reference in np.flatnonzero(graph.hook_tables[references.source] & ~own).tolist():
        own[reference] = any(not graph.library[node] for node in called_by(graph, int(references.target[reference])))
    return np.asarray(own, dtype=bool)


def called_by(graph: Graph, function: int) -> list[int]:
    """What a wrapper, a bound method or a partial calls, and that in turn."""
    references, waiting = graph.census.references, [function]
    found: list[int] = []
    while waiting and len(found) < _MOST_WRAPPERS:
        for reference in graph.references_from(waiting.pop()):
            target = int(references.target[reference])
            if references.kind[reference] == ReferenceKind.DICT:
                waiting.append(target)
            elif unquoted(graph.labels[reference]) in _CALLED:
                found.append(target)
                waiting.append(target)
    return found


def object_of(graph: Graph, node: int) -> int:
    """The object whose `__dict__` a node is; any other node itself."""
    references = graph.census.references
    owners = (r for r in graph.references_to(node) if references.kind[r] == ReferenceKind.DICT)
    return next((int(references.source[r]) for r in owners), node)


def instance_of(graph: Graph, owner: int) -> int:
    """The object whose `__dict__` or module table `owner` is, else `owner` itself."""
    references = graph.census.references
    while graph.instance_tables[owner]:
        above = graph.references_to(owner)
        if not above:
            return owner
        owner = int(references.source[above[0]])
    return owner


def own_references(graph: Graph, node: int) -> list[int]:
    """References from an object, and from the tables of its attributes."""
    references, made = graph.census.references, list(graph.references_from(node))
    tables = [int(references.target[r]) for r in made if references.kind[r] == ReferenceKind.DICT]
    return [*made, *(reference for table in tables for reference in graph.references_from(table))]


def labelled(graph: Graph, names: Collection[str]) -> Bools:
    """Per reference: it goes by one of these names, as an attribute or as a key."""
    wanted = [number for number, text in enumerate(graph.census.strings) if unquoted(text) in names]
    return np.isin(graph.census.references.label, wanted)


def unquoted(label: str) -> str:
    """The text of a string's repr: `'loss'` gives `loss`; other labels stay as they are."""
    if len(label) >= 2 and label[0] in "'\"" and label[-1] == label[0]:
        return label[1:-1]
    return label


def is_hook_table(label: str) -> bool:
    """Whether a module's attribute of this name holds registered hooks (`_forward_hooks`, ...)."""
    return label.startswith("_") and "hooks" in label


def is_library_file(path: str) -> bool:
    """Whether a file lies in an installed package or the standard library, as far as its path tells."""
    return any(part in path for part in _LIBRARY_FOLDERS)


def _index(ends: Ints, size: int) -> tuple[Ints, Ints]:
    order = np.argsort(ends, kind="stable").astype(np.int64)
    start = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(ends, minlength=size), out=start[1:])
    return order, start


def _flood(order: Ints, start: Ints, far_end: Ints, seeds: Ints, without: Bools | None) -> Bools:
    seen = np.zeros(len(start) - 1, dtype=bool)
    frontier = np.unique(np.asarray(seeds, dtype=np.int64))
    seen[frontier] = True
    while len(frontier):
        found = gather(order, start, frontier)
        if without is not None:
            found = found[~without[found]]
        nodes = far_end[found]
        frontier = np.unique(nodes[~seen[nodes]])
        seen[frontier] = True
    return seen


def _find_library_nodes(graph: Graph) -> Bools:
    nodes, references = graph.census.nodes, graph.census.references
    packages = _library_packages(graph)
    strings = (*graph.census.strings, "")
    own = graph.census.own_types
    library_type = np.array([_top(text) in packages and text not in own for text in strings])
    library_file = np.array([is_library_file(text) for text in strings])
    builtin_type = np.array([is_builtin_type(text) for text in strings])

    is_root = np.isin(nodes.kind, ROOT_KINDS)
    is_object = nodes.kind == NodeKind.OBJECT
    has_file = is_object & (nodes.file >= 0)
    library = np.where(is_root, (nodes.flags & NAMED_BY_LIBRARY) != 0, is_object & library_type[nodes.type])
    library = np.where(has_file, library_file[nodes.file], library)
    follows = is_object & ~has_file & builtin_type[nodes.type]
    for _ in range(6):
        from_user = np.bincount(references.target, weights=~library[references.source], minlength=graph.size).astype(
            np.int64
        )
        referred = np.bincount(references.target, minlength=graph.size)
        updated = np.where(follows, (from_user == 0) & (referred > 0), library)
        if np.array_equal(updated, library):
            break
        library = updated
    return np.asarray(library, dtype=bool)


def _library_packages(graph: Graph) -> frozenset[str]:
    nodes = graph.census.nodes
    named = np.isin(nodes.kind, (NodeKind.NAMESPACE, NodeKind.CLASS))
    flagged = (nodes.flags & NAMED_BY_LIBRARY) != 0
    text = graph.census.text
    found = {_top(text(position)) for position in nodes.name[named & flagged].tolist()}
    users = {_top(text(position)) for position in nodes.name[named & ~flagged].tolist()} | {"__main__"}
    return (_LIBRARIES | found) - users - _BUILTINS


def has_name_of_a_library(type_name: str) -> bool:
    """Whether the first part of a dotted name is that of an installed package or of the standard library."""
    return "." in type_name and _top(type_name) in _LIBRARIES


def _top(qualified_name: str) -> str:
    return qualified_name.partition(".")[0]


def is_builtin_type(type_name: str) -> bool:
    """Whether a type is the interpreter's own (list, function, cell, deque), so that its owner decides whose it is."""
    return "." not in type_name or _top(type_name) in _BUILTINS
