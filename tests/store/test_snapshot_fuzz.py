"""Mangled snapshots are read or refused in one line, and played without an error; `FUZZ=100000` tries so many."""

from __future__ import annotations

import json
import os
import pickle
import random

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


def play(snapshot: Snapshot) -> None:
    for device in snapshot.devices:
        snapshot_as_dict(told_of(ReadSnapshot(snapshot), device))
        advise(snapshot, device, ["expandable_segments:True"])


@pytest.mark.slow
def test_mangled_snapshots_are_read_or_refused() -> None:
    chance = random.Random(1)
    samples = [small_snapshot(seed) for seed in range(30)]
    told = []
    num_read = 0
    for number in range(NUM_TRIES):
        change = with_values_changed if number % 2 else with_bytes_changed
        data = change(chance.choice(samples), chance)
        try:
            play(snapshot_from_bytes(data, "file"))
        except SnapshotError as error:
            told.append(str(error))
        else:
            num_read += 1

    assert [text for text in told if "\n" in text or not text.startswith(("file: ", "the snapshot's "))] == []
    assert min(num_read, len(told)) > NUM_TRIES / 20
