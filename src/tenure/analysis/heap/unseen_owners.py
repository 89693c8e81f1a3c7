"""Memory whose owner, or whose very tensor, no census shows: said in words, so that nobody takes it for nothing."""

from __future__ import annotations

from collections.abc import Sequence

from tenure.analysis.heap.dominators import find_dominators
from tenure.analysis.heap.graph import build_graph, reach
from tenure.analysis.heap.islands import unseen_owned
from tenure.analysis.heap.loops import is_on_stack
from tenure.analysis.heap.wording import owner_text
from tenure.model.allocator import LARGEST_WORKSPACE_BYTES
from tenure.model.heap import Census
from tenure.model.recording import Step
from tenure.model.units import format_bytes

WORTH_TELLING_BYTES = 2**20
MOST_OWNERS = 3
WORKSPACES_BYTES = 2 * LARGEST_WORKSPACE_BYTES
"""For the program's thread and autograd's: every program that multiplies has them, and has them for good."""
_WORTH_TELLING_SHARE = 0.05
_GROWN = 1.1


def describe_unseen_owners(censuses: Sequence[Census]) -> tuple[str, ...]:
    """What something outside of the census holds alone in the last two censuses, heaviest first, a sentence each.

    Two, because what the evaluation stack holds at one moment is gone at the next. One search of the last census;
    dominators (ten microseconds per node) only where there is enough to tell of.
    """
    if len(censuses) < 2:
        return ()
    graph, storages = build_graph(censuses[-1]), censuses[-1].storages
    from_roots = reach(graph, graph.roots)[storages.node]
    if int(storages.bytes[~from_roots].sum()) < WORTH_TELLING_BYTES:
        return ()
    before = set(censuses[-2].nodes.address.tolist())
    retained, addresses = find_dominators(graph).retained_bytes, graph.census.nodes.address
    owned = [
        node for node in unseen_owned(graph).tolist() if int(addresses[node]) in before and not is_on_stack(graph, node)
    ]
    heaviest = sorted(owned, key=lambda node: (-int(retained[node]), node))[:MOST_OWNERS]
    return tuple(
        f"{format_bytes(int(retained[node]))} are held by {owner_text(graph, node)}, and by nothing else"
        for node in heaviest
        if retained[node] >= WORTH_TELLING_BYTES
    )


def describe_unseen_device_bytes(steps: Sequence[Step], censuses: Sequence[Census]) -> tuple[str, ...]:
    """What the device's allocator counts and no tensor of the censuses at ends of steps covers, in one sentence.

    Empty without allocator counters (no CUDA), with several devices (the counters are of one), and where it is little
    or no more than cuBLAS keeps anyway.
    """
    allocated = {step.step: step.counters.get("allocated_bytes") for step in steps}
    found: list[tuple[int, int, int]] = []
    devices: set[str] = set()
    for census in censuses:
        total = allocated.get(census.step)
        if census.moment == "step-end" and total is not None:
            seen = _bytes_by_device(census)
            devices |= set(seen)
            found.append((census.step, total - sum(seen.values()), total))
    if len(devices) != 1 or not found:
        return ()
    step, unseen, total = found[-1]
    first_step, first, _ = found[0]
    has_grown = unseen > _GROWN * max(first, 0) + WORTH_TELLING_BYTES
    least = max(WORTH_TELLING_BYTES if has_grown else WORKSPACES_BYTES, _WORTH_TELLING_SHARE * total)
    if unseen < least:
        return ()
    text = (
        f"{format_bytes(unseen)} of the {format_bytes(total)} allocated on {devices.pop()} belong to no tensor that "
        "a census shows: only C++ holds them (gradient buckets, caches, CUDA graphs, workspaces)"
    )
    if has_grown:
        text += f"; at step {first_step} they were {format_bytes(max(first, 0))}, at step {step} these"
    return (text,)


def _bytes_by_device(census: Census) -> dict[str, int]:
    found: dict[str, int] = {}
    for device, num_bytes in zip(census.storages.device.tolist(), census.storages.bytes.tolist(), strict=True):
        name = census.text(device)
        if name.startswith("cuda"):
            found[name] = found.get(name, 0) + num_bytes
    return found
