"""Library caches are listed with their sizes, and cleared when they are named."""

from __future__ import annotations

import functools
import gc
import sys
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from release.caching.stub_device import StubDevice
from tenure.errors import UsageError
from tenure.release.caching.caches import _CACHES, LibraryCache, _pinned, caches, clear_caches


@pytest.fixture(autouse=True)
def no_error_before() -> Iterator[None]:
    names = ("last_exc", "last_value", "last_type", "last_traceback")
    before = {name: vars(sys).pop(name) for name in names if hasattr(sys, name)}
    gc.collect()  # rings of other tests are not what is cleared here
    yield
    for name in names:
        vars(sys).pop(name, None)
    vars(sys).update(before)


def named(name: str) -> LibraryCache | None:
    return next((each for each in caches() if each.name == name), None)


def raise_with_a_tensor() -> weakref.ref[torch.Tensor]:
    def fail() -> None:
        activations = torch.ones(1000)
        seen.append(weakref.ref(activations))
        raise RuntimeError("as at the prompt")

    seen: list[weakref.ref[torch.Tensor]] = []
    try:
        fail()
    except RuntimeError as error:
        sys.last_value, sys.last_type, sys.last_traceback = error, type(error), error.__traceback__
    return seen[0]


def test_the_last_error_is_listed_with_what_it_keeps_and_cleared() -> None:
    tensor = raise_with_a_tensor()
    listed = named("last_error")
    alive = tensor() is not None
    outcome = clear_caches("last_error")

    assert listed is not None
    assert (listed.num_entries, listed.bytes, alive) == (2, 4000, True)
    assert tensor() is None
    assert named("last_error") is None
    assert outcome.did == ("last_error: cleared, 2 -> 0 entries, 3.91 KiB -> 0 B",)
    assert [(each.device, each.before_bytes - each.after_bytes) for each in outcome.devices] == [("cpu", 4000)]
    assert (outcome.devices[0].expected_bytes, outcome.survivors) == (None, ())


@pytest.mark.slow
def test_a_tensor_of_the_last_error_that_somebody_else_holds_is_told() -> None:
    held = [raise_with_a_tensor()()]
    outcome = clear_caches("last_error")

    (survivor,) = outcome.survivors
    assert (survivor.what, survivor.bytes) == ("`activations` in fail", 4000)
    assert survivor.cut[0].startswith("`held` in test_a_tensor_of_the_last_error")
    assert len(held) == 1


def test_autocasts_cache_is_listed_inside_its_region_and_its_copies_go(device: str) -> None:
    weight = torch.nn.Parameter(torch.ones(64, 64, device=device))
    batch = torch.ones(2, 64, device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        torch.nn.functional.linear(batch, weight)
        listed = named("autocast")
        used = weight._use_count()
        outcome = clear_caches("autocast")
        cleared = weight._use_count()

    assert listed is not None
    assert (listed.num_entries, listed.bytes) == (None, None)
    assert cleared < used
    assert outcome.did == ("autocast: cleared",)
    assert named("autocast") is None


@pytest.mark.slow
def test_dynamo_is_cleared_where_it_is_loaded() -> None:
    compiled = torch.compile(lambda tensor: tensor * 2, backend="eager")
    compiled(torch.ones(3))
    listed = named("dynamo")

    assert listed is not None
    assert listed.num_entries is not None
    assert clear_caches("dynamo").did[0].startswith("dynamo: cleared")


def test_what_is_not_in_use_is_left_and_said() -> None:
    outcome = clear_caches("last_error", "autocast")

    assert outcome.did == ()
    assert outcome.kept == (
        "last_error: not in use in this process",
        "autocast: not in use in this process",
    )


def test_a_name_that_no_cache_has_is_refused_before_anything_is_cleared() -> None:
    tensor = raise_with_a_tensor()
    with pytest.raises(UsageError, match="there is no cache nothing; there are autocast, cufft, cublas, pinned"):
        clear_caches("last_error", "nothing")
    with pytest.raises(UsageError, match="no cache was named"):
        clear_caches()

    assert tensor() is not None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_the_devices_caches_are_listed_and_cleared() -> None:
    torch.fft.rfft(torch.ones(1024, device="cuda"))
    torch.ones(64, 64, device="cuda") @ torch.ones(64, 64, device="cuda")
    torch.empty(1 << 20).pin_memory()
    torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    listed = {each.name: each for each in caches()}
    outcome = clear_caches("cufft", "cublas", "pinned", "allocator")

    assert {"cufft", "cublas", "pinned", "allocator"} <= set(listed)
    assert (listed["cufft"].num_entries or 0) >= 1
    assert listed["pinned"].bytes is None or listed["pinned"].bytes >= 1 << 22
    assert (listed["allocator"].bytes or 0) >= 1 << 28
    assert len(outcome.did) == 4
    assert str(listed["cufft"]).startswith("cufft: 1 entries, size unknown; plans")


def counted(num_owned: int, num_used: int, owned: int, used: int) -> dict[str, dict[str, int]]:
    """As torch counts pinned memory: blocks and bytes that it owns, and what of them is in use."""
    names = {"allocations": num_owned, "active_requests": num_used, "allocated_bytes": owned, "active_bytes": used}
    return {name: {"current": number, "peak": 99} for name, number in names.items()}


OF_TORCH_2_8 = {name: {"current": 2} for name in ("segment", "allocation", "reserved_bytes", "allocated_bytes")}


@pytest.mark.parametrize(
    ("version", "stats", "listed"),
    [
        ("2.13.0+cpu", counted(3, 1, 7 << 20, 1 << 20), (2, 6 << 20)),
        ("2.14.1", counted(3, 3, 7, 7), (0, 0)),
        ("2.11.0+cu128", counted(3, 3, 7, 7), (None, None)),  # nothing that was freed is counted as free there
        ("2.11.0+cu128", counted(0, 4, 0, 9), (0, 0)),
        ("2.8.0", OF_TORCH_2_8, (None, None)),
        ("2.13.0", {}, (None, None)),
    ],
)
def test_pinned_memory_is_told_where_torch_counts_it_rightly(
    version: str, stats: dict[str, dict[str, int]], listed: tuple[int | None, int | None], monkeypatch: Any
) -> None:
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "host_memory_stats_as_nested_dict", lambda: stats, raising=False)
    monkeypatch.setattr(torch, "__version__", version)
    found = _pinned()

    assert found is not None
    assert (found.num_entries, found.bytes) == listed


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> StubDevice:
    """One whose caches note that they are cleared, and what is alive by then."""
    made = StubDevice(monkeypatch)
    monkeypatch.setattr("tenure.release.caching.caches.read_device_bytes", dict)
    for name in ("cublas", "pinned", "allocator"):

        def clear(name: str = name) -> str:
            made.asked.append(f"clear {name}")
            return ""

        look = functools.partial(LibraryCache, name, "", None, None, "")
        monkeypatch.setitem(_CACHES, name, (look, clear))
    return made


@pytest.mark.parametrize("turned", [False, True])
def test_what_others_let_go_of_is_free_when_the_allocators_give_back(turned: bool, stub: StubDevice) -> None:
    names = ["pinned", "allocator", "cublas", "last_error"]
    tensor = raise_with_a_tensor()
    alive = []
    _CACHES["allocator"] = _CACHES["allocator"][0], lambda: alive.append(tensor() is not None) or ""
    outcome = clear_caches(*(reversed(names) if turned else names))

    assert alive == [False]
    assert [each for each in stub.asked if each.startswith("clear")] == ["clear cublas", "clear pinned"]
    assert [each.partition(":")[0] for each in outcome.did] == (names[::-1] if turned else names)


def test_while_a_graph_is_captured_the_devices_caches_are_left_and_others_go(stub: StubDevice) -> None:
    raise_with_a_tensor()
    with stub.captured():
        outcome = clear_caches("allocator", "last_error", "cublas")

    reason = "a stream is being captured into a CUDA graph"
    assert outcome.kept == (f"allocator: {reason}", f"cublas: {reason}")
    assert [each.partition(":")[0] for each in outcome.did] == ["last_error"]
    assert [each for each in stub.asked if each.startswith("clear")] == []


def test_listing_caches_starts_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = StubDevice(monkeypatch)
    caches()

    assert set(stub.asked) == {"is_initialized"}


@pytest.mark.slow
def test_clearing_compiled_code_warns_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch._dynamo as dynamo

    monkeypatch.setattr(dynamo, "reset", lambda: warnings.warn("old", DeprecationWarning, stacklevel=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        outcome = clear_caches("dynamo")

    assert len(outcome.did) == 1
