from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import nn

from capture.reading import Reading
from tenure.capture.heap.census import take_census
from tenure.capture.heap.native_owners import REDUCER_TYPE, is_autocast_caching
from tenure.model.heap import NodeKind
from tenure.model.heap import ReferenceKind as Kind
from tenure.model.recording import AUTOCAST_CACHE

LISTS_ALL_OBJECTS = True

pytestmark = pytest.mark.slow  # censuses of this whole process

WRAPPERS_STAY = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 13)


def read() -> Reading:
    return Reading(take_census(step=1, moment="request"))


def autocast_cache(census: Reading) -> list[int]:
    """What the cache is told to hold."""
    return [
        target
        for node in range(len(census.census.nodes.kind))
        if census.kind(node) is NodeKind.HIDDEN and census.name(node) == AUTOCAST_CACHE
        for _, _, target in census.out[node]
    ]


@pytest.fixture
def one_process() -> Iterator[None]:
    """A process group of this process alone."""
    with tempfile.TemporaryDirectory() as folder:
        store = torch.distributed.FileStore(str(Path(folder) / "store"), 1)
        torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=store)
        yield
        torch.distributed.destroy_process_group()


def test_weights_copied_in_an_autocast_region_are_held_by_its_cache_until_it_ends() -> None:
    net, batch = nn.Linear(8, 4), torch.randn(2, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        net(batch)
        inside = read()
    after = read()

    parameters = {inside.node_of(net.weight), inside.node_of(net.bias)}
    assert set(autocast_cache(inside)) == parameters
    assert any("autocast" in note for note in inside.census.notes)
    assert (autocast_cache(after), after.census.notes) == ([], ())


def test_copies_whose_graph_an_earlier_census_saw_are_told_by_their_nodes() -> None:
    net, batch = nn.Linear(8, 4), torch.randn(2, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(batch)
        while_used = read()
        del loss
        inside = read()

    assert autocast_cache(while_used) == []
    # Before torch 2.13 an earlier census leaves no trace on a node: the copies are told as their parameters.
    told_as = "ToCopyBackward0" if WRAPPERS_STAY else "torch.nn.parameter.Parameter"
    assert [inside.type(node) for node in autocast_cache(inside)] == [told_as, told_as]


@pytest.mark.parametrize(("enabled", "cached"), [(True, True), (True, False), (False, True)])
def test_a_cache_that_is_off_holds_nothing(enabled: bool, cached: bool) -> None:
    net = nn.Linear(8, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled, cache_enabled=cached):
        net(torch.randn(2, 8))
        caching, census = is_autocast_caching(), read()

    assert caching == (enabled and cached)
    assert bool(autocast_cache(census)) == caching


def test_inside_of_a_region_the_cache_is_kept_where_autocast_is_switched_off_for_a_while() -> None:
    net, others = nn.Linear(8, 4), nn.Linear(4, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            net(torch.randn(2, 8))
        with torch.autocast("cpu", enabled=False):
            others(torch.randn(2, 4))
            caching, census = is_autocast_caching(), read()

    assert caching
    assert [census.type(node) for node in autocast_cache(census)] == ["torch.nn.parameter.Parameter"] * 2


def test_asking_for_the_region_changes_nothing() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        asked = [is_autocast_caching() for _ in range(3)]
        nesting = torch.autocast_increment_nesting()
        torch.autocast_decrement_nesting()

    assert (asked, nesting, is_autocast_caching()) == ([True] * 3, 2, False)


@pytest.mark.usefixtures("one_process")
def test_the_reducer_of_a_data_parallel_module_holds_its_parameters_and_tells_of_its_buckets() -> None:
    parallel = nn.parallel.DistributedDataParallel(nn.Linear(256, 64))

    census = read()

    reducer = census.path(Kind.DICT, (Kind.ITEM, "'reducer'"), start=census.node_of(parallel))
    assert census.type(reducer) == REDUCER_TYPE
    assert census.out[reducer] == [
        (Kind.NATIVE, "parameter", census.node_of(parameter)) for parameter in parallel.parameters()
    ]
    assert census.census.notes == (
        "DistributedDataParallel keeps 64.25 KiB of gradient buckets in C++, beside the gradients "
        "(with gradient_as_bucket_view=True these lie in the buckets)",
    )


@pytest.mark.usefixtures("one_process")
def test_gradients_that_lie_in_buckets_are_held_by_the_reducer() -> None:
    parallel = nn.parallel.DistributedDataParallel(nn.Linear(256, 64), gradient_as_bucket_view=True)
    parallel(torch.randn(2, 256)).sum().backward()

    census = read()

    reducer = census.path(Kind.DICT, (Kind.ITEM, "'reducer'"), start=census.node_of(parallel))
    buckets = [target for kind, label, target in census.out[reducer] if label == "gradient bucket"]
    of_gradients = set(census.storages_below(census.path(Kind.GRAD, start=census.node_of(parallel.module.weight))))
    assert (set(buckets), census.census.notes) == (of_gradients, ())
