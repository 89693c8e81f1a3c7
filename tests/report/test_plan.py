"""The plan compared whole, as people see it."""

from __future__ import annotations

import json
from dataclasses import replace

from tenure.model.plan import (
    MOST,
    Constant,
    Fit,
    IdleAtPeak,
    LargestAtLength,
    LargestSize,
    Moment,
    Part,
    Plan,
    TokenBudget,
    Use,
)
from tenure.report.plan import BASIS, plan_as_dict, render_plan

MIB = 1 << 20
GIB = 1 << 30
PLAN = Plan(
    steps=(2, 3),
    recorded_on="cpu",
    settings="",
    peak_active_bytes=1280 * MIB,
    peak_reserved_bytes=1400 * MIB,
    moment=Moment(3, Part.BACKWARD, "aten.mm.default", "", "train.py", 12, "main"),
    by_use={Use.ACTIVATION: 1024 * MIB, Use.PARAMETER: 255 * MIB, Use.OUTPUT: MIB},
    by_module={"layers": 1000 * MIB, "head": 280 * MIB},
    peaks={Part.FORWARD: 1000 * MIB, Part.BACKWARD: 1280 * MIB},
    saved_bytes=900 * MIB,
    idle=(IdleAtPeak(Use.OUTPUT, 20 * MIB, 2, "train.py", 9, "main"),),
    host_bytes=3 * MIB,
    constants=(Constant("cuBLAS workspaces", 16 * MIB, 64 * MIB, "torch's default"),
               Constant("CUDA context", None, None, "by device")),
    fit=Fit(4 * GIB, True, 2 * GIB, 0),
    notes=("a first note", "and another"),
)  # fmt: skip

TEXT = """\
steps         2 and 3, recorded on cpu; allocator: the defaults
peak          1.25 GiB in use, in backward of step 3, train.py:12 in main; 1.37 GiB reserved
by role       activation 1.00 GiB · parameter 255.00 MiB · others 1.00 MiB
by module     layers 1000.00 MiB · head 280.00 MiB
by part       forward 1000.00 MiB · backward 1.25 GiB
saved         900.00 MiB kept by graphs at the end of forward, on cpu
idle          20.00 MiB of output in 2 storages not used after the peak, train.py:9 in main
host          3.00 MiB never met the model's tensors in the two steps and are taken to stay on the host
beside it     16.00 MiB to 64.00 MiB of cuBLAS workspaces (torch's default)
              not counted: CUDA context (by device)
device        4.00 GiB: fits; 2.00 GiB are left for what is not counted
basis         births and deaths of storages in two steps of the program, played by the rules of torch's
              allocator from what was there before them; on an H200 they were 0.70 to 1.09 of what 17 programs
              had in use, 9 of these within 5 %
notes         a first note
              and another
"""


def device_line(fit: Fit) -> str:
    lines = render_plan(replace(PLAN, fit=fit), width=200).splitlines()
    return next(line for line in lines if line.startswith("device")).split(maxsplit=1)[1]


def test_a_plan_reads_as_it_should() -> None:
    assert render_plan(PLAN, width=110) == TEXT


def test_whether_it_fits_is_said_with_how_much() -> None:
    assert device_line(Fit(GIB, False, -476 * MIB, 1)) == (
        "1.00 GiB: does not fit; what is reserved and counted is 476.00 MiB more"
    )
    assert device_line(Fit(GIB, True, -20 * MIB, 3)) == (
        "1.00 GiB: fits, but what is reserved and counted is 20.00 MiB more: cached segments would go back 3 times, "
        "and steps be slower"
    )


def test_the_largest_batch_is_told_with_its_basis() -> None:
    found = LargestSize("--batch-size", 40, 44, (4, 8, 12), 16, 1280 * MIB, 1281 * MIB)
    lines = [
        next(
            line for line in render_plan(replace(PLAN, largest_batch=each), width=200).splitlines() if "largest" in line
        )
        for each in (found, replace(found, least=44), replace(found, least=0, most=0))
    ]

    basis = "(from runs with 4, 8, 12; for 16 they predict 1.25 GiB in use, and 1.25 GiB were)"
    assert [line.removeprefix("largest batch ") for line in lines] == [
        f"--batch-size 40 to 44, and less by what is not counted {basis}",
        f"--batch-size 44, and less by what is not counted {basis}",
        f"none fits {basis}",
    ]


def test_each_length_has_its_largest_batch_and_the_tokens_that_any_length_so_far_may_have() -> None:
    rows = (LargestAtLength(64, 40, 44, 2560), LargestAtLength(128, 12, 12, 1536), LargestAtLength(256, 0, 1, 0))
    found = TokenBudget(
        "--batch", "--length", (4, 8, 12), (32, 64, 96), (16, 128), 1280 * MIB, 1281 * MIB,
        (*rows, LargestAtLength(512, 0, 0, 0)),
    )  # fmt: skip

    lines = render_plan(replace(PLAN, token_budget=found), width=300).splitlines()

    assert [line[14:] for line in lines[-8:-3]] == [
        "from runs with --batch 4, 8, 12 and --length 32, 64, 96; for 16 and 128 they predict 1.25 GiB in use, and "
        "1.25 GiB were; less by what is not counted",
        "--length 64: --batch 40 to 44; batch times length 2,560 for all lengths up to it",
        "--length 128: --batch 12; batch times length 1,536 for all lengths up to it",
        "--length 256: --batch 0 to 1",
        "--length 512: none fits",
    ]
    assert plan_as_dict(replace(PLAN, token_budget=found))["token_budget"]["rows"][1] == {
        "length": 128, "least": 12, "most": 12, "tokens": 1536, "is_widened": False
    }  # fmt: skip


def test_json_has_the_same_as_plain_values() -> None:
    told = json.loads(json.dumps(plan_as_dict(PLAN)))

    assert (told["format"], told["peak_active_bytes"], told["fits"], told["room_bytes"]) == (
        1, 1280 * MIB, True, 2 * GIB,
    )  # fmt: skip
    assert told["by_role"] == {"activation": 1024 * MIB, "parameter": 255 * MIB, "output": MIB}
    assert told["peak"] == {
        "step": 3, "part": "backward", "operation": "aten.mm.default", "module": "", "file": "train.py", "line": 12,
        "function": "main",
    }  # fmt: skip
    assert told["basis"] == BASIS
    assert told["constants"][1] == {
        "name": "CUDA context", "least_bytes": None, "most_bytes": None, "source": "by device"
    }  # fmt: skip


def test_a_search_that_was_ended_is_no_bound_and_a_far_answer_says_how_far() -> None:
    near = LargestSize("--batch", MOST, MOST, (4, 8, 12), 16, MIB, MIB, is_widened=True)
    far = replace(near, least=9_000, most=10_000, confirmed=100)

    told = [render_plan(replace(PLAN, largest_batch=each), width=400).splitlines() for each in (near, far)]
    lines = [next(line for line in each if "--batch" in line) for each in told]

    assert lines == [
        f"largest batch --batch at least {MOST}; larger ones were not searched, and less by what is not counted (from "
        "runs with 4, 8, 12; for 16 they predict 1.00 MiB in use, and 1.00 MiB were)",
        "largest batch --batch 9000 to 10000, and less by what is not counted (from runs with 4, 8, 12; for 100 they "
        "predict 1.00 MiB in use, and 1.00 MiB were; 100 times that far, and taken 2% wider for it)",
    ]
