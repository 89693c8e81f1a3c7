"""The allocator's segments and blocks at one moment of a trace, by replay."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.allocator.earlier_state import state_before
from tenure.allocator.given_memory import first_given_twice
from tenure.allocator.native import native_replay
from tenure.allocator.pools import pools_of_events
from tenure.allocator.replay import allocator_after
from tenure.allocator.settings import settings_of_snapshot
from tenure.allocator.story import Story
from tenure.model.allocator import PoolId, Snapshot


@dataclass(frozen=True)
class Room:
    """A segment, or of an expandable one a run of memory: `rows` are the blocks in use in it, of the story's lives."""

    address: int
    bytes: int
    stream: int
    pool: PoolId
    is_small: bool
    is_expandable: bool
    free: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def free_bytes(self) -> int:
        """Of all its free blocks."""
        return sum(self.free)


@dataclass(frozen=True)
class _Stretch:
    """A block, free or in use; `begins` the memory of a segment, or a run of it."""

    address: int
    size: int
    in_use: bool
    stream: int
    pool: PoolId
    is_small: bool
    is_expandable: bool
    begins: bool


def rooms_after(snapshot: Snapshot, device: int, story: Story, event: int) -> tuple[Room, ...] | None:
    """All segments after this event, by address; None where the replay does not lead there. Cost: one replay."""
    blocks = _natively(snapshot, device, event) or _in_python(snapshot, device, event)
    if blocks is None:
        return None
    rows = story.lives.in_use_after(event).tolist()
    row_at = {int(story.lives.address[row]): row for row in rows}
    groups: list[list[_Stretch]] = []
    for block in sorted(blocks, key=lambda block: block.address):
        if block.begins:
            groups.append([])
        groups[-1].append(block)
    return tuple(_room(group, row_at) for group in groups)


def _natively(snapshot: Snapshot, device: int, event: int) -> list[_Stretch] | None:
    events = snapshot.traces.get(device)
    if events is None:
        return None
    settings = settings_of_snapshot(snapshot.settings)
    earlier = state_before(snapshot, device, settings)
    if first_given_twice(earlier, events) is not None:
        return None
    found = native_replay(snapshot, device, earlier, settings, events, until=event + 1)
    if found is None:
        return None
    address, size, in_use, stream, pool, *truths = (column.tolist() for column in found.left)
    small, expandable, begins = (map(bool, each) for each in truths)
    known = pools_of_events(snapshot, device, events).pools
    pools = (known[each] for each in pool)
    columns = (address, size, map(bool, in_use), stream, pools, small, expandable, begins)
    return [_Stretch(*row) for row in zip(*columns, strict=True)]


def _in_python(snapshot: Snapshot, device: int, event: int) -> list[_Stretch] | None:
    allocator = allocator_after(snapshot, device, event)
    if allocator is None:
        return None
    free = [block for pool in allocator.pools() for block in pool.by_address.values()]
    return [
        _Stretch(
            address=block.address,
            size=block.size,
            in_use=block.in_use,
            stream=block.stream,
            pool=block.pool.number,
            is_small=block.pool.is_small,
            is_expandable=block.range is not None,
            begins=block.before is None or not block.before.is_mapped,
        )
        for block in (*free, *allocator.in_use.values())
    ]


def _room(blocks: list[_Stretch], row_at: dict[int, int]) -> Room:
    first = blocks[0]
    used = [block.address for block in blocks if block.in_use]
    return Room(
        address=first.address,
        bytes=sum(block.size for block in blocks),
        stream=first.stream,
        pool=first.pool,
        is_small=first.is_small,
        is_expandable=first.is_expandable,
        free=tuple(block.size for block in blocks if not block.in_use),
        rows=tuple(row_at[address] for address in used if address in row_at),
    )
