from __future__ import annotations

import dataclasses

import pytest

from heaps import census
from profiles import MIB, STRINGS, profile
from tenure.analysis.host.system_growth import find_makers
from tenure.analysis.idle.autocast_cache import find_autocast_cache
from tenure.analysis.idle.step_replay import Replay
from tenure.model.profile import StepProfile
from tenure.model.source import SourceFile, SourceLocation

WEIGHTS, OUTPUT = (100, 200, 300), 400
REGION = "def serve(model, batch):\n    with torch.autocast('cpu'{}):\n        return model(batch)\n"


def casts(*, death: tuple[int, int, int] = (9, 9, 9), last_use: int = 6) -> StepProfile:
    """Three weights that the second step casts at its begin, beside an output that is made at its peak."""
    made = [(address, 2, 5, last_use, end) for address, end in zip(WEIGHTS, death, strict=True)]
    seen = profile(*made, (OUTPUT, 3, 7, 8, 8))
    names = seen.operations.name.copy()
    names[5] = len(STRINGS)
    operations = dataclasses.replace(seen.operations, name=names)
    return dataclasses.replace(seen, strings=(*STRINGS, "aten._to_copy.default"), operations=operations)


def told(seen: StepProfile, *, held: str = "unseen", options: str = "") -> list[tuple[tuple[SourceLocation, ...], int]]:
    lines = [f"{held.format(n=n)} -> tensor#w{n} 2MiB" for n in range(3)]
    made = census("\n".join([*lines, "f(t.py:3).out -> tensor 3MiB"]), step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = [*WEIGHTS, OUTPUT]
    heap = dataclasses.replace(made, nodes=dataclasses.replace(made.nodes, address=address))
    source = SourceFile("/p/serve.py", REGION.format(options))
    regions = tuple(find_makers("autocast", "", "", {source.path: source}))
    return [(each.holder.sites, each.peak_drop_bytes or 0) for each in find_autocast_cache(Replay(seen, heap), regions)]


def test_casts_that_nothing_uses_again_before_the_region_ends_are_told_with_its_statement() -> None:
    # 9 MiB at the peak; without the casts, which take 6 themselves, no more than that.
    assert told(casts()) == [((SourceLocation("/p/serve.py", 2, "serve"),), 3 * MIB)]


@pytest.mark.parametrize(
    ("seen", "held", "options"),
    [
        (casts(last_use=8), "unseen", ""),
        (casts(death=(7, 8, 9)), "unseen", ""),
        (casts(), "f(t.py:3).kept{n}", ""),
        (casts(), "unseen", ", cache_enabled=False"),
    ],
    ids=["used again", "freed one by one", "held by a name", "the cache is off"],
)
def test_casts_that_are_used_or_held_or_not_cached_are_none(seen: StepProfile, held: str, options: str) -> None:
    assert told(seen, held=held, options=options) == []
