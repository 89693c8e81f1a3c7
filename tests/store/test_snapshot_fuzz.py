"""Mangled snapshots are read or refused in one line, and played without an error; `FUZZ=100000` tries so many."""

from __future__ import annotations

import json
import os
import pickle
import random
import resource
import struct
from typing import Any

import pytest

from allocator.recorded import Program
from allocator.training import Training
from tenure.allocator.advisor import advise
from tenure.allocator.settings import AllocatorSettings
from tenure.cli.recorded_snapshot import ReadSnapshot
from tenure.cli.snapshot import told_of
from tenure.errors import SnapshotError
from tenure.model.allocator import Snapshot
from tenure.report.snapshot import snapshot_as_dict
from tenure.store.torch_snapshot import snapshot_from_bytes

NUM_TRIES = int(os.environ.get("FUZZ", "2000"))
MOST_TOLD = 500
MOST_MEMORY_KIB = 200_000
"""A file of ten thousand bytes takes next to nothing; this is what a hundred thousand and NumPy leave behind."""
STRANGE = (None, -1, 0, 1, 1 << 62, -(1 << 63), "", "alloc", [], {}, 0.5, True)


def small_snapshot(seed: int) -> bytes:
    if seed % 4 == 3:
        return trained(seed)
    program = Program(AllocatorSettings(expandable_segments=seed % 2 == 1), total_bytes=(80 << 20) * (seed % 3) or None)
    program.run(seed, steps=12)
    if seed % 3 == 0:
        return json.dumps(program.snapshot(8)).encode()
    return program.pickled(8, protocol=seed % 5)


def trained(seed: int) -> bytes:
    """The end of two steps, with an annotation and what the program calls its memory."""
    training = Training(leak_bytes=1 << 20, engine_stacks=seed % 8 == 3)
    training.step()
    training.step()
    program = training.program
    for stage, event in (("START", -9), ("END", -2)):
        told = {"name": "Optimizer.step#A", "stage": stage, "device": 0, "time_us": program.events[event]["time_us"]}
        program.annotations.append(told)
    program.events[-5]["user_metadata"] = "late"
    return program.pickled(24)


def with_bytes_changed(data: bytes, chance: random.Random) -> bytes:
    mangled = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(mangled))
        how = chance.randrange(3)
        if how == 0:
            mangled[place] = chance.randrange(256)
        elif how == 1:
            del mangled[place : place + chance.randrange(1, 9)]
        else:
            mangled[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
        if not mangled:
            break
    return bytes(mangled)


def with_values_changed(data: bytes, chance: random.Random) -> bytes:
    told = json.loads(data) if data.startswith(b"{") else pickle.loads(data)
    for _ in range(chance.randrange(1, 4)):
        place = told
        while isinstance(place, (dict, list)) and place and chance.random() < 0.8:
            key = chance.choice(list(place)) if isinstance(place, dict) else chance.randrange(len(place))
            if not isinstance(place[key], (dict, list)) or chance.random() < 0.1:
                place[key] = chance.choice(STRANGE)
                break
            place = place[key]
    return pickle.dumps(told)


def cut_off(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def spliced(data: bytes, chance: random.Random) -> bytes:
    """Its beginning and a later part of it, or one part twice."""
    first, second, third = sorted(chance.randrange(len(data) + 1) for _ in range(3))
    return chance.choice((data[:first] + data[second:], data[:third] + data[first:], data[:second] + data[:third]))


def with_claims(data: bytes, chance: random.Random) -> bytes:
    """Instructions that claim much, share much or call for names, somewhere in the file."""
    number = struct.pack("<I", chance.choice((2**28, 10**9, 2**32 - 1, len(data), 7)))
    claims = (
        b"r" + number,
        b"j" + number,
        b"X" + number,
        b"B" + number,
        b"\x8b" + number,
        b"\x8d" + number * 2,
        b"\x95" + number * 2,
        b"cos\nsystem\n(X\x06\x00\x00\x00exit 3tR",
        b"\x8c\x02os\x8c\x06system\x93",
        b"2" * 40,
        b"(" * 40,
        b"h\x00h\x00\x86\x94" * 40,
        b"]\x94" + b"(h\x01h\x01e" * 40,
        b"}" * 1000,
    )
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(claims) + data[place:]


def with_lists_in_themselves(data: bytes, chance: random.Random) -> bytes:
    told = pickle.loads(data) if not data.startswith(b"{") else json.loads(data)
    held: Any = [told] if chance.random() < 0.3 else ["x"]
    for _ in range(60):
        held = [held, held] if chance.random() < 0.9 else {"name": held, "size": held}
    place = chance.choice((told, *told["segments"], *(event for trace in told["device_traces"] for event in trace)))
    place[chance.choice(list(place))] = held
    return pickle.dumps(told)


def with_another_trace(data: bytes, chance: random.Random) -> bytes:
    """Events in another order, twice, of other devices, at other addresses; segments of devices that nobody knows."""
    told = json.loads(data) if data.startswith(b"{") else pickle.loads(data)
    trace = told["device_traces"][0]
    for _ in range(chance.randrange(1, 4)):
        how = chance.randrange(7)
        if how == 0:
            chance.shuffle(trace)
        elif how == 1 and trace:
            trace.insert(chance.randrange(len(trace) + 1), dict(chance.choice(trace)))
        elif how == 2 and trace:
            del trace[chance.randrange(len(trace)) :]
        elif how == 3:
            told["device_traces"] += [[], [dict(event) for event in trace]]
        elif how == 4 and told["segments"]:
            chance.choice(told["segments"])["device"] = chance.choice((-1, 3, 255, 1 << 40))
        elif how == 5 and trace:
            event = chance.choice(trace)
            event["addr"] = chance.choice(
                (0, -512, event.get("addr", 0) + 512, 1 << 62, chance.choice(trace).get("addr", 0))
            )
        elif how == 6 and trace:
            event = chance.choice(trace)
            event["action"] = chance.choice(("segment_free", "segment_map", "segment_unmap", "free_completed", "oom"))
    return pickle.dumps(told, chance.randrange(2, 6))


CHANGES = (
    with_bytes_changed,
    with_values_changed,
    cut_off,
    spliced,
    with_claims,
    with_lists_in_themselves,
    with_another_trace,
)


def play(snapshot: Snapshot) -> None:
    for device in snapshot.devices:
        snapshot_as_dict(told_of(ReadSnapshot(snapshot), device))
        advise(snapshot, device, ["expandable_segments:True"], 1 << 28)


@pytest.mark.slow
def test_mangled_snapshots_are_read_or_refused() -> None:
    chance = random.Random(int(os.environ.get("FUZZ_SEED", "1")))
    samples = [small_snapshot(seed) for seed in range(30)]
    told = []
    num_read = 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(NUM_TRIES):
        data = CHANGES[number % len(CHANGES)](chance.choice(samples), chance)
        try:
            play(snapshot_from_bytes(data, "file"))
        except SnapshotError as error:
            told.append(str(error))
        else:
            num_read += 1

    assert [text for text in told if "\n" in text or not text.startswith(("file: ", "the snapshot's "))] == []
    assert max(map(len, told)) < MOST_TOLD
    assert min(num_read, len(told)) > NUM_TRIES / 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY_KIB
