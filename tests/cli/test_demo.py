"""`tenure demo`: what it expects of its programs, and what it says when that is not what came."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tenure.cli import demo
from tenure.errors import UsageError

OWN_MEMORY = {"losses_kept_on_device": (392, 8)}
"""Bytes and storages that a call of Tenure's keeps beyond the remedy by hand: here the numbers of two meters."""
DEMO = demo.Demo("kept", ("TN201",), ("losses",))


def finding(**changes: Any) -> dict[str, Any]:
    holder = {"kind": "attribute", "name": "losses", "file": "/programs/kept.py", "line": 7}
    base = {"rule": "TN201", "confidence": "certain", "message": "kept", "holder": holder, "cut": []}
    return {**base, **changes}


def test_the_measured_line_is_read_back_from_a_programs_output() -> None:
    line = "measured: 4096 bytes in 12 storages alive at the start of a forward, +8 bytes per step, 9 forwards"
    output = f"step 3 loss 1.0\n{line}\n"

    assert demo.read_measured(output) == (4096, 12, 8)
    assert demo.read_measured("step 3 loss 1.0") is None


def test_a_found_leak_and_a_silent_remedy_leave_no_problem() -> None:
    leaky = demo.Outcome(4096, 12, 8, (finding(),))
    fixed = demo.Outcome(1024, 3, 0, (finding(confidence="possible"),))

    comparison = demo.compare_runs(DEMO, leaky, fixed)

    assert comparison == demo.Comparison(DEMO, leaky, fixed, finding(), ())
    assert demo.table_cells(comparison) == (
        "kept",
        "4.00 KiB\n12 tensors\n+8 B/step",
        "1.00 KiB\n3 tensors\nsilent",
        "TN201, certain\n`losses`\nline 7",
    )


def test_the_wrong_holder_is_a_problem_unless_the_right_one_is_in_the_cut() -> None:
    other = {"kind": "local", "name": "batch", "file": "/programs/kept.py", "line": 3}
    fixed = demo.Outcome(1024, 3, 0)

    missed = demo.compare_runs(DEMO, demo.Outcome(4096, 12, 8, (finding(holder=other),)), fixed)
    in_cut = demo.compare_runs(
        DEMO, demo.Outcome(4096, 12, 8, (finding(holder=other, cut=[{"name": "losses"}]),)), fixed
    )

    assert missed.problems == ("leaky: expected TN201 on `losses`; found TN201 `batch`",)
    assert in_cut.problems == ()


def test_a_call_of_tenures_is_a_remedy_that_must_be_silent_too() -> None:
    leaky, fixed = demo.Outcome(4096, 12, 8, (finding(),)), demo.Outcome(1024, 3, 0)
    helped = demo.Outcome(2048, 4, 0)

    comparison = demo.compare_runs(DEMO, leaky, fixed, helped)
    loud = demo.compare_runs(DEMO, leaky, fixed, demo.Outcome(2048, 4, 0, (finding(),)))

    assert (comparison.problems, loud.problems) == ((), ("helped: not silent: TN201 kept",))
    assert demo.table_cells(comparison)[2] == "1.00 KiB\n3 tensors\nsilent\nor by a call\n2.00 KiB"
    assert demo.as_json([comparison])["programs"][0]["helped_bytes"] == 2048


def test_a_remedy_that_is_not_silent_and_a_failed_run_are_problems() -> None:
    failed = demo.Outcome(error="`tenure run` ended with exit code 2: no such file")
    comparison = demo.compare_runs(DEMO, failed, demo.Outcome(1024, 3, 0, (finding(),)))

    assert comparison.problems == (
        "leaky: `tenure run` ended with exit code 2: no such file",
        "fixed: not silent: TN201 kept",
    )
    assert demo.as_json([comparison])["programs"][0] == {
        "program": "kept",
        "leaky_bytes": None,
        "fixed_bytes": 1024,
        "leaky_growth_bytes_per_step": None,
        "fixed_growth_bytes_per_step": 0,
        "finding": None,
        "fixed_findings": 1,
        "helped_bytes": None,
        "problems": list(comparison.problems),
    }


def test_the_command_that_proves_the_change_is_told() -> None:
    edits = [{"file": "/programs/kept.py", "line": 8, "before": "a", "after": "    del losses"}]
    found = finding(remedies=[{"summary": "x", "edits": []}, {"summary": "y", "edits": edits}])
    comparison = demo.compare_runs(DEMO, demo.Outcome(4096, 12, 8, (found,)), demo.Outcome(1024, 3, 0))
    said = [
        "Proved before it is made: `tenure fix` runs the program as it is and with that",
        "change, and compares memory, parameters and output.",
    ]

    assert demo.tell_of_fix(comparison, Path("out"), width=80) == [*said, "  tenure fix out/programs/kept.py"]
    assert demo.tell_of_fix(comparison, None, width=80) == [
        *said,
        "  tenure demo -o demo && tenure fix demo/programs/kept.py",
    ]


def test_nothing_is_told_of_fix_without_an_edit() -> None:
    found = finding(remedies=[{"summary": "x", "edits": []}])
    comparison = demo.compare_runs(DEMO, demo.Outcome(4096, 12, 8, (found,)), demo.Outcome(1024, 3, 0))

    assert demo.tell_of_fix(comparison, None, width=80) == []
    assert demo.tell_of_fix(demo.compare_runs(DEMO, demo.Outcome(error="no"), demo.Outcome()), None, width=80) == []


TABLE = """\
program   leaky        fixed       found
-------------------------------------------------
kept      4.00 KiB     1.00 KiB    TN201, certain
          12 tensors   3 tensors   `losses`
          +8 B/step    silent      line 7

bytes: most alive at the start of a forward, measured
by each program itself"""

BELOW = """\
kept
  leaky  4.00 KiB
         12 tensors
         +8 B/step
  fixed  1.00 KiB
         3 tensors
         silent
  found  TN201, certain
         `losses`
         line 7

bytes: most alive at the start of a
forward, measured by each program itself"""


def test_a_comparison_is_drawn_side_by_side_or_below_each_other_but_never_too_wide() -> None:
    compared = demo.compare_runs(DEMO, demo.Outcome(4096, 12, 8, (finding(),)), demo.Outcome(1024, 3, 0))

    assert "\n".join(demo.draw_table([compared], width=54)) == TABLE
    assert "\n".join(demo.draw_table([compared], width=40)) == BELOW


def test_the_table_of_all_demos_fits_80_columns() -> None:
    leaky, fixed = (demo.Outcome(1_072_693_248, 1234, growth) for growth in (123_456, -123_456))
    rows = []
    for item in demo.DEMOS:
        holder = {"name": max(item.holders, key=len), "file": f"/programs/{item.name}.py", "line": 123}
        rows.append(demo.Comparison(item, leaky, fixed, found=finding(holder=holder)))

    assert max(map(len, demo.draw_table(rows, width=80))) <= 80
    assert demo.draw_table(rows, width=80)[0].split() == list(demo.HEADINGS)


def test_an_unknown_name_says_which_demos_there_are() -> None:
    result = CliRunner().invoke(demo.demo_command, ["nothing"])

    names = "retval_over_forward, losses_kept_on_device, metric_deepcopied, text_encoder_unloaded"
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == f"no demo named nothing; there are {names}"


def test_a_folder_that_holds_something_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")

    result = CliRunner().invoke(demo.demo_command, ["--output", str(tmp_path)])

    assert isinstance(result.exception, UsageError)
    assert [item.name for item in tmp_path.iterdir()] == ["mine.txt"]


def test_every_demo_has_a_program_that_names_its_holders(tmp_path: Path) -> None:
    demo.copy_programs(tmp_path)

    for item in demo.DEMOS:
        tree = ast.parse((tmp_path / "programs" / f"{item.name}.py").read_text())
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert set(item.holders) - names == set(), item.name


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("name", [item.name for item in demo.DEMOS])
def test_the_remedy_leaves_less_alive_than_the_leak(name: str, tmp_path: Path) -> None:
    demo.copy_programs(tmp_path)
    program = str(tmp_path / "programs" / f"{name}.py")
    measured = []
    for arguments in ([], ["--fixed"]):
        run = subprocess.run([sys.executable, program, *arguments], capture_output=True, text=True, check=True)
        measured.append(demo.read_measured(run.stdout))

    leaky, fixed = measured
    assert leaky is not None
    assert fixed is not None
    assert leaky[:2] > fixed[:2]


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("item", [item for item in demo.DEMOS if item.helper], ids=lambda item: item.name)
def test_a_call_of_tenures_leaves_as_little_alive_as_the_remedy_by_hand(item: demo.Demo, tmp_path: Path) -> None:
    demo.copy_programs(tmp_path)
    programs = tmp_path / "programs"
    commands = [[f"{item.name}.py", "--fixed"], [f"{demo.HELPED}/{item.helper}.py"]]
    by_hand, by_call = (
        demo.read_measured(
            subprocess.run([sys.executable, *each], cwd=programs, capture_output=True, text=True, check=True).stdout
        )
        for each in commands
    )

    assert by_hand is not None
    more_bytes, more_storages = OWN_MEMORY.get(item.name, (0, 0))
    assert by_call == (by_hand[0] + more_bytes, by_hand[1] + more_storages, by_hand[2])


@pytest.mark.slow
def test_all_four_leaks_are_found_and_all_remedies_are_silent(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tenure", "demo", "--json", "--output", str(tmp_path / "demo")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert [row["problems"] for row in json.loads(run.stdout)["programs"]] == [[], [], [], []]
    assert run.returncode == 0
