"""What a helper did, in words."""

from __future__ import annotations

from tenure.release.outcome import DeviceBytes, Outcome, Survivor

MIB = 1024 * 1024


def test_an_outcome_says_what_came_back_and_who_holds_the_rest() -> None:
    outcome = Outcome(
        "released TextEncoder",
        devices=(DeviceBytes("cuda:0", 40 * MIB, 32 * MIB, 10 * MIB, 8 * MIB, 64 * MIB, 34 * MIB),),
        survivors=(
            Survivor(
                "`embedding.weight` of TextEncoder",
                "cuda:0",
                2 * MIB,
                1,
                path=("local variable `state` in main (train.py:12)", "['embedding.weight']"),
                targets=("dict of 8", "Tensor [1024, 512] float32, 2.00 MiB"),
                cut=("`state` in main (train.py:12)",),
            ),
        ),
        did=("emptied 8 parameters and buffers, 10.00 MiB",),
        kept=("`head.weight` (1.00 MiB): shared with Decoder",),
        still_bound=("local variable `encoder` in main (train.py:12)",),
        notes=("TextEncoder was called by no optimizer",),
        seconds=0.25,
    )

    assert not outcome.complete
    assert str(outcome).splitlines() == [
        "released TextEncoder: 8.00 MiB of 10.00 MiB came back",
        "  cuda:0      40.00 MiB -> 32.00 MiB in tensors, 64.00 MiB -> 34.00 MiB reserved; "
        "8.00 MiB of 10.00 MiB came back",
        "  did         emptied 8 parameters and buffers, 10.00 MiB",
        "  kept        `head.weight` (1.00 MiB): shared with Decoder",
        "  survived    2.00 MiB on cuda:0: `embedding.weight` of TextEncoder",
        "  held by     local variable `state` in main (train.py:12)",
        "               └─ ['embedding.weight']  Tensor [1024, 512] float32, 2.00 MiB",
        "  to free     drop `state` in main (train.py:12)",
        "  still bound local variable `encoder` in main (train.py:12)",
        "  note        TextEncoder was called by no optimizer",
        "  took        250.0 ms",
    ]


def test_an_outcome_with_nothing_left_is_complete() -> None:
    devices = (DeviceBytes("cpu", 9, 4, 5, 5), DeviceBytes("cuda:0", 7, 7, 0, 0))

    outcome = Outcome("released Linear", devices=devices)

    assert (outcome.complete, outcome.freed_bytes, outcome.expected_bytes) == (True, 5, 5)


def test_a_helper_that_had_nothing_to_compare_with_says_only_what_it_did() -> None:
    outcome = Outcome("trimmed", devices=(DeviceBytes("cuda:0", 7, 7, None, None, 2 * MIB, MIB),))

    assert (outcome.complete, str(outcome).splitlines()[:2]) == (
        True,
        ["trimmed", "  cuda:0      7 B -> 7 B in tensors, 2.00 MiB -> 1.00 MiB reserved"],
    )


def test_of_many_survivors_the_first_five_are_shown_and_the_rest_is_summed() -> None:
    survivors = tuple(Survivor(f"tensor {number}", "cpu", 100, 1) for number in range(8))

    lines = str(Outcome("released Linear", survivors=survivors)).splitlines()

    assert [line for line in lines if "survived" in line][-1] == "  survived    300 B more, held in 3 other ways"
    assert len(lines) == 8


def test_the_middle_of_a_long_path_is_counted() -> None:
    path = ("local variable `loss` in main (train.py:3)", *[f".next_functions[{number}]" for number in range(20)])

    lines = str(Outcome("released Linear", survivors=(Survivor("a", "cpu", 8, 1, path=path),))).splitlines()

    assert [line.strip().removeprefix("└─ ") for line in lines if "next" in line or "more" in line] == [
        ".next_functions[0]",
        ".next_functions[1]",
        ".next_functions[2]",
        "... 14 more references",
        ".next_functions[17]",
        ".next_functions[18]",
        ".next_functions[19]",
    ]
