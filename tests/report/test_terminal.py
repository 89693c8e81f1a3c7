"""Reports compared whole, as people see them."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from report.findings import diagnosis, held_graph, kept_loss
from tenure.model.finding import CutReference, Diagnosis, Edit, Forecast, Remedy
from tenure.report.terminal import render_diagnosis, say_forecast, terminal_form

FULL_110 = """\
TN102 graph-held-over-forward                                    certain · 1.88 GiB carried into every forward
  …/egs/zipformer/trainer.py:614  `retval` and `loss` still hold step N's graph while step N+1's forward runs.

  root      local variable `retval` in Trainer.train_one_epoch (/projects/speech/egs/zipformer/trainer.py:598)
   └─ ['loss']            Tensor [] float32
       └─ .grad_fn        TransducerLossBackward  <- suspect from here
           └─ .grads      Tensor [32, 386, 81, 500] float32, 1.86 GiB

  to free   drop 2 references: `retval` (…/egs/zipformer/trainer.py:614), `loss`
  peak      7.61 GiB; without it 6.02 GiB (replayed)
  made at   loss.py:88 in forward
  remedy    retval = None after unpacking
            trainer.py:616
            + retval = None

1 finding in 30 steps and 12 censuses; recorded in run
Next: `tenure explain TN102`, or `tenure fix` in place of `tenure run`: it tries the edits and proves them.
"""

FULL_60 = """\
TN102 graph-held-over-forward
               certain · 1.88 GiB carried into every forward
  …/trainer.py:614  `retval` and `loss` still hold step N's
  graph while step N+1's forward runs.

  root      local variable `retval` in Trainer.train_one_ep…
            (/projects/speech/egs/zipformer/trainer.py:598)
   └─ ['loss']            Tensor [] float32
       └─ .grad_fn        TransducerLossBackward
           └─ .grads  Tensor [32, 386, 81, 500] float32, 1.…

  to free   drop 2 references: `retval` (…/trainer.py:614),
            `loss`
  peak      7.61 GiB; without it 6.02 GiB (replayed)
  made at   loss.py:88 in forward
  remedy    retval = None after unpacking
            trainer.py:616
            + retval = None

1 finding in 30 steps and 12 censuses; recorded in run
Next: `tenure explain TN102`, or `tenure fix` in place of
  `tenure run`: it tries the edits and proves them.
"""

GROWTH_80_ASCII = """\
TN101 loss-kept-with-graph        likely - 1.88 GiB held at step 252 and growing
  train.py:48  `history` keeps the autograd graph of every step.

  root      global variable `history` (train.py:12)
   `- [239]
       `- .grad_fn

  to free   drop 1 reference: `history` (train.py:48)
  grew      8.00 MiB per step for 240 steps
  remedy    history.append(loss.item())

8.00 MiB per step of growth is explained by no rule.
not seen: the allocator's events

1 finding in 30 steps and 12 censuses; recorded in run
Next: `tenure explain TN101`, change the line, run again.
"""

NOTHING = """\
nothing found
  In 30 steps and 12 censuses no rule found tensor memory that grows or is kept for nothing.

not seen: the autograd graph of thread 3

recorded in run
Next: if memory still grows later in the program, record more of it.
"""

NO_STEPS = """\
no verdict
  The recording holds no step, so nothing can be said about memory.

recorded in run
Next: let the program take at least one optimizer step or model call while it is watched.
"""


def test_a_finding_is_drawn_with_all_that_it_carries() -> None:
    assert render_diagnosis(diagnosis(held_graph()), width=110, color=False) == FULL_110


def test_a_narrow_terminal_shortens_files_from_the_left_and_wraps_sentences() -> None:
    assert render_diagnosis(diagnosis(held_graph()), width=60, color=False) == FULL_60


def test_a_stream_without_box_drawing_gets_plain_ascii() -> None:
    text = render_diagnosis(
        diagnosis(kept_loss(), unexplained_growth_bytes_per_step=8388608.0, not_seen=("the allocator's events",)),
        width=80,
        color=False,
        ascii_only=True,
    )
    assert text == GROWTH_80_ASCII


def test_nothing_found_is_a_result_with_its_evidence() -> None:
    nothing = diagnosis(not_seen=("the autograd graph of thread 3",))
    assert render_diagnosis(nothing, width=110, color=False) == NOTHING


def test_a_recording_without_steps_gets_no_verdict() -> None:
    assert render_diagnosis(diagnosis(steps=0), width=110, color=False) == NO_STEPS


@pytest.mark.parametrize("width", [20, 60, 73, 80, 100, 133, 200, 500])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    deep = held_graph(path=("global variable `x` (a.py:1)", *(f".attribute_number_{n}" for n in range(40))))
    found = diagnosis(held_graph(), deep, *(kept_loss() for _ in range(12)))
    lines = render_diagnosis(found, width=width, color=False).splitlines()
    assert [line for line in lines if len(line) > min(max(width, 60), 200)] == []


def test_colour_adds_codes_and_changes_no_letter() -> None:
    found = diagnosis(held_graph(), kept_loss(confidence="possible"))
    colored = render_diagnosis(found, width=110, color=True)
    assert "\033[" in colored
    assert re.sub(r"\033\[[\d;]*m", "", colored) == render_diagnosis(found, width=110, color=False)


def test_findings_beyond_the_tenth_take_a_line_each() -> None:
    found = diagnosis(*(held_graph() for _ in range(10)), kept_loss(), kept_loss(origin="library"))
    last = render_diagnosis(found, width=110, color=False).split("\n\n")[-2]
    row = "  TN101 loss-kept-with-graph: 1.88 GiB held at step 252 and growing, `history` at train.py:48"
    assert last == f"2 more:\n{row}\n{row}"


def test_bytes_that_were_not_measured_are_not_invented() -> None:
    text = render_diagnosis(
        diagnosis(
            kept_loss(retained_bytes=None, growth_bytes_per_step=None, num_objects=1, path=(), cut=(), remedies=())
        ),
        width=80,
        color=False,
    )
    assert text == (
        "TN101 loss-kept-with-graph                 likely · 1 object, bytes not measured\n"
        "  train.py:48  `history` keeps the autograd graph of every step.\n\n"
        "1 finding in 30 steps and 12 censuses; recorded in run\n"
        "Next: `tenure explain TN101`, change the line, run again.\n"
    )


def test_counted_growth_and_several_possible_statements_are_listed() -> None:
    sites = [{"file": "a.py", "line": 3, "function": "f"}, {"file": "a.py", "line": 9, "function": "f"}]
    series = {"kind": "series", "objects": [12, 12], "graph_nodes": [36, 756]}
    found = kept_loss(path=(), growth_bytes_per_step=None, evidence=(series, {"kind": "sites", "candidates": sites}))
    facts = render_diagnosis(diagnosis(found), width=80, color=False).split("\n\n")[1]
    assert facts.splitlines() == [
        "  bound by  one of a.py:3, a.py:9",
        "  to free   drop 1 reference: `history` (train.py:48)",
        "  grew      36 to 756 autograd nodes",
        "  remedy    history.append(loss.item())",
    ]


def test_autograd_nodes_that_outweigh_their_tensors_are_the_headline() -> None:
    series = {"kind": "series", "objects": [1, 1], "graph_nodes": [36, 756]}
    told = [
        render_diagnosis(diagnosis(kept_loss(retained_bytes=size, evidence=(series,))), width=110, color=False)
        for size in (4, 756 * 700 - 1, 756 * 700)
    ]

    assert [text.splitlines()[0].split(" · ")[1] for text in told] == [
        "756 autograd nodes held at step 252 and growing",
        "756 autograd nodes held at step 252 and growing",
        "516.80 KiB held at step 252 and growing",
    ]


def test_of_graphs_that_go_on_out_of_sight_as_many_nodes_at_least_are_told() -> None:
    series = {"kind": "series", "objects": [1, 1], "graph_nodes": [36, 756]}
    found = kept_loss(retained_bytes=4, evidence=(series, {"kind": "facts", "graph_goes_on": True}))

    headline = render_diagnosis(diagnosis(found), width=110, color=False).splitlines()[0]
    assert headline.endswith("at least 756 autograd nodes held at step 252 and growing")


def test_the_middle_of_a_long_path_is_counted_not_drawn() -> None:
    long = held_graph(path=("root", *(f"[{n}]" for n in range(30))), evidence=())
    drawn = render_diagnosis(diagnosis(long), width=110, color=False).split("\n\n")[1]
    labels = [line.rpartition("└─ ")[2] for line in drawn.splitlines()[1:]]
    assert labels == [
        "[0]",
        "[1]",
        "[2]",
        "[3]",
        "[4]",
        "[5]",
        "... 19 more references",
        *(f"[{n}]" for n in range(25, 30)),
    ]


def test_files_below_the_current_folder_are_named_from_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = kept_loss(
        message=f"`history` keeps losses, see {tmp_path}/train.py:48", path=(f"global `h` ({tmp_path}/train.py:1)",)
    )
    assert str(tmp_path) not in render_diagnosis(diagnosis(found), width=200, color=False)


def test_a_pipe_gets_no_colour_and_an_old_encoding_no_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    assert terminal_form(pipe) == (110, False, True)
    assert terminal_form(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) == (110, False, False)


def test_a_finding_without_a_cause_says_what_is_certain_of_it_and_what_is_not() -> None:
    found = kept_loss(rule="TN900", name="unexplained-growth", confidence="certain", path=(), remedies=())
    text = render_diagnosis(diagnosis(found), width=80, color=False)
    assert text.startswith(
        "TN900 unexplained-growth   cause unknown · 1.88 GiB held at step 252 and growing\n"
        "  train.py:48  `history` keeps the autograd graph of every step.\n\n"
        "  certain   that it is held here, and how much; not that it is a mistake\n"
        "  to free   drop 1 reference: `history` (train.py:48)\n"
    )


def test_a_reference_without_a_name_begins_where_the_others_do() -> None:
    found = held_graph(path=("module `m`", ".cache", " (a cached result)"), evidence=())
    drawn = render_diagnosis(diagnosis(found), width=80, color=False).split("\n\n")[1]
    assert drawn.splitlines() == ["  root      module `m`", "   └─ .cache", "       └─ (a cached result)"]


def test_what_is_known_or_allowed_is_counted_in_one_line_each() -> None:
    seen = diagnosis(suppressed=(kept_loss(),), known=2, baseline="old.json")
    assert render_diagnosis(seen, width=110, color=False) == (
        "nothing new\n"
        "  In 30 steps and 12 censuses only what is known or allowed was found.\n"
        "\n"
        "known: 2 findings of old.json left out\n"
        "allowed: 1 finding (TN101) by a `# tenure: allow` comment\n"
        "\n"
        "recorded in run\n"
        "Next: if memory still grows later in the program, record more of it.\n"
    )


CHANGED = Edit("train.py", 48, "    history.append(loss)", "    history.append(loss.detach())")


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (
            diagnosis(kept_loss(remedies=(Remedy("keep the value", (CHANGED,)),))),
            "Next: `tenure explain TN101`, or have the edits tried and proved:\n"
            "  tenure fix train.py --name 'a run of which the name is long'",
        ),
        (
            diagnosis(kept_loss()),
            "Next: `tenure explain TN101`, change the line, run again:\n"
            "  tenure run train.py --name 'a run of which the name is long'",
        ),
        (
            diagnosis(looked_until=8),
            "Next: look up to the end:\n"
            "  tenure run --census-at 3,7,11,15,18,22,26,30 train.py --name 'a run of which the name is long'",
        ),
    ],
)
def test_the_command_to_go_on_with_stands_whole_in_one_line(seen: Diagnosis, told: str) -> None:
    program = "train.py --name 'a run of which the name is long'"
    text = render_diagnosis(seen, width=60, color=False, program=program)
    assert text.splitlines()[-1] == told.splitlines()[-1]
    assert " ".join(told.split()) in " ".join(text.split())


def test_where_no_finding_has_an_edit_ways_by_trial_are_offered() -> None:
    drawn = [
        render_diagnosis(diagnosis(kept_loss()), width=110, color=False, program=program, by_trial=True)
        for program in ("", "train.py")
    ]
    assert [text.partition("Next: ")[2] for text in drawn] == [
        "`tenure explain TN101`, or `tenure fix` in place of `tenure run`: it tries ways to mend it and proves\n"
        "  them.\n",
        "`tenure explain TN101`, or have ways to mend it tried and proved:\n  tenure fix train.py\n",
    ]


def test_changed_lines_keep_their_indentation_to_each_other() -> None:
    edit = Edit(
        "train.py", 7, "        return total", "        for handle in handles:\n            handle.remove()\n\n"
    )
    text = render_diagnosis(diagnosis(kept_loss(remedies=(Remedy("remove it", (edit,)),))), width=110, color=False)
    assert (
        "            - return total\n"
        "            + for handle in handles:\n"
        "            +     handle.remove()\n"
        "            +\n"
    ) in text  # fmt: skip


def test_a_changed_line_is_drawn_as_it_was_and_as_it_will_be() -> None:
    edit = Edit("train.py", 48, "    history.append(loss)", "    history.append(loss.detach())")
    text = render_diagnosis(diagnosis(kept_loss(remedies=(Remedy("keep the value", (edit,)),))), width=110, color=False)
    assert (
        "  remedy    keep the value\n"
        "            train.py:48\n"
        "            - history.append(loss)\n"
        "            + history.append(loss.detach())\n"
    ) in text


AHEAD = Forecast("device", 16 << 30, 1911.0, (1689.0, 2203.0), 1560.0, (1400.0, 1800.0))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"forecast": AHEAD}, "at this rate out of memory in about 1,900 steps (1,700-2,200), 26 min"),
        (
            {"forecast": replace(AHEAD, limit="cgroup", steps_interval=(1905.0, 1914.0))},
            "at this rate out of memory of its cgroup in about 1,900 steps, 26 min",
        ),
        ({"forecast": AHEAD, "confidence": "possible"}, ""),
        ({"forecast": replace(AHEAD, seconds=40 * 86400.0)}, ""),
        ({}, ""),
    ],
)
def test_a_forecast_is_one_short_line_where_it_is_of_use(changes: dict[str, object], told: str) -> None:
    assert say_forecast(kept_loss(**changes)) == told


def test_growth_is_told_with_its_interval_and_with_objects_per_step() -> None:
    finding = kept_loss(
        growth_bytes_per_step_interval=(7 << 20, 9 << 20),
        growth_objects_per_step=1.0,
        growth_objects_per_step_interval=(0.9, 1.1),
        forecast=AHEAD,
    )

    text = render_diagnosis(diagnosis(finding), width=110, color=False)

    assert (
        "  grew      8.00 MiB (7.00 MiB to 9.00 MiB) per step for 240 steps; 1 (0.9 to 1.1) objects per step\n" in text
    )
    assert "  forecast  at this rate out of memory in about 1,900 steps (1,700-2,200), 26 min\n" in text


def test_what_falls_has_a_line_of_its_own() -> None:
    row = {"kind": "falls", "text": "96.00 KiB and 12 objects every 12 steps"}

    text = render_diagnosis(diagnosis(kept_loss(symptom="sawtooth", evidence=(row,))), width=110, color=False)

    assert "  falls     96.00 KiB and 12 objects every 12 steps\n" in text


def test_a_verdict_says_up_to_which_step_was_looked_where_much_came_after() -> None:
    assert render_diagnosis(diagnosis(looked_until=16), width=110, color=False) == (
        "nothing found up to step 16\n"
        "  The last of 12 censuses was taken after step 16 of 30: no rule found tensor memory that grows or is kept "
        "for\n"
        "  nothing until then.\n"
        "\n"
        "recorded in run\n"
        "Next: look up to the end: `tenure run --census-at 3,7,11,15,18,22,26,30`.\n"
    )


def test_findings_of_a_run_that_was_not_looked_at_to_its_end_say_so() -> None:
    text = render_diagnosis(diagnosis(kept_loss(), looked_until=16), width=110, color=False)

    said = "not seen: what began after step 16 of 30; no census was taken later"
    assert f"{said} (`--census-at 3,7,11,15,18,22,26,30` takes some up to the end)" in " ".join(text.split())


def test_references_of_one_name_and_statement_are_told_once_and_counted() -> None:
    seen, made = CutReference("input", "net.py", 103), CutReference("output", "net.py", 107)
    found = kept_loss(path=(), growth_bytes_per_step=None, evidence=(), remedies=(), cut=(seen, made, seen, seen))

    facts = render_diagnosis(diagnosis(found), width=100, color=False).split("\n\n")[1]

    assert facts == "  to free   drop 4 references: `input` (net.py:103) 3 times, `output` (net.py:107)"


def test_the_librarys_own_statement_behind_a_call_is_told() -> None:
    inside = {"kind": "library_sites", "statements": [{"file": "metrics.py", "line": 170, "function": "update"}]}
    found = kept_loss(path=(), growth_bytes_per_step=None, evidence=(inside,), remedies=(), cut=())

    facts = render_diagnosis(diagnosis(found), width=80, color=False).split("\n\n")[1]

    assert facts == "  made in   metrics.py:170, inside that call"
