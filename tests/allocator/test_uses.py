"""What is computed of all events at once is what a walk through them, one by one, comes to."""

from __future__ import annotations

import random
from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from allocator.recorded import Program
from tenure.allocator.earlier_state import state_before
from tenure.allocator.lifetimes import BEFORE, lives_of
from tenure.allocator.requests import Kind, requests_of
from tenure.allocator.settings import AllocatorSettings
from tenure.allocator.uses import NEVER, uses_of
from tenure.model.allocator import Action, Blocks, Events, Segments, Snapshot
from tenure.store.torch_snapshot import snapshot_from_bytes

seeds = st.integers(0, 10_000)


def any_events(seed: int, num: int = 60) -> Events:
    """Events of all kinds at a few addresses, as no allocator would write them."""
    chance = random.Random(seed)
    action = [chance.choice((1, 1, 1, 2, 3, 3, 3, 5, 9, 0)) for _ in range(num)]
    rows = [(each, chance.randrange(8) * 512, chance.randrange(1, 5) * 512, 0, 0, -1, -1, -1) for each in action]
    return Events(*np.array(rows, dtype=np.int64).T)


def any_snapshot(seed: int) -> Snapshot:
    """Such events, and blocks in use at the end that need not fit them."""
    left = sorted(random.Random(seed + 1).sample(range(8), seed % 5))
    segments = Segments(*(np.array([each]) for each in (0, 0, 8 * 512, 0, 1, 0, 0)))
    rows = [(0, place * 512, 512, 300, 1, -1) for place in left]
    return Snapshot(segments, Blocks(*np.array(rows, dtype=np.int64).reshape(len(rows), 6).T), {0: any_events(seed)})


@given(seed=seeds)
def test_the_events_before_and_after_at_an_address(seed: int) -> None:
    uses = uses_of(any_events(seed))
    last: dict[int, int] = {}
    expected = []
    for row, address in enumerate(uses.address.tolist()):
        expected.append(last.get(address, NEVER))
        last[address] = row

    assert uses.previous.tolist() == expected
    following = {before: row for row, before in enumerate(expected)}
    assert uses.following.tolist() == [following.get(row, NEVER) for row in range(len(expected))]


@given(seed=seeds)
def test_what_was_in_use_before(seed: int) -> None:
    snapshot = any_snapshot(seed)
    in_use = {int(address): (300, True) for address in snapshot.blocks.address}
    segments = {0}
    num_inconsistent = 0
    events = snapshot.traces[0]
    told = list(zip(events.action.tolist(), events.address.tolist(), events.bytes.tolist(), strict=True))
    for action, address, size in reversed(told):
        if action == Action.ALLOC:
            num_inconsistent += in_use.pop(address, None) is None
        elif action == Action.FREE_COMPLETED:
            num_inconsistent += address in in_use
            in_use[address] = (size, False)
        elif action == Action.SEGMENT_FREE:
            num_inconsistent += address in segments
            segments.add(address)

    found = state_before(snapshot, 0, AllocatorSettings())

    assert [(block.address, block.requested) for block in found.blocks] == [
        (address, in_use[address][0]) for address in sorted(in_use)
    ]
    assert found.num_inconsistent == num_inconsistent


@given(seed=seeds, share=st.floats(0, 1))
def test_lives_and_requests(seed: int, share: float) -> None:
    program = Program(total_bytes=(160 << 20) * (seed % 2) or None)
    program.run(seed)
    for snapshot in (
        snapshot_from_bytes(program.pickled(int(len(program.events) * share)), "made"),
        any_snapshot(seed),
    ):
        earlier = state_before(snapshot, 0, AllocatorSettings())
        rows = [(block.address, BEFORE) for block in earlier.blocks]
        asked: list[tuple[int, int]] = [(Kind.ALLOCATE, number) for number in range(len(rows))]
        freed = [len(snapshot.traces[0])] * len(rows)
        row_at = {address: number for number, (address, _) in enumerate(rows)}
        events = snapshot.traces[0]
        for number, (action, address) in enumerate(zip(events.action.tolist(), events.address.tolist(), strict=True)):
            if action == Action.ALLOC:
                asked.append((Kind.ALLOCATE, len(rows)))
                row_at[address] = len(rows)
                rows.append((address, number))
                freed.append(len(events))
            elif action == Action.FREE_COMPLETED and address in row_at:
                asked.append((Kind.FREE, row_at[address]))
                freed[row_at.pop(address)] = number
            elif action in (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP) and asked:
                asked.append((Kind.GIVE_BACK, -1))
            elif action == Action.OOM:
                asked.append((Kind.OUT_OF_MEMORY, -1))

        lives = lives_of(snapshot, 0, earlier)
        requests = requests_of(snapshot, 0, AllocatorSettings())

        assert list(zip(lives.address.tolist(), lives.born.tolist(), strict=True)) == rows
        assert lives.freed.tolist() == freed
        kind = np.where(requests.kind == Kind.RETRY, Kind.GIVE_BACK, requests.kind).tolist()
        found = list(zip(kind, requests.number.tolist(), strict=True))
        assert [each for each, _ in groupby(found)] == [each for each, _ in groupby(asked)]
