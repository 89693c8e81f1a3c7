"""What is held in the same way belongs together: nodes grouped by the shape of their retention path.

A shape is a path with indices and keys that vary blanked, with the steps inside an autograd graph or along a
linked chain folded into one, and without addresses and line numbers. Equal shapes mean equal text in every census
and every run, so a shape also names a group over time.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tenure.analysis.heap.cells import cell_kind
from tenure.analysis.heap.graph import Bools, Graph, build_graph, object_of, unquoted
from tenure.analysis.heap.paths import Paths, shortest_paths
from tenure.analysis.heap.wording import LARGE_CONTAINER, attribute_name, is_merged
from tenure.model.heap import ROOT_KINDS, Census, Ints, NodeKind, ReferenceKind
from tenure.model.suspect import Series, is_of_optimizers

_ELEMENTS = (ReferenceKind.INDEX, ReferenceKind.MEMBER, ReferenceKind.CACHED, ReferenceKind.ITEM)
ELEMENT = "[*]"
"""How the key of a shape begins that stands for all elements of a container."""
_USUAL_HISTORY = 100
"""Of the steps that LBFGS keeps where nobody says how many; reached within tens of calls."""
_ABOVE_STATE = 4
"""References from an optimizer to what `state[parameter][name]` is: its attributes, its table, that of a parameter."""
_SHORT_CHAIN = 4
"""Links: records are nested a few times."""
_GAINING = ("list", "dict", "set", "collections.deque", "collections.OrderedDict", "collections.defaultdict")
_BOUNDED = re.compile(r"\d+")
_OF_ONE_RUN = re.compile(
    r"\b0x[0-9A-Fa-f]+|(?<=thread Thread-)\d+"
    r"|(?<=['\"])(?:/|…|[A-Za-z]:[\\/])[^'\"]*[\\/](?=[^'\"\\/]*['\"])|(?<![\w.])/(?:[^\s/'\"]+/)+"
)
"""Addresses, the numbers that threads get, and folders of absolute paths: where one is quoted all up to the name."""


@dataclass
class Shapes:
    """All shapes seen, numbered as they come: a shape's parent has a smaller number than the shape."""

    parent: list[int] = field(default_factory=list)
    key: list[str] = field(default_factory=list)
    graph: list[int] = field(default_factory=list)
    """The shape of the autograd graph that a shape lies in, -1 outside."""
    known: dict[tuple[int, str], int] = field(default_factory=dict)
    gaining_names: set[int] = field(default_factory=set)
    """Shapes of what gets another name with every step: what it holds is told as its elements, not by these names."""

    def add(self, parent: int, key: str, *, enters_graph: bool = False) -> int:
        """Number of the shape that continues `parent` by `key`; a repeated key folds into what it repeats."""
        if parent >= 0 and not enters_graph:
            if self.key[parent] == key:
                return parent
            above = self.parent[parent]
            further = self.parent[above] if above >= 0 else -1
            if further >= 0 and self.key[above] == key and self.key[further] == self.key[parent]:
                return above
        number = self.known.setdefault((parent, key), len(self.parent))
        if number == len(self.parent):
            self.parent.append(parent)
            self.key.append(key)
            inside = self.graph[parent] if parent >= 0 else -1
            self.graph.append(inside if inside >= 0 or not enters_graph else number)
        return number

    def text(self, shape: int) -> str:
        """The whole shape, root first."""
        parts = []
        while shape >= 0:
            parts.append(self.key[shape])
            shape = self.parent[shape]
        return " ".join(reversed(parts))

    def lineage(self, shape: int) -> list[int]:
        """The shape's ancestors, nearest first."""
        found = []
        while (shape := self.parent[shape]) >= 0:
            found.append(shape)
        return found


@dataclass(frozen=True, eq=False)
class Searched:
    """One census and its shortest paths, which no numbering of shapes changes."""

    graph: Graph
    paths: Paths


@dataclass(frozen=True)
class View:
    """One census with everything that is computed from it once. `shape` is -1 for nodes nothing reaches;
    `member` marks the nodes that count for their shape (not an instance's `__dict__`, a cell or a storage)."""

    graph: Graph
    paths: Paths
    shape: Ints
    member: Ints

    @property
    def census(self) -> Census:
        """The census itself."""
        return self.graph.census

    def members(self, shape: int) -> Ints:
        """The nodes that count for one shape."""
        found: Ints = np.flatnonzero((self.shape == shape) & (self.member > 0))
        return found

    def addresses(self, shape: int) -> set[int]:
        """Addresses of the members of one shape."""
        return set(self.census.nodes.address[self.members(shape)].tolist())

    def known_by(self, storage: int) -> set[tuple[int, int]]:
        """What a storage is known again by in another census, each with its size: its serial, below zero; in older
        recordings addresses of what refers to it, which are used again."""
        size = int(self.graph.bytes_of_node[storage])
        serial = int(self.census.storages.serial[self.graph.storage_row[storage]])
        if serial:
            return {(-serial, size)}
        address, source = self.census.nodes.address, self.census.references.source
        return {(int(address[source[r]]), size) for r in self.graph.references_to(storage)}

    def nodes_below(self, shapes: Shapes, shape: int) -> Ints:
        """Nodes whose shape is `shape` or continues it."""
        below = np.zeros(len(shapes.parent) + 1, dtype=bool)
        below[shape] = True
        for number in range(shape + 1, len(shapes.parent)):
            below[number] = below[shapes.parent[number]] if shapes.parent[number] >= 0 else False
        return np.flatnonzero(below[self.shape])


def in_order(views: Iterable[View], moment: str) -> list[View]:
    """Those of one moment by their steps, one each."""
    chosen = {view.census.step: view for view in views if view.census.moment == moment}
    return [chosen[step] for step in sorted(chosen)]


@dataclass(frozen=True)
class Weights:
    """Per census (row) and shape (column): what lies at the shape itself, and below it including itself."""

    members: Ints
    own_bytes: Ints
    own_storages: Ints
    graph_nodes: Ints
    bytes_below: Ints
    graph_nodes_below: Ints
    storages_below: Ints


def search(census: Census) -> Searched:
    """The shortest paths of one census; about two microseconds per node."""
    graph = build_graph(census)
    return Searched(graph, shortest_paths(graph))


def view_searched(searched: Searched, shapes: Shapes) -> View:
    """With the shapes of its nodes; about two microseconds per node."""
    shape, member = _shape_nodes(searched.graph, searched.paths, shapes)
    return View(searched.graph, searched.paths, shape, member)


def view_without(view: View, references: Bools, shapes: Shapes) -> View:
    """The same census as it is reached without the references that are marked; four microseconds per node."""
    return view_searched(Searched(view.graph, shortest_paths(view.graph, without=references)), shapes)


def view_census(census: Census, shapes: Shapes) -> View:
    """Both, of a census that is looked at once."""
    return view_searched(search(census), shapes)


def in_program_order(views: Iterable[View]) -> list[View]:
    """The censuses of a program that was still at work, as they were taken: a step's end comes before the entry of
    the next forward."""
    at_work = (view for view in views if view.census.moment != "exit")
    return sorted(at_work, key=lambda view: (view.census.step, view.census.moment == "forward-entry"))


def weigh(views: Sequence[View], shapes: Shapes) -> Weights:
    """Counts and bytes of every shape in every census."""
    size = len(shapes.parent)
    rows = [_weigh_one(view, size) for view in views]
    members, graph_nodes, own_bytes, own_storages = (
        np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)
    )
    return Weights(
        members=members,
        own_bytes=own_bytes,
        own_storages=own_storages,
        graph_nodes=graph_nodes,
        bytes_below=_sum_below(own_bytes, shapes),
        graph_nodes_below=_sum_below(graph_nodes, shapes),
        storages_below=_sum_below(own_storages, shapes),
    )


def series_of(views: Sequence[View], weights: Weights, shape: int) -> Series:
    """The group's history. Objects are the members of the shape (elements), or storages where it has none."""
    members = weights.members[:, shape]
    objects = members if members.any() else weights.storages_below[:, shape]
    return Series(
        moment=views[-1].census.moment,
        steps=tuple(view.census.step for view in views),
        bytes=tuple(weights.bytes_below[:, shape].tolist()),
        objects=tuple(objects.tolist()),
        graph_nodes=tuple(weights.graph_nodes_below[:, shape].tolist()),
    )


def series_of_rows(moment: str, views: Sequence[View], rows: Iterable[tuple[int, int]]) -> Series:
    """A history of memory alone: bytes and number of storages at each census."""
    sizes, counts = zip(*rows, strict=True)
    return Series(
        moment=moment,
        steps=tuple(view.census.step for view in views),
        bytes=sizes,
        objects=counts,
        graph_nodes=(0,) * len(views),
    )


def series_of_nodes(moment: str, views: Sequence[View], nodes: Sequence[Ints]) -> Series:
    """The same of some nodes of each census."""
    sizes = (int(view.graph.bytes_of_node[found].sum()) for view, found in zip(views, nodes, strict=True))
    return series_of_rows(moment, views, zip(sizes, map(len, nodes), strict=True))


def owners_of(view: View, nodes: Ints) -> Ints:
    """Of each node the one that its path comes from; the node itself at a root."""
    parents = view.paths.parent[nodes]
    return np.where(parents >= 0, view.census.references.source[parents], nodes)


def containers_of(view: View, members: Ints) -> set[int]:
    """The containers that the members are elements of, where they are elements of any."""
    references = view.census.references
    parents = view.paths.parent[members]
    parents = parents[parents >= 0]
    elements = (ReferenceKind.INDEX, ReferenceKind.ITEM, ReferenceKind.MEMBER, ReferenceKind.CACHED)
    parents = parents[np.isin(references.kind[parents], elements)]
    owners = references.source[parents]
    return set(owners[~view.graph.instance_tables[owners] | view.graph.lists_of_modules[owners]].tolist())


def records_of(view: View, members: Ints) -> set[int]:
    """The objects that have the members by attributes; none where some member is had otherwise."""
    parents = view.paths.parent[members]
    if not all(parent >= 0 and attribute_name(view.graph, parent) for parent in parents.tolist()):
        return set()
    return {object_of(view.graph, owner) for owner in view.census.references.source[parents].tolist()}


def lie_in_bounded(view: View, nodes: Ints) -> bool:
    """Whether all of these are parts of entries of containers that keep a bound: others take their places."""
    return len(nodes) > 0 and all(lies_in_bounded(view, node) for node in nodes.tolist())


def lies_in_bounded(view: View, node: int) -> bool:
    """Whether the nearest container above the node that could gain elements keeps a bound: what belongs to records in
    a buffer fills up with it, whatever parts of them a shape stands for. Not of a chain, each of whose links refers to
    the one before, that is longer than the container is: what went out of that lives on by the chain."""
    references, parent = view.census.references, int(view.paths.parent[node])
    links: Counter[tuple[int, int]] = Counter()
    while parent >= 0:
        source = int(references.source[parent])
        if view.graph.type_names[source] in _GAINING and not view.graph.instance_tables[source]:
            longest = max(links.values(), default=0)
            return is_bounded(view, source) and longest <= max(_SHORT_CHAIN, int(view.census.nodes.length[source]))
        links[int(view.census.nodes.type[source]), int(references.label[parent])] += 1
        parent = int(view.paths.parent[source])
    return False


def is_bounded(view: View, container: int) -> bool:
    """The container, or the object that owns it, states a bound that it keeps: to fill it is meant.

    The owner of a table of an optimizer's state is the optimizer. The bound of a cached function is mostly a default
    that nobody weighed: it counts once it is half reached. So does an optimizer's beyond LBFGS's own of 100, and that
    of a handler of `logging`, which counts records whatever they hold.
    """
    nodes, references = view.census.nodes, view.census.references
    records = _holds_log_records(view, container)
    length = int(nodes.length[container])
    owners = [container]
    for reference in view.graph.references_to(container):
        source = int(references.source[reference])
        owners.append(source)
        if view.graph.instance_tables[source]:
            owners += [int(references.source[above]) for above in view.graph.references_to(source)]
    owners += _optimizers_above(view, container)
    bounds = [(owner, int(nodes.bound[owner])) for owner in owners if nodes.bound[owner] > 0]
    return any(
        length <= bound and (2 * _filled(view, owner, length) >= bound or not (records or _is_far(view, owner, bound)))
        for owner, bound in bounds
    )


def _filled(view: View, owner: int, length: int) -> int:
    """How much of the bound is used: by the entries of a cached function, or by the container of another owner."""
    return int(view.census.nodes.length[owner]) if _is_cached_function(view, owner) else length


def _is_far(view: View, owner: int, bound: int) -> bool:
    """Whether the bound may be one that no run reaches."""
    optimizer = is_of_optimizers(view.graph.type_names[owner])
    return _is_cached_function(view, owner) or (optimizer and bound > _USUAL_HISTORY)


def _holds_log_records(view: View, container: int) -> bool:
    targets = (int(view.census.references.target[r]) for r in view.graph.references_from(container))
    return any(view.graph.type_names[target] == "logging.LogRecord" for target in targets)


def _optimizers_above(view: View, container: int) -> list[int]:
    """The optimizers in whose table `state[parameter][name]` a container is."""
    graph, sources = view.graph, view.census.references.source
    above, found = {container}, []
    for _ in range(_ABOVE_STATE):
        above = {int(sources[reference]) for node in above for reference in graph.references_to(node)}
        found += [node for node in sorted(above) if is_of_optimizers(graph.type_names[node])]
    return found


def is_tensor_bounded(view: View, tensor: int) -> bool:
    """The object that has the tensor states a bound, and the tensor's first dimension keeps it: a queue's buffer."""
    graph, census = view.graph, view.census
    rows = [int(census.references.target[r]) for r in graph.references_from(tensor)]
    shapes = [
        census.text(int(census.storages.shape[graph.storage_row[node]])) for node in rows if node in graph.storage_row
    ]
    lengths = [int(shape.strip("[]").split(",")[0]) for shape in shapes if shape.strip("[]")]
    owners = {int(census.references.source[r]) for r in graph.references_to(tensor)}
    owners |= {
        int(census.references.source[above])
        for owner in owners
        if graph.instance_tables[owner]
        for above in graph.references_to(owner)
    }
    return any(0 < length <= census.nodes.bound[owner] for length in lengths for owner in owners)


def _is_cached_function(view: View, node: int) -> bool:
    return view.graph.type_names[node].endswith("_lru_cache_wrapper")


def fingerprint(shapes: Shapes, shape: int) -> str:
    """The same for the same holder in every run and after edits that move lines."""
    return fingerprint_of(shapes.text(shape))


def fingerprint_of(text: str) -> str:
    """Sixteen hexadecimal digits; what differs from run to run, as the address in a key's repr, does not count."""
    return hashlib.sha256(_OF_ONE_RUN.sub("", text).encode()).hexdigest()[:16]


def root_key(graph: Graph, node: int) -> str:
    """How a shape starts: kind and name of the root, its file without folders and line."""
    nodes, census = graph.census.nodes, graph.census
    kind = NodeKind(int(nodes.kind[node]))
    if int(kind) not in ROOT_KINDS:
        return f"unseen {graph.type_names[node]}"
    path = census.text(int(nodes.file[node])).replace("\\", "/")
    file = cell_kind(path) or posixpath.basename(path)
    return f"{kind.name.lower()} {census.text(int(nodes.name[node]))} {file}".strip()


def _shape_nodes(graph: Graph, paths: Paths, shapes: Shapes) -> tuple[Ints, Ints]:
    shape = np.full(graph.size, -1, dtype=np.int64).tolist()
    member = [0] * graph.size
    references, nodes = graph.census.references, graph.census.nodes
    source, kinds, labels = references.source.tolist(), references.kind.tolist(), references.label.tolist()
    parents, node_kinds, types = paths.parent.tolist(), nodes.kind.tolist(), nodes.type.tolist()
    tables, large = graph.instance_tables.tolist(), (nodes.length >= LARGE_CONTAINER).tolist()
    known: dict[tuple[int, int, int, int, int, bool, bool, bool], tuple[int, int]] = {}
    for node in paths.order.tolist():
        reference = parents[node]
        if reference < 0:
            shape[node] = shapes.add(-1, root_key(graph, node))
            member[node] = 1
            continue
        owner = source[reference]
        key = (shape[owner], kinds[reference], labels[reference], node_kinds[node], types[node],
               tables[owner], tables[node], large[owner])  # fmt: skip
        found = known.get(key)
        if found is None:
            found = known[key] = _continue(graph, shapes, shape[owner], reference, node)
        shape[node], member[node] = found
    return np.array(shape, dtype=np.int64), np.array(member, dtype=np.int64)


def _continue(graph: Graph, shapes: Shapes, parent: int, reference: int, node: int) -> tuple[int, int]:
    """Shape of `node` reached by `reference` from a node of shape `parent`, and whether it counts as a member."""
    kind = ReferenceKind(int(graph.census.references.kind[reference]))
    target = NodeKind(int(graph.census.nodes.kind[node]))
    if target == NodeKind.STORAGE:
        return shapes.add(parent, "memory"), 0
    if is_merged(graph, reference):
        return parent, 0
    around = shapes.graph[parent]
    if target == NodeKind.AUTOGRAD:
        return (around if around >= 0 else shapes.add(parent, "autograd graph", enters_graph=True)), 1
    return shapes.add(parent, _key(graph, reference, kind, node, by_name=parent not in shapes.gaining_names)), 1


def _key(graph: Graph, reference: int, kind: ReferenceKind, node: int, *, by_name: bool) -> str:
    label = graph.labels[reference]
    type_name = graph.type_names[node].rpartition(".")[2]
    if attribute := attribute_name(graph, reference):
        return f".{attribute}" if by_name and not _BOUNDED.fullmatch(attribute) else f"{ELEMENT} {type_name}"
    if kind in _ELEMENTS:
        source = int(graph.census.references.source[reference])
        name = _OF_ONE_RUN.sub("", label)
        named = kind == ReferenceKind.ITEM and name != unquoted(name) and not _BOUNDED.search(name)
        if by_name and named and graph.census.nodes.length[source] < LARGE_CONTAINER:
            return f"[{label}]"
        return f"{ELEMENT} {type_name}"
    if kind in (ReferenceKind.SAVED, ReferenceKind.HOOK, ReferenceKind.NEXT):
        return f".{kind.name.lower()}"
    return f"{kind.name.lower()} {label}".strip()


def _weigh_one(view: View, size: int) -> tuple[Ints, Ints, Ints, Ints]:
    reached = view.shape >= 0
    graph_node = view.census.nodes.kind == NodeKind.AUTOGRAD
    counted = view.member > 0
    members = np.bincount(view.shape[reached & counted & ~graph_node], minlength=size)
    graph_nodes = np.bincount(view.shape[reached & counted & graph_node], minlength=size)
    rows = view.shape[view.census.storages.node] >= 0
    at = view.shape[view.census.storages.node][rows]
    own_bytes = np.bincount(at, weights=view.census.storages.bytes[rows], minlength=size).astype(np.int64)
    return members, graph_nodes, own_bytes, np.bincount(at, minlength=size)


def _sum_below(own: Ints, shapes: Shapes) -> Ints:
    total = own.copy()
    for shape in range(len(shapes.parent) - 1, -1, -1):
        if shapes.parent[shape] >= 0:
            total[:, shapes.parent[shape]] += total[:, shape]
    return total
