"""Loader workers that copy their parent's memory page by page, and which container of the data set that is.

A forked worker shares its parent's pages until one of both writes. Reading a Python object writes its reference
count, so a data set of many small objects is copied by reading it: the worker's shared memory falls and its private
memory rises by as much, while its resident memory stays. Memory of its own would raise all of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tenure.analysis.heap.assemble import Measured, assemble_suspect
from tenure.analysis.heap.graph import build_graph, reach
from tenure.analysis.heap.groups import Shapes, View, fingerprint, view_census
from tenure.analysis.heap.held_group import Group
from tenure.analysis.heap.holders import find_droppable, innermost_droppable
from tenure.analysis.heap.host_part import HOST, host_part
from tenure.analysis.heap.paths import path_to
from tenure.model.heap import Census, ChildMemory, Ints
from tenure.model.suspect import Series, Suspect
from tenure.model.units import format_bytes

LEAST_COPIED = 4 << 20
"""Per worker. A worker touches a few pages of the interpreter and of torch whatever its data set is."""
MOST_IN_ONE_INTERVAL = 0.6
"""A collection in a worker writes to all objects there are, once: such a jump is left out."""
LEAST_INTERVALS = 4
NOTABLE_SHARE = 0.05
"""So many intervals between readings must each have so much of the copying: a data set is copied as it is read."""
LEAST_ELEMENTS = 1000
MOST_BYTES_PER_ELEMENT = 8192
"""Reading one element copies a page or two: what is more was not copied for this container."""
LEAST_OWN_GROWTH = 16 << 20
"""Per worker, of memory that is no copy: buffers for batches are made at the start."""
LEAST_OWN_READINGS = 6
_ITERATOR = "torch.utils.data.dataloader._MultiProcessingDataLoaderIter"


@dataclass(frozen=True)
class Worker:
    """Readings of one child, in the order of steps."""

    pid: int
    steps: tuple[int, ...]
    readings: tuple[ChildMemory, ...]

    def copied(self) -> tuple[int, ...]:
        """Bytes at each reading that were shared at the first one and are private since."""
        first = self.readings[0]
        return tuple(
            max(0, min(each.private_bytes - first.private_bytes, first.shared_bytes - each.shared_bytes))
            for each in self.readings
        )

    def copied_steadily(self) -> tuple[int, ...]:
        """The same without jumps; all zero where nothing or little is copied in more than a few of the intervals."""
        gains = np.maximum(0, np.diff(self.copied()))
        while (total := int(gains.sum())) and gains.max() > MOST_IN_ONE_INTERVAL * total:
            gains[np.argmax(gains)] = 0
        if total < LEAST_COPIED or np.count_nonzero(gains >= NOTABLE_SHARE * total) < LEAST_INTERVALS:
            return (0,) * len(self.readings)
        return (0, *np.cumsum(gains).tolist())

    def own(self) -> tuple[int, ...]:
        """Bytes at each reading that came since the first one and are no copies."""
        copied, first = self.copied(), self.readings[0]
        return tuple(
            each.private_bytes - first.private_bytes - known for each, known in zip(self.readings, copied, strict=True)
        )


def find_forked_workers(censuses: Sequence[Census]) -> tuple[Suspect, ...]:
    """At most one suspect of symptom "host": the largest container that the data set of a copying worker leads to.

    Costs a search of one census where workers copy, nothing else.
    """
    copying = [worker for worker in _workers(censuses) if worker.copied_steadily()[-1]]
    if not copying:
        return ()
    last = max(worker.steps[-1] for worker in copying)
    copying = [worker for worker in copying if worker.steps[-1] == last]
    most = max(worker.copied_steadily()[-1] for worker in copying)
    candidates = [each for each in censuses if each.step == last and each.children]
    for census in candidates:
        container = _container(census, most)
        if container is not None:
            return _suspects(census, container, copying)
    return ()


def describe_workers(censuses: Sequence[Census], found: Sequence[Suspect]) -> Iterable[str]:
    """Sentences on workers that copy or grow for a reason that this process does not show."""
    workers = _workers(censuses)
    copying = [worker for worker in workers if worker.copied_steadily()[-1]]
    if copying and not found:
        most = max(copying, key=lambda worker: worker.copied_steadily()[-1])
        yield (
            f"a worker process has made {format_bytes(most.copied_steadily()[-1])} of shared memory its own from step "
            f"{most.steps[0]} to {most.steps[-1]} (the kernel's count), and no large list or dict of its data set is "
            "seen here: objects that are read are copied page by page after a fork"
        )
    growing = [worker for worker in workers if _is_growing(worker)]
    if growing:
        most = max(growing, key=lambda worker: worker.own()[-1])
        yield (
            f"memory of a worker process's own grew by {format_bytes(most.own()[-1])} from step {most.steps[0]} to "
            f"{most.steps[-1]} (the kernel's count): what its data set keeps or caches there (a list, `lru_cache` on "
            "`__getitem__`) is not in this process's recording; run with `num_workers=0` to see it"
        )


def _workers(censuses: Sequence[Census]) -> list[Worker]:
    """Children by process number, with the first reading of each step."""
    found: dict[int, dict[int, ChildMemory]] = {}
    for census in censuses:
        for child in census.children:
            found.setdefault(child.pid, {}).setdefault(census.step, child)
    return [
        Worker(pid, tuple(sorted(by_step)), tuple(by_step[step] for step in sorted(by_step)))
        for pid, by_step in sorted(found.items())
    ]


def _is_growing(worker: Worker) -> bool:
    """A good part of the growth lies in the second half of the worker's steps."""
    own = worker.own()
    if len(own) < LEAST_OWN_READINGS or own[-1] < LEAST_OWN_GROWTH:
        return False
    half = (worker.steps[0] + worker.steps[-1]) / 2
    before = max(size for step, size in zip(worker.steps, own, strict=True) if step <= half)
    return own[-1] - before >= own[-1] / 4


def _container(census: Census, copied: int) -> int | None:
    """The node of most elements below the data set of an iterator with workers; None where none is large enough."""
    nodes, graph = census.nodes, build_graph(census)
    iterators = [node for node, name in enumerate(graph.type_names) if name == _ITERATOR]
    if not iterators:
        return None
    below = reach(graph, np.array(_data_sets(census, iterators), dtype=np.int64))
    large = np.unique(census.host.owner[nodes.length[census.host.owner] >= LEAST_ELEMENTS])
    large = large[below[large] & (nodes.length[large] * MOST_BYTES_PER_ELEMENT >= copied)]
    return int(large[np.argmax(nodes.length[large])]) if len(large) else None


def _data_sets(census: Census, iterators: Sequence[int]) -> list[int]:
    """What the attribute `_dataset` of iterators leads to, through their `__dict__` or not."""
    graph, references = build_graph(census), census.references
    found = []
    for iterator in iterators:
        for reference in graph.references_from(iterator):
            table = int(references.target[reference])
            below = graph.references_from(table) if graph.instance_tables[table] else []
            named = [each for each in (reference, *below) if graph.labels[each].strip("'") == "_dataset"]
            found += [int(references.target[each]) for each in named]
    return found


def _suspects(census: Census, container: int, workers: Sequence[Worker]) -> tuple[Suspect, ...]:
    address, shapes = int(census.nodes.address[container]), Shapes()
    view = view_census(host_part(census), shapes)
    node = int(np.flatnonzero(view.census.nodes.address == address)[0])
    path = path_to(view.graph, view.paths, node)
    droppable = find_droppable(view.graph)
    held = innermost_droppable(view.graph, droppable & view.graph.user_made, path, frozenset()) if path else None
    memory = _memory_below(view, node)
    if held is None or not len(memory):
        return ()
    steps = workers[0].steps
    group = Group(view=view, nodes=memory, targets=memory, cut=(held,))
    suspect = assemble_suspect(
        group,
        symptom="host",
        measured=_measured(workers, steps),
        fingerprint=fingerprint(shapes, int(view.shape[node])),
    )
    copied = sum(worker.copied_steadily()[-1] for worker in workers)
    facts: dict[str, object] = {
        "copied_after_fork": copied,
        "workers_read": len(workers),
        "elements": int(view.census.nodes.length[node]),
        "element_type": _type_of(view, memory),
        "copied_bytes_by_worker": [list(worker.copied_steadily()) for worker in workers],
    }
    known = dataclasses.replace(
        suspect,
        cut=(),  # the samples are needed: how they are kept is to change
        retained_bytes=copied,
        num_objects=len(workers),
        device=HOST,
        first_step=steps[0],
        last_step=steps[-1],
        facts={**suspect.facts, **facts},
        storages=frozenset(),
    )
    return (known,)


def _memory_below(view: View, owner: int) -> Ints:
    """The storages that stand for what `owner` itself holds."""
    references = view.census.references
    buffers = references.target[references.source == owner]
    memory = references.target[np.isin(references.source, buffers)]
    found: Ints = np.intersect1d(memory, view.census.storages.node)
    return found


def _measured(workers: Sequence[Worker], steps: Sequence[int]) -> Measured:
    by_step = [dict(zip(worker.steps, worker.copied_steadily(), strict=True)) for worker in workers]
    sizes = tuple(sum(sizes.get(step, 0) for sizes in by_step) for step in steps)
    nothing = (0,) * len(steps)
    series = Series("step-end", tuple(steps), sizes, (len(workers),) * len(steps), nothing)
    return Measured(series, bytes_per_step=(sizes[-1] - sizes[0]) / (steps[-1] - steps[0]))


def _type_of(view: View, memory: Ints) -> str:
    rows = np.flatnonzero(np.isin(view.census.storages.node, memory))
    heaviest = rows[np.argmax(view.census.storages.bytes[rows])]
    return view.census.text(int(view.census.storages.dtype[heaviest])).rpartition(".")[2]
