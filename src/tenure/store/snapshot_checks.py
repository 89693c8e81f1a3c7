"""What has to hold of a snapshot's columns before anything is computed from them."""

from __future__ import annotations

from tenure.model.allocator import Blocks, Events, Segments

_MOST_BYTES = 1 << 41


def check_places(segments: Segments, blocks: Blocks) -> None:
    """ValueError unless segments lie apart, and blocks apart in their segments."""
    ends = segments.address + segments.bytes
    apart = (segments.address[1:] >= ends[:-1]) | (segments.device[1:] != segments.device[:-1])
    if (segments.address < 0).any() or (segments.bytes <= 0).any() or not apart.all():
        raise ValueError("segments that overlap, or have no bytes")
    block_ends = blocks.address + blocks.bytes
    apart = (blocks.address[1:] >= block_ends[:-1]) | (blocks.segment[1:] != blocks.segment[:-1])
    inside = (blocks.address >= segments.address[blocks.segment]) & (block_ends <= ends[blocks.segment])
    if (segments.bytes > _MOST_BYTES).any() or (blocks.requested > _MOST_BYTES).any():
        raise ValueError("more bytes than any device has")
    if (blocks.bytes <= 0).any() or (blocks.requested < 0).any() or not (apart.all() and inside.all()):
        raise ValueError("blocks that overlap, have no bytes, or lie outside of their segments")


def check_sizes(events: Events) -> Events:
    """The events; ValueError where a size is none."""
    if (events.bytes < 0).any() or (events.bytes > _MOST_BYTES).any():
        raise ValueError("an event of fewer than no bytes, or of more than any device has")
    return events
