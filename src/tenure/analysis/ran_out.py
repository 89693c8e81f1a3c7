"""The census of the moment when device memory ran out, told by role and holder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tenure.analysis.heap.groups import Shapes, View, fingerprint, view_census
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import expression
from tenure.model.finding import Finding
from tenure.model.heap import Census, ReferenceKind, Role
from tenure.model.ran_out import HeldThen, RanOut
from tenure.model.recording import OUT_OF_MEMORY

MOST_TOLD = 6
WITHOUT_NAMES = (Role.PARAMETER, Role.BUFFER, Role.GRADIENT, Role.OPTIMIZER_STATE)
"""A group each: a model has hundreds of names for them."""
_ELEMENTS = (ReferenceKind.INDEX, ReferenceKind.MEMBER, ReferenceKind.CACHED)

Key = tuple[int, int]
"""Role, and the shape of what holds the storage, -1 for the roles without names and what no root leads to."""


def find_ran_out(censuses: Iterable[Census], findings: Sequence[Finding], *, rank: int | None = None) -> RanOut | None:
    """By the first such census of tensors; None where there is none, or nothing is in it.

    The device is the one that holds most, the host left out where there is another. Costs a search of the census.
    """
    census = next((census for census in censuses if census.moment == OUT_OF_MEMORY), None)
    if census is None or not len(census.storages.bytes):
        return None
    shapes = Shapes()
    view = view_census(census, shapes)
    device = _device_of(census)
    groups = _groups(view, shapes, device)
    heaviest = sorted(groups.items(), key=lambda item: -_bytes_of(census, item[1]))[:MOST_TOLD]
    rules = {finding.fingerprint: finding.rule for finding in reversed(findings)}
    return RanOut(
        step=census.step,
        device=census.text(device),
        bytes=sum(_bytes_of(census, rows) for rows in groups.values()),
        held=tuple(_held(view, shapes, key, rows, rules) for key, rows in heaviest),
        rank=rank,
    )


def _device_of(census: Census) -> int:
    sums: dict[int, int] = defaultdict(int)
    for device, size in zip(census.storages.device.tolist(), census.storages.bytes.tolist(), strict=True):
        sums[device] += size
    return max(sums, key=lambda device: (census.text(device) != "cpu", sums[device]))


def _groups(view: View, shapes: Shapes, device: int) -> dict[Key, list[int]]:
    """Rows of storages on the device, by role and holder; what one graph has saved is together."""
    storages, groups = view.census.storages, defaultdict(list)
    for row, (node, role) in enumerate(zip(storages.node.tolist(), storages.role.tolist(), strict=True)):
        if storages.device[row] != device:
            continue
        shape = -1 if role in WITHOUT_NAMES else int(view.shape[node])
        graph = shapes.graph[shape] if shape >= 0 else -1
        groups[role, graph if graph >= 0 else shape].append(row)
    return groups


def _held(view: View, shapes: Shapes, key: Key, rows: Sequence[int], rules: dict[str, str]) -> HeldThen:
    role, shape = key
    census = view.census
    named = shape >= 0 and view.paths.held_by_root(int(census.storages.node[rows[0]]))
    around = [shape, *shapes.lineage(shape)] if shape >= 0 else []
    told = (rules.get(fingerprint(shapes, each), "") for each in around)
    return HeldThen(
        role=Role(role).name.lower(),
        name=_name(view, rows) if named else "",
        bytes=_bytes_of(census, rows),
        num_storages=len(rows),
        rule=next(filter(None, told), ""),
    )


def _name(view: View, rows: Sequence[int]) -> str:
    """Of the heaviest one; with `[*]` for the containers that several are elements of, and no way within a graph."""
    storages, references = view.census.storages, view.census.references
    heaviest = max(rows, key=lambda row: int(storages.bytes[row]))
    path = path_to(view.graph, view.paths, int(storages.node[heaviest]))
    elements = (reference for reference in path if references.kind[reference] in _ELEMENTS)
    many = {int(references.source[reference]) for reference in elements} if len(rows) > 1 else ()
    before, graph, _ = expression(view.graph, path, many=many).partition(".grad_fn")
    return before + graph


def _bytes_of(census: Census, rows: Sequence[int]) -> int:
    return int(census.storages.bytes[rows].sum())
