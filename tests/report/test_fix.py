from __future__ import annotations

import io
import json
from dataclasses import replace

from fixing_findings import HISTORY
from tenure.model.finding import CutReference, Edit, Remedy
from tenure.model.fix import Figures, Fix, TriedEdit
from tenure.report.fix import fix_as_json, write_fix

LEFT = replace(
    HISTORY,
    rule="TN201",
    name="device-scalars-kept-between-logs",
    message="`history[*]` gains 1 scalar tensor per step.",
    cut=(CutReference("history", "train.py", 13),),
    remedies=(Remedy("add each into one running tensor"),),
)
EDIT = Edit("train.py", 13, "    history.append(loss)", "    history.append(loss.detach())")
INSERTED = Edit("train.py", 20, "", "del loss")
BEFORE = Figures((HISTORY,), 40, 1_550_000, 41_093.0, 1_550_000, 146, 0.0007)
AFTER = Figures((LEFT,), 40, 409_600, 4.0, 278_692, 53, 1.25)
KEPT = TriedEdit("TN101", "loss-kept-with-graph", "train.py", 13, "recording", (EDIT,), True, "growth falls")
GONE = TriedEdit("TN106", "idle-at-peak", "train.py", 19, "lint", (INSERTED,), False, "nothing was freed by it")
PROVED = Fix("train.py", True, "--- a\n", BEFORE, AFTER, True, None, True, (KEPT, GONE), 5, ("a note [x]",))

TABLE = """\
1 edit kept, verified in 5 runs
  a note [x]

                                      before                       after
 ───────────────────────────────────────────────────────────────────────
 findings                                  1                           1
 peak                               1.48 MiB                  400.00 KiB
 growth per step                   40.13 KiB                         4 B
 alive at the end   1.48 MiB in 146 storages   272.16 KiB in 53 storages
 time per step                        0.7 ms                         1 s
 parameters                                                bit-identical
 outputs                                                  not comparable

kept      TN101 loss-kept-with-graph  train.py:13: growth falls
          - history.append(loss)
          + history.append(loss.detach())
not kept  TN106 idle-at-peak  train.py:19: nothing was freed by it
          + del loss
by hand:
  TN201 device-scalars-kept-between-logs: `history[*]` gains 1 scalar tensor per step.
    to free   drop `history` (train.py:13)
    remedy    add each into one running tensor
"""


def drawn(result: Fix) -> str:
    stream = io.StringIO()
    write_fix(result, stream)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def test_a_proof_is_a_table_and_what_became_of_each_edit() -> None:
    assert drawn(PROVED) == TABLE


def test_the_headline_says_what_is_there() -> None:
    nothing = replace(PROVED, before=replace(BEFORE, findings=()), after=None, edits=(), patch="", verified=False)
    by_hand = replace(nothing, before=replace(BEFORE, findings=(LEFT,)))
    told = [
        drawn(each).splitlines()[0]
        for each in (nothing, by_hand, replace(by_hand, edits=(GONE,)), replace(PROVED, verified=False))
    ]

    assert told == [
        "nothing found: there is nothing to fix",
        "no edit helps; none of the findings has one",
        "no edit helps; 1 tried",
        "1 edit kept, not proved, as the program is not deterministic, in 5 runs",
    ]


def test_what_is_compared_and_what_not_stands_below_the_table() -> None:
    told = replace(
        PROVED,
        verified=False,
        deterministic=False,
        parameters_equal=None,
        edits=(replace(GONE, differences=("log.csv line 2: '0.5' -> '0.6'", "stdout line 1: 'a' -> 'b'")),),
        compared=(
            "parameters: their norm alone, 0.02 off, two unchanged runs 0.01; 0.03 is allowed, after step 12",
            "stdout: 1 of 2 words",
        ),
        not_compared=("stdout: 1 word in which two unchanged runs differ, the first in line 1",),
    )

    lines = drawn(told).splitlines()

    at = next(at for at, line in enumerate(lines) if line.startswith(" parameters"))
    assert [lines[at].split("  ")[-1].strip(), lines[at + 1].split("  ")[-1].strip()] == [
        "norm within tolerance",
        "the same in what is compared",
    ]
    assert lines[at + 3 : at + 10] == [
        f"compared: {told.compared[0]}",
        f"compared: {told.compared[1]}",
        f"not compared: {told.not_compared[0]}",
        "",
        "not kept  TN106 idle-at-peak  train.py:19: nothing was freed by it",
        "          + del loss",
        "          stdout line 1: 'a' -> 'b'",
    ]


def test_a_search_for_the_largest_batch_has_rows_of_its_own() -> None:
    gained = replace(
        PROVED,
        before=replace(BEFORE, largest_batch=0),
        after=replace(AFTER, largest_batch=96, samples_per_second=1234.5),
    )

    rows = [line.split("  ") for line in drawn(gained).splitlines() if "batch" in line or "samples" in line]
    assert [[part.strip() for part in row if part.strip()] for row in rows] == [
        ["largest batch", "none", "96"],
        ["samples per second", "not measured", "1,234"],
    ]


def test_a_search_that_ended_early_is_an_interval_and_samples_need_none() -> None:
    early = replace(PROVED, after=replace(AFTER, largest_batch=64, largest_batch_most=127))
    none = replace(PROVED, after=replace(AFTER, largest_batch=0, largest_batch_most=7))
    without = replace(PROVED, before=replace(BEFORE, samples_per_second=64.0))

    rows = [
        line.split("  ")[-1].strip() for each in (early, none) for line in drawn(each).splitlines() if "batch" in line
    ]
    assert rows == ["64 to 127", "at most 7"]
    assert ["batch" in drawn(without), "samples per second" in drawn(without)] == [False, True]
    assert "samples per second" not in drawn(PROVED)


def test_json_has_the_documented_keys() -> None:
    result = json.loads(fix_as_json(PROVED))

    assert list(result) == [
        *("format", "program", "verified", "patch", "before", "after", "parameters_equal", "outputs_equal"),
        *("deterministic", "edits", "runs", "notes", "compared", "not_compared"),
    ]
    assert {
        "peak_bytes",
        "growth_bytes_per_step",
        "step_seconds",
        "largest_batch",
        "largest_batch_most",
        "samples_per_second",
        "findings",
    } <= set(result["before"])
    assert result["edits"][1] == {
        "rule": "TN106",
        "name": "idle-at-peak",
        "file": "train.py",
        "line": 19,
        "told_by": "lint",
        "edits": [{"file": "train.py", "line": 20, "before": "", "after": "del loss", "cell": None}],
        "kept": False,
        "why": "nothing was freed by it",
        "differences": [],
    }
