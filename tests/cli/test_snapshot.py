"""`tenure snapshot` and `tenure advise` say what a snapshot holds, and in one line why they cannot."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from allocator.recorded import Program
from allocator.test_out_of_memory import fragmented
from allocator.test_pins import results_between_buffers
from allocator.training import Training
from tenure.allocator.settings import MIB
from tenure.cli.main import run_command_line


@pytest.fixture
def snapshot_file(tmp_path: Path) -> str:
    program = Program()
    for step in range(12):
        block = program.allocate((20 + 2 * step) * MIB)
        assert block is not None
        program.free(block)
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(program.pickled())
    return str(path)


def test_snapshot_tells_the_peak_the_replay_and_who_asked(
    snapshot_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")

    code = run_command_line(["snapshot", snapshot_file])

    assert code == 0
    assert capsys.readouterr().out.splitlines() == [
        "device 0      48 events; 0 B were in use before the first",
        "replay        every one of 12 allocations at its recorded address, 12 segments of the recorded size",
        "peak          42.00 MiB in use after event 45; 372.00 MiB reserved",
        "by role       unknown 42.00 MiB",
        "              42.00 MiB unknown in 1 block: train.py:12 in forward",
        "at the end    372.00 MiB reserved: 0 B in use (of it 0 B more than was asked for), 372.00 MiB in free",
        "              segments, which empty_cache() gives back, 0 B free beside blocks in use",
    ]


def test_snapshot_as_json_has_the_keys_that_others_rely_on(
    snapshot_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["snapshot", snapshot_file, "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert {"format", "events", "segments", "peak", "fragmentation", "leaks", "replay", "phases"} <= set(told)
    assert told["replay"] == {
        "allocations": 12,
        "allocations_equal": 12,
        "segments": 12,
        "segments_equal": 12,
        "blocks_equal": True,
        "first_difference": None,
        "earlier_blocks": 0,
        "earlier_guessed": 0,
    }
    assert (told["peak"]["active_bytes"], told["peak"]["reserved_bytes"]) == (42 * MIB, 372 * MIB)


def test_snapshot_of_a_training_loop_tells_roles_phases_and_what_grows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    training = Training(leak_bytes=MIB)
    for _ in range(4):
        training.step()
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(training.program.pickled())

    assert run_command_line(["snapshot", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert run_command_line(["snapshot", str(path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)

    assert lines[2:7] == [
        "steps         4 ended in the trace, by the optimizer's steps",
        "peak          68.00 MiB in use after event 126, in backward of step 3; 84.00 MiB reserved",
        "by role       activation 26.00 MiB · optimizer state 18.00 MiB · parameter 9.00 MiB · temporary 4.00 MiB ·",
        "              survivor 4.00 MiB · gradient 3.00 MiB · input 2.00 MiB",
        "              26.00 MiB activation in 2 blocks, born in forward: /home/me/model.py:12 in helper",
    ]
    assert [line for line in lines if line.startswith("grows")] == [
        "grows         1.00 MiB in 1 block of 4 steps, 4.00 MiB by now, never freed, born in forward:",
    ]
    assert told["peak"]["by_role"]["optimizer_state"] == 18 * MIB
    assert (told["peak"]["phase"], told["peak"]["step"], told["steps"]["basis"]) == ("backward", 3, "optimizer")
    assert [(leak["bytes_per_step"], leak["steps"], leak["line"]) for leak in told["leaks"]] == [
        (MIB, 4, "/home/me/loss.py:9 in keep")
    ]
    assert {each["phase"] for each in told["phases"]} == {"outside", "forward", "backward", "optimizer", "zero_grad"}


def test_snapshot_says_what_pins_free_memory_and_what_another_order_saves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(results_between_buffers().pickled())

    assert run_command_line(["snapshot", str(path)]) == 0

    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("fragments"))
    assert lines[first : first + 6] == [
        "fragments     after event 17 192.00 MiB were reserved: 0 B in segments without a block in use, 124.00 MiB",
        "              stuck beside blocks in use",
        "              124.00 MiB stuck in 2 segments by survivor, 4.00 MiB in 2 blocks since event 5 in step 0:",
        "              /home/me/train.py:40 in keep",
        "              replayed: 108.00 MiB less had they been asked for first; 108.00 MiB less had their line used a",
        "              torch.cuda.MemPool of its own; 128.00 MiB less without them, 124.00 MiB more than they hold",
    ]


def test_segments_that_are_pinned_alike_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    program = Program()
    kept = [program.allocate(4 * MIB) for _ in range(15)]
    for number, block in enumerate(kept):
        if number % 5 and block is not None:
            program.free(block)
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(program.pickled())

    assert run_command_line(["snapshot", str(path)]) == 0

    told = [line.strip() for line in capsys.readouterr().out.splitlines() if "pinned by" in line]
    assert told == ["3 times 16.00 MiB of 20.00 MiB pinned by 1 block, the largest from train.py:12 in forward"]


def test_snapshot_tells_why_memory_ran_out_and_what_would_have_fitted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "104")
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(fragmented().pickled())

    assert run_command_line(["snapshot", str(path)]) == 0

    lines = capsys.readouterr().out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("ran out"))
    assert lines[first : first + 9] == [
        "ran out       100.00 MiB asked for on stream 0x0 at event 74 in step 9: /home/me/train.py:30 in work",
        "              a segment of 100.00 MiB was needed, the device had 72.00 MiB left, 28.00 MiB too few;",
        "              128.00 MiB were reserved",
        "              free for it: 108.00 MiB, the largest free block 62.00 MiB",
        "              in use 20.00 MiB: survivor 20.00 MiB",
        "would fit     by replay with PYTORCH_ALLOC_CONF=max_split_size_mb:64",
        "would fit     by replay with PYTORCH_ALLOC_CONF=roundup_power2_divisions:2",
        "would fit     by replay with PYTORCH_ALLOC_CONF=large_segment_size_mb:64,roundup_power2_divisions:8",
        "would fit     by replay without 20.00 MiB of survivor, 10 blocks: /home/me/train.py:40 in keep",
    ]


def test_snapshot_of_a_folder_compares_the_ranks_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    for rank in range(3):
        training = Training(leak_bytes=20 * MIB if rank == 1 else 0)
        for _ in range(5):
            training.step()
        path = tmp_path / "iteration_10" / f"rank{rank}_memory_snapshot.pickle"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(training.program.pickled())

    assert run_command_line(["snapshot", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert run_command_line(["snapshot", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)

    assert lines[:4] == [
        "ranks         3 of iteration 10: peaks from 64.00 MiB (rank 0) to 164.00 MiB (rank 1)",
        "rank 1        100.00 MiB more survivor at its most than the others' median, since step 0 of the trace:",
        "              /home/me/loss.py:9 in keep",
        "rank 0        64.00 MiB in use at the peak, 80.00 MiB reserved: activation 26.00 MiB · optimizer state 18.00",
    ]
    assert (told["moment"], [odd["rank"] for odd in told["odd"]]) == ("iteration 10", [1])


def test_advise_gives_the_line_to_set_and_says_how_sure_it_is(
    snapshot_file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")

    code = run_command_line(["advise", snapshot_file])

    assert code == 0
    assert capsys.readouterr().out.splitlines() == [
        "device 0      372.00 MiB reserved at the peak, with the defaults",
        "floor         42.00 MiB were in use at once: no setting reserves less",
        "advice        PYTORCH_ALLOC_CONF=expandable_segments:True",
        "              (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True up to torch 2.8)",
        "predicted     60.00 MiB reserved at the peak, 312.00 MiB less, with 3 device allocations instead of 12",
        "how sure      the recorded settings came out exactly as recorded, as did recorded traces under those advised",
    ]


def test_advice_that_no_trace_has_confirmed_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(results_between_buffers().pickled())

    assert run_command_line(["advise", str(path), "--try", "max_split_size_mb:20,roundup_power2_divisions:4"]) == 0

    assert capsys.readouterr().out.splitlines()[-2:] == [
        "how sure      the recorded settings came out exactly as recorded; those advised are played by torch's rules;",
        "              no recorded trace has confirmed them for such settings",
    ]


def test_advise_tries_the_settings_that_are_asked_for(snapshot_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["advise", snapshot_file, "--try", "max_split_size_mb:20", "--json"]) == 0

    told = json.loads(capsys.readouterr().out)
    assert [each["settings"] for each in told["candidates"]] == ["max_split_size_mb:20"]
    assert {"floor_bytes", "recorded", "candidates", "advice"} <= set(told)


def test_advise_gives_none_where_the_replay_leaves_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = Program()
    program.run(5)
    told = program.snapshot()
    allocations = [event for event in told["device_traces"][0] if event["action"] == "alloc"]
    allocations[3]["addr"] += 512
    path = tmp_path / "other.pickle"
    path.write_bytes(pickle.dumps(told))

    assert run_command_line(["advise", str(path)]) == 0

    out = capsys.readouterr().out
    assert "advice        none: the replay of what was recorded left the trace at event" in out
    assert "PYTORCH_ALLOC_CONF" not in out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["snapshot", "{none}"], "cannot read"),
        (["snapshot", "{bad}"], "was it copied whole?"),
        (["snapshot", "{empty}"], "the snapshot has neither segments nor events"),
        (["advise", "{good}", "--try", "max_split_size_mb:3"], "max_split_size_mb is 3; torch takes 20 and more"),
        (["advise", "{good}", "--try", "garbage_collection_threshold:0.5"], "does nothing without"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    arguments: list[str], expected: str, snapshot_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad").write_bytes(b"\x80\x04]")
    (tmp_path / "empty").write_bytes(pickle.dumps({"segments": [], "device_traces": []}))
    names = {"none": tmp_path / "none", "bad": tmp_path / "bad", "empty": tmp_path / "empty", "good": snapshot_file}

    code = run_command_line([each.format(**names) for each in arguments])

    error = capsys.readouterr().err
    assert code == 2
    assert error.startswith("tenure: ")
    assert expected in error
    assert error.count("\n") == 1


def rank_folder(tmp_path: Path, *, broken: bool = False) -> str:
    """As torchtitan writes it: the ranks' buffers grow, those of rank 1 most."""
    folder = tmp_path / "memory_snapshot" / "iteration_10"
    folder.mkdir(parents=True)
    for rank in range(3):
        program = Program()
        for step in range(12):
            block = program.allocate((20 + (4 if rank == 1 else 2) * step) * MIB)
            assert block is not None
            program.free(block)
        if broken and rank == 2:
            program.note("segment_alloc", 1 << 40, 20 * MIB, 0)
            program.note("segment_alloc", 1 << 41, 20 * MIB, 0)
        (folder / f"rank{rank}_memory_snapshot.pickle").write_bytes(program.pickled())
    return str(tmp_path / "memory_snapshot")


def test_advise_of_a_folder_tells_what_serves_all_ranks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")

    assert run_command_line(["advise", rank_folder(tmp_path)]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "ranks         3 of iteration 10: reserved at the peak from 372.00 MiB (rank 0) to 504.00 MiB (rank 1), with",
        "              the defaults",
        "floor         64.00 MiB were in use at once: no setting reserves less",
        "advice        PYTORCH_ALLOC_CONF=expandable_segments:True",
        "              (PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True up to torch 2.8)",
        "predicted     80.00 MiB reserved at the peak, 424.00 MiB less, with 4 device allocations instead of 12",
        "how sure      the recorded settings came out exactly as recorded, as did recorded traces under those advised",
    ]


def test_nothing_is_advised_to_ranks_of_which_one_left_its_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = rank_folder(tmp_path, broken=True)

    assert run_command_line(["advise", folder]) == 0
    text = capsys.readouterr().out
    assert run_command_line(["advise", folder, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)

    assert "none: the replay of what was recorded of rank 2 left the trace at event" in " ".join(text.split())
    assert told["advice"] is None
    assert [(each["rank"], each["replay_equal"]) for each in told["ranks"]] == [(0, True), (1, True), (2, False)]


def test_advise_with_the_devices_memory_tells_retries(snapshot_file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["advise", snapshot_file, "--memory", "70MiB"]) == 0

    text = " ".join(capsys.readouterr().out.split())
    assert "6 requests served only after all that was free went back" in text
    assert "PYTORCH_ALLOC_CONF=expandable_segments:True" in text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--try", "roundup_power2_divisions:1"], "roundup_power2_divisions:1: changes nothing"),
        (["--try", "expandable_segments:False"], "expandable_segments:False: changes nothing"),
        (["--try", "garbage_collection_threshold:0.8"], "garbage_collection_threshold does nothing without"),
        (["--memory", "much"], "--memory: 'much' is no size"),
    ],
)
def test_advise_refuses_what_does_nothing(
    options: list[str], expected: str, snapshot_file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["advise", snapshot_file, *options]) == 2

    assert expected in capsys.readouterr().err


def test_advise_tells_what_was_reserved_and_what_it_compares_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    program = Program()
    kept, cached = program.allocate(30 * MIB), program.allocate(50 * MIB)
    assert kept is not None
    assert cached is not None
    program.free(cached)
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(program.pickled(0))

    assert run_command_line(["advise", str(path)]) == 0

    assert capsys.readouterr().out.splitlines()[:3] == [
        "device 0      80.00 MiB reserved at the peak, with the defaults",
        "played        30.00 MiB, what was there before the first event asked for anew",
        "floor         30.00 MiB were in use at once: no setting reserves less",
    ]


@pytest.mark.parametrize(("num_kept", "lost"), [(3_000, True), (3_001, True), (3_002, False), (None, False)])
def test_a_record_that_was_full_is_told(
    num_kept: int | None, lost: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = Program()
    program.allocate(3 * MIB)
    for _ in range(1_100):  # three events each: 3,001 begin between the two of a free
        block = program.allocate(MIB)
        assert block is not None
        program.free(block)
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(program.pickled(num_kept))

    assert run_command_line(["snapshot", str(path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert run_command_line(["snapshot", str(path), "--json"]) == 0

    assert ("lost what came before is gone" in text, json.loads(capsys.readouterr().out)["events_lost"]) == (lost, lost)
