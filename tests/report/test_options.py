from __future__ import annotations

import json
from dataclasses import replace

from report.test_plan import MIB, PLAN
from tenure.model.plan import Part, TriedOption
from tenure.report.options import render_options
from tenure.report.plan import plan_as_dict, render_plan

ROWS = (
    TriedOption(
        ("checkpointing",), ("for block in model.layers:", "    ..."), None, 512 * MIB, 600 * MIB, Part.OPTIMIZER,
        1.314, 5000, True, ("1,416 operations of modules ran again in backward",),
    ),
    TriedOption(
        ("fused", "checkpointing"), ("a", "b"), None, 256 * MIB, 300 * MIB, Part.BACKWARD, None, 4000, None,
        ("2 fused",),
    ),
    TriedOption(("8-bit-state",), why_not="bitsandbytes is not installed"),
)  # fmt: skip
TEXT = """\

options, each by running the program under it
option                     in use    reserved     compute  operations
as it is                 1.25 GiB    1.37 GiB        1.00           0
checkpointing          512.00 MiB  600.00 MiB        1.31       5,000
    fits; peak in optimizer's step; 1,416 operations of modules ran again in backward
    | for block in model.layers:
    |     ...
fused + checkpointing  256.00 MiB  300.00 MiB           ?       4,000
    peak in backward; 2 fused

without figures
8-bit-state: bitsandbytes is not installed
"""


def test_the_table_reads_as_it_should() -> None:
    assert render_options(PLAN, ROWS, width=100) == TEXT
    assert render_plan(replace(PLAN, options=ROWS), width=110) == render_plan(PLAN, width=110) + TEXT


def test_what_the_row_above_says_is_not_said_again() -> None:
    two = TriedOption(
        ("fully-shard-2",), ("fully_shard(model)",), None, 512 * MIB, 600 * MIB, Part.FORWARD, 1.0, 5000, True,
        ("98 times gathered",), ("sizes are those of one rank",),
    )  # fmt: skip
    four = replace(two, options=("fully-shard-4",), peak_active_bytes=256 * MIB)
    other = replace(four, options=("fully-shard-8",), notes=("read once more",), change=("fully_shard(net)",))

    below = [line for line in render_options(PLAN, (two, four, other), width=100).splitlines() if line[:4] == "    "]
    assert below == [
        "    fits; peak in forward; 98 times gathered; sizes are those of one rank",
        "    | fully_shard(model)",
        "    fits; peak in forward; 98 times gathered",
        "    | as above",
        "    fits; peak in forward; 98 times gathered; read once more",
        "    | fully_shard(net)",
    ]


def test_the_same_as_json() -> None:
    told = plan_as_dict(replace(PLAN, options=ROWS))["options"]

    assert json.loads(json.dumps(told)) == told
    assert told[0] == {
        "name": "checkpointing", "options": ["checkpointing"], "change": list(ROWS[0].change), "why_not": None,
        "peak_active_bytes": 512 * MIB, "peak_reserved_bytes": 600 * MIB, "part": "optimizer's step", "compute": 1.314,
        "num_operations": 5000, "fits": True, "signs": list(ROWS[0].signs), "notes": [],
    }  # fmt: skip
