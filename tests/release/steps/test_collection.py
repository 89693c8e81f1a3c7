"""Garbage is collected at the ends of steps only, as often as its cost allows."""

from __future__ import annotations

import contextlib
import gc
import weakref
from collections.abc import Iterator

import pytest
import torch

from tenure.errors import UsageError
from tenure.release.steps import collection
from tenure.release.steps.collection import choose_period, collect_at_steps


@pytest.fixture
def collections_seen() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(f"generation {info['generation']}")

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)


def make_ring(device: str = "cpu") -> weakref.ref[torch.Tensor]:
    ring = {"tensor": torch.ones(1000, device=device)}
    ring["self"] = ring
    return weakref.ref(ring["tensor"])


def test_nothing_is_collected_inside_a_step_and_rings_go_at_its_end(collections_seen: list[str]) -> None:
    with collect_at_steps() as collector:
        seen = make_ring()
        kept = [[] for _ in range(20_000)]
        inside = list(collections_seen)
        outcome = collector.step()

    assert inside == []
    assert collections_seen == ["generation 2"]
    assert seen() is None
    assert (outcome.ran, outcome.step, outcome.num_unreachable > 0, len(kept)) == (True, 1, True, 20_000)


def test_what_a_collection_gave_back_is_told_by_device(device: str) -> None:
    with collect_at_steps() as collector:
        collector.step()
        make_ring(device)
        collector.period = 1
        outcome = collector.step()
        not_due = collector.step()

    place = "cuda:0" if device == "cuda" else device
    row = next(each for each in outcome.devices if each.device == place)
    assert (row.before_bytes - row.after_bytes >= 4000, outcome.freed_bytes >= 4000) == (True, True)
    assert (row.expected_bytes, not_due.devices, not_due.freed_bytes, not_due.survivors) == (None, (), 0, ())


@pytest.mark.slow
def test_a_ring_that_no_collection_frees_is_told_with_the_reference_to_cut() -> None:
    def hooked() -> weakref.ref[torch.Tensor]:
        doubled = torch.ones(1000, requires_grad=True) * 2
        doubled.register_hook(lambda gradient: gradient * doubled)
        return weakref.ref(doubled)

    hook = f"{hooked.__qualname__}.<locals>.<lambda> (test_collection.py:{hooked.__code__.co_firstlineno + 2})"
    with collect_at_steps() as collector:
        seen = hooked()
        outcome = collector.step()
        told = [each for each in outcome.survivors if "hooked" in "".join(each.path)]
        tensor = seen()
        assert tensor is not None
        tensor._backward_hooks.clear()
        del tensor
        gone = collector.step()

    assert [(each.device, each.bytes >= 4000, each.cut) for each in told] == [("cpu", True, (f"`doubled` in {hook}",))]
    assert told[0].path[0].endswith("a ring through C++ objects, which the collector cannot free")
    assert gone.ran is False or seen() is None


def test_the_period_is_chosen_from_the_measured_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def collect() -> int:
        now[0] += 0.15
        return 7

    monkeypatch.setattr(collection.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(collection.gc, "collect", collect)
    monkeypatch.setattr(collection, "read_device_bytes", dict)
    with collect_at_steps(share=0.01) as collector:
        outcomes = []
        for _ in range(200):
            now[0] += 0.25
            outcomes.append(collector.step())

    ran = [outcome.step for outcome in outcomes if outcome.ran]
    assert ran == [1, 64, 128, 192]
    assert collector.num_collections == 4
    assert str(outcomes[0]) == "step 1: 7 unreachable objects in 150.0 ms, 0 B of tensors; next in 64 steps"
    assert str(outcomes[1]) == "step 2: not due (every 64 steps)"


def test_periods_divide_each_other_so_that_ranks_meet() -> None:
    periods = {choose_period(cost / 1000, 0.1, 0.01) for cost in range(1, 5000, 7)}

    assert periods == {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096} & periods
    assert max(periods) <= collection.LONGEST_PERIOD
    assert choose_period(1.0, 0.0, 0.01) == collection.LONGEST_PERIOD


def test_many_new_objects_are_collected_before_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MOST_OBJECTS", 1000)
    with collect_at_steps() as collector:
        collector.period = 64
        collector.num_steps = 1
        kept = [[] for _ in range(2000)]
        outcome = collector.step()

    assert outcome.ran
    assert len(kept) == 2000


@pytest.mark.parametrize("enabled", [True, False])
def test_automatic_collection_is_afterwards_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with contextlib.suppress(ValueError), collect_at_steps():
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("share", [0, 1, -0.1])
def test_a_share_outside_of_its_range_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match="above 0 and below 1"), collect_at_steps(share):
        pass
