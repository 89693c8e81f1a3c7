"""The allocator's blocks laid beside a census of the same moment: each with an owner's path, a stack, or neither."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tenure.analysis.heap.graph import is_library_file
from tenure.analysis.heap.groups import Searched, search
from tenure.analysis.heap.paths import path_to
from tenure.analysis.heap.wording import render_path
from tenure.model.allocator import NO_STACK, BlockState, Frame, Snapshot
from tenure.model.heap import Census, Role
from tenure.model.live_block import OwnedBlock, OwnerKind
from tenure.model.recording import OUT_OF_MEMORY, CensusEntry, HistoryEntry, is_within_step

_AT_CALLS = ("first-call-", "forward-entry")
"""Moments between steps at which no copy of the allocator's blocks is made."""


def census_of_the_moment(history: HistoryEntry, censuses: Sequence[CensusEntry]) -> CensusEntry | None:
    """The census that was taken when this copy was; None where there is none.

    A later or earlier one would not do: addresses are given out again at once.
    """
    same = [entry for entry in censuses if entry.step == history.step]
    if history.reason.startswith(OUT_OF_MEMORY):
        found = [entry for entry in same if entry.moment == history.reason]
    else:
        found = [entry for entry in same if not (is_within_step(entry.moment) or entry.moment.startswith(_AT_CALLS))]
    return found[-1] if found else None


def find_owners(snapshot: Snapshot, census: Census | None) -> tuple[OwnedBlock, ...]:
    """The blocks in use with what is known of their owners, heaviest first.

    A block belongs to the storage whose memory begins in it. Searches the census once, and words a path per block: a
    millisecond each.
    """
    blocks = snapshot.blocks
    rows = np.flatnonzero(blocks.state != BlockState.INACTIVE)
    heavy = rows[np.lexsort((blocks.address[rows], -blocks.bytes[rows]))].tolist()
    storages = _Storages(census) if census is not None else None
    return tuple(_owned(snapshot, row, storages) for row in heavy)


def _owned(snapshot: Snapshot, row: int, storages: _Storages | None) -> OwnedBlock:
    blocks = snapshot.blocks
    address, size, frame = int(blocks.address[row]), int(blocks.bytes[row]), _frame_of(snapshot, row)
    named = storages.named(address, size) if storages is not None else None
    otherwise: OwnerKind = "unknown" if storages is None else "native"
    owner: OwnerKind = "path" if named is not None else otherwise if frame is None else "stack"
    path, role = named or ((), "")
    return OwnedBlock(
        device=int(snapshot.segments.device[blocks.segment[row]]),
        address=address,
        num_bytes=size,
        requested_bytes=int(blocks.requested[row]),
        waits=int(blocks.state[row]) == BlockState.PENDING_FREE,
        owner=owner,
        path=path,
        role=role,
        frame=frame,
    )


class _Storages:
    """A census' storages by address, with the paths that lead to them."""

    def __init__(self, census: Census) -> None:
        self._census = census
        self._searched: Searched = search(census)
        self._rows = np.argsort(census.storages.pointer, kind="stable")
        self._pointers = census.storages.pointer[self._rows]

    def named(self, address: int, num_bytes: int) -> tuple[tuple[str, ...], str] | None:
        """Path and role of the largest storage of a block that a root leads to; None where there is none."""
        first, last = np.searchsorted(self._pointers, (address, address + num_bytes))
        graph, paths, storages = self._searched.graph, self._searched.paths, self._census.storages
        for row in sorted(self._rows[first:last].tolist(), key=lambda row: -int(storages.bytes[row])):
            node = int(storages.node[row])
            if paths.held_by_root(node):
                role = Role(int(storages.role[row])).name.lower()
                return render_path(graph, path_to(graph, paths, node)), role
        return None


def _frame_of(snapshot: Snapshot, row: int) -> Frame | None:
    """The innermost frame of the program's own, else of Python's; frames of C++ have no line."""
    stack = int(snapshot.blocks.stack[row])
    frames = [snapshot.frames[at] for at in snapshot.stacks[stack]] if stack != NO_STACK else []
    python = [frame for frame in frames if frame.line > 0 and frame.file.endswith(".py")]
    own = [frame for frame in python if not is_library_file(frame.file)]
    return next(iter(own or python), None)
