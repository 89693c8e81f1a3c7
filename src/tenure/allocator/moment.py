"""The allocator's segments and blocks at one moment of a trace, by replay."""

from __future__ import annotations

from dataclasses import dataclass

from tenure.allocator.blocks import Block
from tenure.allocator.replay import allocator_after
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


def rooms_after(snapshot: Snapshot, device: int, story: Story, event: int) -> tuple[Room, ...] | None:
    """All segments after this event, by address; None where the replay does not lead there. Cost: one replay."""
    allocator = allocator_after(snapshot, device, event)
    if allocator is None:
        return None
    rows = story.lives.in_use_after(event).tolist()
    row_at = {int(story.lives.address[row]): row for row in rows}
    free = [block for pool in allocator.pools() for block in pool.by_address.values()]
    blocks = sorted((*free, *allocator.in_use.values()), key=lambda block: block.address)
    groups: list[list[Block]] = []
    for block in blocks:
        if block.before is not None and block.before.is_mapped:
            groups[-1].append(block)
        else:
            groups.append([block])
    return tuple(_room(group, row_at) for group in groups)


def _room(blocks: list[Block], row_at: dict[int, int]) -> Room:
    first = blocks[0]
    used = [block.address for block in blocks if block.in_use]
    return Room(
        address=first.address,
        bytes=sum(block.size for block in blocks),
        stream=first.stream,
        pool=first.pool.number,
        is_small=first.pool.is_small,
        is_expandable=first.range is not None,
        free=tuple(block.size for block in blocks if not block.in_use),
        rows=tuple(row_at[address] for address in used if address in row_at),
    )
