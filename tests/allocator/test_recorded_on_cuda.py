"""What torch recorded of `programs_on_cuda.py` on a CUDA device: the replay, the settings and the advice against it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allocator.programs_on_cuda import (
    FIGURES,
    GROWING,
    NEEDS_CUDA,
    PROGRAMS,
    SNAPSHOT,
    Program,
    record_all,
)
from allocator.programs_on_cuda import __file__ as SCRIPT  # noqa: N812
from tenure.allocator import native
from tenure.allocator.advisor import Candidate, advise
from tenure.allocator.confirmed import CONFIRMED, rules_of
from tenure.allocator.out_of_memory import out_of_memory_in
from tenure.allocator.played import played
from tenure.allocator.pools import pools_of_events
from tenure.allocator.replay import allocator_after, levels_in_python, replay_in_python, replay_snapshot
from tenure.allocator.requests import OF_ITSELF, Kind, Requests, requests_of
from tenure.allocator.settings import AllocatorSettings, parse_settings, settings_of_snapshot
from tenure.allocator.simulator import Allocator
from tenure.allocator.story import story_of
from tenure.model.allocator import DEFAULT_POOL, Action, Snapshot
from tenure.store.torch_snapshot import read_snapshot

FOLDER = Path(__file__).resolve().parent / "recorded_on_cuda"
NAMES = [path.name.removesuffix(SNAPSHOT) for path in sorted(FOLDER.glob(f"*{SNAPSHOT}"))]
_NONE = pytest.param("", marks=pytest.mark.skip(reason="no traces were recorded on a CUDA device"))
FIRST, *OTHERS = GROWING


@cache
def snapshot_of(name: str) -> Snapshot:
    return read_snapshot(FOLDER / f"{name}{SNAPSHOT}")


@cache
def figures_of(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}{FIGURES}").read_text(encoding="utf-8"))


def counts_of(name: str) -> dict[str, int]:
    """Torch's own at the end."""
    return figures_of(name)["moments"][-1]["counts"]


def recorded(names: list[str]) -> list[Any]:
    return [*names] or [_NONE]


every_program = pytest.mark.parametrize("name", recorded(NAMES))


@every_program
def test_every_allocation_and_every_segment_comes_out_as_torch_recorded_it(name: str) -> None:
    replay = replay_snapshot(snapshot_of(name), 0)

    assert replay.first_difference is None
    assert (replay.num_allocations_equal, replay.num_segments_equal) == (replay.num_allocations, replay.num_segments)
    assert (replay.blocks_equal, replay.is_whole, replay.is_equal) == (True, True, True)
    assert replay.num_allocations > 100
    assert replay.earlier.blocks == replay.earlier.segments == ()
    assert replay.earlier.num_inconsistent == 0


@every_program
def test_the_replay_in_python_comes_to_the_same(name: str) -> None:
    assert replay_in_python(snapshot_of(name), 0) == replay_snapshot(snapshot_of(name), 0)


@pytest.mark.skipif(native._native is None, reason="the native simulator was not built")
@every_program
def test_the_native_simulator_plays_it_to_the_end(name: str) -> None:
    snapshot = snapshot_of(name)
    earlier = replay_snapshot(snapshot, 0).earlier

    found = native.native_replay(
        snapshot, 0, earlier, settings_of_snapshot(snapshot.settings), snapshot.traces[0], None, None
    )

    assert found is not None


@every_program
def test_no_action_of_a_trace_is_unknown(name: str) -> None:
    assert snapshot_of(name).unknown_actions == {}


@every_program
def test_the_settings_are_those_that_torch_was_told(name: str) -> None:
    found = settings_of_snapshot(snapshot_of(name).settings)

    assert found == parse_settings(figures_of(name)["settings"])


@every_program
def test_the_peaks_are_those_that_torch_counted(name: str) -> None:
    replay, counts = replay_snapshot(snapshot_of(name), 0), counts_of(name)

    assert replay.active.bytes == counts["active_bytes.all.peak"]
    assert replay.reserved.bytes == counts["reserved_bytes.all.peak"]


@every_program
def test_what_is_in_use_and_reserved_at_each_moment_is_what_torch_counted(name: str) -> None:
    moments = figures_of(name)["moments"]
    levels = levels_in_python(snapshot_of(name), 0)
    assert levels is not None

    told = [
        (each["events"], each["counts"]["active_bytes.all.current"], each["counts"]["reserved_bytes.all.current"])
        for each in moments
    ]
    assert told == [(each[0], *(int(level[each[0] - 1]) for level in levels)) for each in told]


@every_program
def test_what_else_torch_counts_at_each_moment_is_what_the_replay_counts(name: str) -> None:
    told, found = {}, {}
    for each in figures_of(name)["moments"]:
        allocator = allocator_after(snapshot_of(name), 0, each["events"] - 1)
        assert allocator is not None
        found[each["moment"]] = counted(allocator)
        told[each["moment"]] = {key: each["counts"][key] for key in found[each["moment"]]}

    assert found == told


def counted(allocator: Allocator) -> dict[str, int]:
    """By torch's names: free blocks beside others count as split, but not those of expandable segments."""
    free = [block for pool in allocator.pools() for block in pool.by_address.values()]
    split = [block.size for block in free if block.range is None and not block.is_whole]
    firsts = [each for each in (*free, *allocator.in_use.values()) if each.range is None and each.before is None]
    return {
        "active.all.current": len(allocator.in_use),
        "requested_bytes.all.current": allocator.counts.requested_bytes,
        "inactive_split.all.current": len(split),
        "inactive_split_bytes.all.current": sum(split),
        "segment.all.current": len(firsts),
        "num_device_alloc": allocator.counts.num_device_allocations,
        "num_device_free": allocator.counts.num_device_frees,
    }


@every_program
def test_each_segment_belongs_to_the_pool_and_the_stream_that_torch_says(name: str) -> None:
    snapshot = snapshot_of(name)
    allocator = allocator_after(snapshot, 0, len(snapshot.traces[0]) - 1)
    assert allocator is not None
    told, blocks = snapshot.segments, allocator.in_use
    free = {address: block for pool in allocator.pools() for address, block in pool.by_address.items()}
    at_start = [blocks.get(address) or free[address] for address in told.address.tolist()]

    found = [(each.pool.number, each.pool.is_small, each.stream) for each in at_start]
    pools = [snapshot.pools[row] for row in told.pool.tolist()]
    assert found == list(zip(pools, map(bool, told.is_small.tolist()), told.stream.tolist(), strict=True))


@every_program
def test_errors_of_memory_are_as_many_as_torch_counted(name: str) -> None:
    num_errors = int((snapshot_of(name).traces[0].action == Action.OOM).sum())

    assert num_errors == counts_of(name)["num_ooms"]


@pytest.mark.parametrize("name", recorded([name for name in NAMES if counts_of(name)["num_ooms"]]))
def test_an_error_that_a_fraction_causes_is_said_to_be_held_back(name: str) -> None:
    replay = replay_snapshot(snapshot_of(name), 0)

    error = out_of_memory_in(snapshot_of(name), replay, story_of(snapshot_of(name), replay))

    assert error is not None
    assert error.is_held_back
    assert error.num_errors == counts_of(name)["num_ooms"]


class _Noting:
    """A device that is only told what goes back."""

    def __init__(self) -> None:
        self.back: list[tuple[int, int]] = []

    def take_back(self, address: int, size: int) -> None:
        self.back.append((address, size))

    take_from_behind = take_back


@pytest.mark.parametrize("name", recorded([name for name in NAMES if figures_of(name)["emptied_at"]]))
def test_empty_cache_gives_back_what_torchs_rule_gives_back_in_its_order(name: str) -> None:
    """Which private pools nobody uses any more is taken from the trace: what goes back of them and when is not."""
    events = snapshot_of(name).traces[0]
    pools = pools_of_events(snapshot_of(name), 0, events)
    action = events.action.tolist()
    told, found = [], []
    for begin in figures_of(name)["emptied_at"]:
        begin += 1  # behind the event of the snapshot that counted them
        while action[begin] == Action.FREE_COMPLETED:  # other streams were waited for
            begin += 1
        end = begin
        while action[end] in (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP):
            end += 1
        told.append(list(zip(events.address[begin:end].tolist(), events.bytes[begin:end].tolist(), strict=True)))
        allocator = allocator_after(snapshot_of(name), 0, begin - 1)
        assert allocator is not None
        allocator._device = noting = _Noting()
        gone = [pools.pools[row] for row in pools.rows[begin:end].tolist()]
        for number in dict.fromkeys((DEFAULT_POOL, *gone)):
            allocator.give_back(number)
        found.append(noting.back)

    assert found == told
    assert any(told)


def asked_alone(requests: Requests) -> Requests:
    """The same without being told what went back, and what was refused is asked for as all else."""
    is_kept = ~np.isin(requests.kind, (Kind.GIVE_BACK, *OF_ITSELF))
    requests = requests.chosen(is_kept)
    is_refused = requests.kind == Kind.OUT_OF_MEMORY
    number = requests.number.copy()
    number[is_refused] = number.max(initial=-1) + 1 + np.arange(int(is_refused.sum()))
    kind = np.where(is_refused, Kind.ALLOCATE, requests.kind)
    return replace(requests, kind=kind, number=number)


def limited(name: str) -> AllocatorSettings:
    """As torch had them, with the fraction that a call has set."""
    settings, fraction = parse_settings(figures_of(name)["settings"]), figures_of(name)["fraction"]
    return replace(settings, memory_fraction=fraction) if fraction < 1 else settings


@pytest.mark.parametrize("name", recorded([name for name in NAMES if figures_of(name)["by_requests"]]))
def test_collections_retries_and_errors_follow_from_the_requests_alone(name: str) -> None:
    counts, settings = counts_of(name), limited(name)
    requests = asked_alone(requests_of(snapshot_of(name), 0, settings))

    found = played(requests, settings, limit_bytes=figures_of(name)["total_bytes"])

    assert {
        "reserved_bytes.all.peak": found.peak_reserved_bytes,
        "active_bytes.all.peak": found.peak_active_bytes,
        "num_device_alloc": found.num_device_allocations,
        "num_alloc_retries": found.num_retries,
        "num_ooms": found.num_out_of_memory,
    } == {
        key: counts[key]
        for key in (
            "reserved_bytes.all.peak",
            "active_bytes.all.peak",
            "num_device_alloc",
            "num_alloc_retries",
            "num_ooms",
        )
    }


@every_program
def test_what_is_predicted_of_the_recorded_settings_is_what_torch_reserved(name: str) -> None:
    recorded_ones, counts = advise(snapshot_of(name), 0, []).recorded, counts_of(name)

    assert recorded_ones.peak_reserved_bytes == counts["reserved_bytes.all.peak"]
    assert recorded_ones.peak_active_bytes == counts["active_bytes.all.peak"]
    assert recorded_ones.num_device_allocations == counts["num_device_alloc"]


@pytest.mark.parametrize("name", recorded([name for name in NAMES if not figures_of(name)["emptied_at"]]))
def test_what_the_allocator_gave_back_of_itself_is_not_taken_for_the_programs_call(name: str) -> None:
    """A capture of a graph begins with `empty_cache()`."""
    requests = requests_of(snapshot_of(name), 0, settings_of_snapshot(snapshot_of(name).settings))

    assert (Kind.GIVE_BACK in requests.kind) == (name == "graphs")


def predicted(name: str) -> Candidate:
    """Of a growing program's settings, from the trace under defaults."""
    text = GROWING[name]
    is_limited = parse_settings(text).memory_fraction < 1
    total = figures_of(FIRST)["total_bytes"] if is_limited else None
    (found,) = advise(snapshot_of(FIRST), 0, [text], total).candidates
    return found


growing_ones = pytest.mark.parametrize("name", recorded([name for name in OTHERS if {FIRST, name} <= {*NAMES}]))


@growing_ones
def test_the_same_program_asks_for_the_same_under_other_settings(name: str) -> None:
    def asked(of: str) -> list[tuple[int, int]]:
        events = snapshot_of(of).traces[0]
        chosen = (events.action == Action.ALLOC) | (events.action == Action.FREE_COMPLETED)
        return list(zip(events.action[chosen].tolist(), events.bytes[chosen].tolist(), strict=True))

    assert asked(name) == asked(FIRST)


@growing_ones
def test_the_advice_predicts_what_torch_reserved_under_other_settings(name: str) -> None:
    found = predicted(name)

    assert found.peak_reserved_bytes == counts_of(name)["reserved_bytes.all.peak"]
    assert found.peak_active_bytes == counts_of(name)["active_bytes.all.peak"]


@growing_ones
def test_the_advice_predicts_how_often_torch_asked_the_device(name: str) -> None:
    found, counts = predicted(name), counts_of(name)

    assert found.num_device_allocations == counts["num_device_alloc"]
    assert (found.num_retries, found.num_refused) == (counts["num_alloc_retries"], counts["num_ooms"])


@pytest.mark.skipif(len(NAMES) < len(PROGRAMS), reason="not all programs were recorded on a CUDA device")
def test_settings_are_said_to_be_confirmed_that_traces_were_recorded_under() -> None:
    assert {rules_of(limited(name)) for name in NAMES} == {*CONFIRMED}


@pytest.mark.skipif(FIRST not in NAMES, reason="no traces were recorded on a CUDA device")
def test_the_settings_that_are_advised_are_those_that_reserved_least() -> None:
    told = advise(snapshot_of(FIRST), 0, [text for text in GROWING.values() if "fraction" not in text])
    reserved = {GROWING[name]: counts_of(name)["reserved_bytes.all.peak"] for name in GROWING if name in NAMES}
    tried = {each.settings: reserved[each.settings] for each in told.candidates}

    assert told.best is not None
    assert told.best.settings == min(tried, key=lambda text: tried[text])


def test_the_script_says_which_programs_it_has() -> None:
    found = subprocess.run([sys.executable, SCRIPT, "--list"], capture_output=True, text=True, check=True)

    assert [line.split()[0] for line in found.stdout.splitlines()] == [program.name for program in PROGRAMS]


def test_the_script_names_a_program_that_it_does_not_have(tmp_path: Path) -> None:
    found = subprocess.run([sys.executable, SCRIPT, str(tmp_path), "nothing"], capture_output=True, text=True)

    assert (found.returncode, found.stderr) == (2, "no such program: nothing\n")


@pytest.mark.slow
def test_the_script_needs_a_cuda_device(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, SCRIPT, str(tmp_path / "out")],
        capture_output=True,
        text=True,
        env={"PATH": "", "CUDA_VISIBLE_DEVICES": ""},
    )

    assert (found.returncode, found.stdout, found.stderr) == (2, "", f"{NEEDS_CUDA}\n")
    assert not (tmp_path / "out").exists()


def test_a_program_that_fails_does_not_stop_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = """
import json, os, sys
if sys.argv[1] == "bad":
    raise ValueError("torch knows no such setting")
(open(sys.argv[2] + "/" + sys.argv[1], "w")).write(os.environ.get("PYTORCH_ALLOC_CONF", "none"))
print("a line of its own")
print(json.dumps({"events": 1200, "reserved": 2 << 20, "bytes": 900}))
"""
    programs = [
        Program("first", "", lambda run: None),
        Program("bad", "", lambda run: None),
        Program("last", "", lambda run: None, "max_split_size_mb:32"),
    ]

    assert record_all(programs, tmp_path, (sys.executable, "-c", code)) == 1

    first, bad, last = capsys.readouterr().out.splitlines()
    assert first.split() == ["first", "1,200", "events", "2,097,152", "bytes", "reserved", "900", "bytes", "ok"]
    assert bad.split(maxsplit=1) == ["bad", "failed: ValueError: torch knows no such setting"]
    assert last.endswith("ok")
    assert [(tmp_path / name).read_text() for name in ("first", "last")] == ["none", "max_split_size_mb:32"]
