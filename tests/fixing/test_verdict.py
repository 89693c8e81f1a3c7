from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fixing_findings import FREED, HISTORY, SAME, measured, run_of
from tenure.fixing.compared import Compared
from tenure.fixing.measured import Measured
from tenure.fixing.verdict import agree, judge, make_baseline
from tenure.model.finding import Holder

CARRIED = replace(
    HISTORY, rule="TN102", symptom="peak", fingerprint="b", growth_bytes_per_step=None, peak_drop_bytes=4000
)
WEIGHTLESS = replace(HISTORY, fingerprint="c", retained_bytes=0, growth_bytes_per_step=None)
BASELINE = make_baseline(measured(), run_of(), SAME)
FIXED = measured((), growth=0.0, alive=FREED)


def test_an_edit_stays_that_frees_what_it_is_for_and_changes_nothing() -> None:
    verdict = judge(BASELINE, FIXED, FIXED.run, (HISTORY,))

    assert (verdict.keeps, verdict.parameters_equal, verdict.outputs_equal) == (True, True, True)
    assert verdict.why == "growth falls from 1000 B to 0 B per step"


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (
            replace(FIXED, run=run_of(exit_code=1, stderr="Traceback\nNameError: x\n")),
            "ends with exit code 1 with it: NameError: x",
        ),
        (replace(FIXED, run=run_of(timed_out=True)), "the program did not end in time with it"),
        (replace(FIXED, run=run_of(not_loaded=("/tree/lib.py",))), "the program did not load lib.py from its source"),
        (measured((), growth=0.0, steps=11), "the program made 11 steps with it, 12 without"),
        (
            measured((), growth=0.0, parameters={6: ("0.0=1:aa", 2.0), 12: ("0.0=1:cc", 3.0)}),
            "the parameters differ at step 12",
        ),
        (measured((), growth=0.0, parameters={6: ("0.0=1:aa", 2.0)}), "the parameters could not be read with it"),
        (
            measured((), growth=0.0, stdout="loss 0.6\n"),
            "the program puts out something else: stdout line 1: 'loss 0.5' -> 'loss 0.6'",
        ),
        (
            measured((), growth=0.0, stderr="diverged\n"),
            "the program puts out something else: stderr line 1: nothing -> 'diverged'",
        ),
        (measured((), growth=0.0, written={}), "the program puts out something else: model.pt is missing"),
        (measured((), growth=0.0, alive=FREED, peak=21_000), "the peak rises to 20.51 KiB"),
        (measured((), growth=900.0), "nothing was freed by it"),
        (measured((), growth=900.0, alive={(12, "step-end"): (13_000, 18)}), "nothing was freed by it"),
        (
            measured((replace(HISTORY, holder=Holder("global", "other", "other"), fingerprint="z"),), growth=0.0),
            "instead, TN101 is found: `history` keeps the graph of every step.",
        ),
    ],
)
def test_an_edit_goes_that_fails_changes_anything_or_frees_nothing(after: Measured, why: str) -> None:
    verdict = judge(BASELINE, after, after.run, (HISTORY,))

    assert not verdict.keeps
    assert why in verdict.why


def test_what_is_carried_into_the_forward_is_freed_where_the_peak_or_what_is_alive_falls() -> None:
    baseline = make_baseline(measured((CARRIED,), growth=0.0), run_of(), SAME)
    lower_peak = measured((), growth=0.0, peak=17_000)

    assert judge(baseline, lower_peak, lower_peak.run, (CARRIED,)).why == "the peak falls by 2.93 KiB"
    assert judge(baseline, FIXED, FIXED.run, (CARRIED,)).why == "9.28 KiB less stay alive"


def test_of_what_is_only_possible_memory_that_goes_earlier_is_no_gain() -> None:
    possible = replace(CARRIED, confidence="possible")
    baseline = make_baseline(measured((possible,), growth=0.0), run_of(), SAME)
    lower_peak = measured((), growth=0.0, peak=17_000)

    assert judge(baseline, FIXED, FIXED.run, (possible,)).why == (
        "9.28 KiB go earlier, but neither growth nor the peak falls"
    )
    assert not judge(baseline, FIXED, FIXED.run, (possible,)).keeps
    assert judge(baseline, lower_peak, lower_peak.run, (possible,)).why == "the peak falls by 2.93 KiB"


def test_a_lower_peak_is_a_gain_where_the_finding_said_by_how_much() -> None:
    possible = replace(CARRIED, confidence="possible", symptom="survivor", peak_drop_bytes=4_000)
    baseline = make_baseline(measured((possible,), growth=0.0), run_of(), SAME)
    lower_peak = measured((), growth=0.0, peak=17_000)

    assert judge(baseline, lower_peak, lower_peak.run, (possible,)).why == "the peak falls by 2.93 KiB"
    little = replace(possible, peak_drop_bytes=9_000)
    assert judge(baseline, lower_peak, lower_peak.run, (little,)).why == "nothing was freed by it"


def test_graphs_without_memory_are_freed_where_their_finding_is_gone() -> None:
    baseline = make_baseline(measured((WEIGHTLESS,), growth=0.0), run_of(), SAME)
    gone, left = measured((), growth=0.0), measured((WEIGHTLESS,), growth=0.0)

    with_nodes = replace(WEIGHTLESS, evidence=({"kind": "series", "graph_nodes": [0, 1200, 5748]},))
    assert judge(baseline, gone, gone.run, (WEIGHTLESS,)).why == "TN101 is gone; it held no tensor memory"
    assert judge(baseline, gone, gone.run, (with_nodes,)).why == "TN101 is gone; it held up to 5,748 autograd nodes"
    assert not judge(baseline, left, left.run, (WEIGHTLESS,)).helped


@pytest.mark.parametrize(
    ("per_step", "nodes", "confidence", "helped"),
    [
        (4.0, [0, 4, 124], "certain", True),
        (512.0, [0, 4, 124], "certain", False),
        (4.0, [0, 0, 0], "certain", False),
        (4.0, [0, 4, 124], "possible", False),
    ],
)
def test_losses_that_keep_nodes_alone_are_mended_where_they_are_numbers_after_it(
    per_step: float, nodes: list[int], confidence: Any, helped: bool
) -> None:
    losses = replace(
        HISTORY,
        confidence=confidence,
        retained_bytes=124,
        growth_bytes_per_step=per_step,
        evidence=({"kind": "series", "graph_nodes": nodes},),
    )
    baseline = make_baseline(measured((losses,), growth=per_step), run_of(), SAME)
    gone = measured((), growth=per_step)

    assert judge(baseline, gone, gone.run, (losses,)).helped is helped


def test_a_program_that_differs_from_itself_is_compared_by_the_norm_of_its_parameters() -> None:
    other = {6: ("0.0=1:aa", 2.0), 12: ("0.0=1:dd", 3.01)}
    baseline = make_baseline(measured(), run_of(), other)
    near = replace(FIXED, parameters={6: ("0.0=1:aa", 2.0), 12: ("0.0=1:ee", 3.02)})
    far = replace(FIXED, parameters={6: ("0.0=1:aa", 2.0), 12: ("0.0=1:ee", 3.5)})

    assert baseline.notes == (
        "the program is not deterministic: its parameters differ between two unchanged runs at step 12",
    )
    verdicts = [judge(baseline, each, each.run, (HISTORY,)) for each in (near, far)]
    assert [(each.keeps, each.parameters_equal) for each in verdicts] == [(True, None), (False, None)]
    assert verdicts[1].why == "the parameters' norm is 0.5 off, two unchanged runs 0.01"
    assert verdicts[0].compared == Compared(
        (
            "parameters: their norm alone, 0.02 off, two unchanged runs 0.01; 0.03 is allowed, after steps 6, 12",
            "stdout: 2 words",
            "files: model.pt",
        ),
        ("parameters: their bits, in which two unchanged runs differ",),
    )


def test_what_a_program_that_differs_from_itself_puts_out_is_the_same_only_where_all_of_it_is_compared() -> None:
    other = {12: ("0.0=1:dd", 3.01)}
    first = measured(parameters={12: ("0.0=1:bb", 3.0)})
    baseline = make_baseline(first, run_of(stdout="loss 0.6\n"), other)
    after = replace(FIXED, parameters=other, run=run_of(stdout="loss 0.7\n"))

    verdict = judge(baseline, after, after.run, (HISTORY,))

    assert (verdict.keeps, verdict.parameters_equal, verdict.outputs_equal) == (True, None, None)
    assert verdict.compared.not_compared == (
        "parameters: their bits, in which two unchanged runs differ",
        "stdout: 1 word in which two unchanged runs differ, the first in line 1",
    )


def test_values_that_differ_are_shown_with_those_of_the_unchanged_run() -> None:
    texts = {"log.csv": "step,loss\n1,0.5\n"}
    told = {"written": {"log.csv": "1"}, "texts": texts}
    baseline = make_baseline(measured(**told), run_of(**told), SAME)
    after = replace(FIXED, run=run_of(written={"log.csv": "2"}, texts={"log.csv": "step,loss\n1,0.6\n"}))

    verdict = judge(baseline, after, after.run, (HISTORY,))

    assert (verdict.same, verdict.differences) == (False, ("log.csv line 2: '1,0.5' -> '1,0.6'",))
    assert verdict.compared.compared == (
        "parameters: to the bit, after steps 6, 12",
        "stdout: 2 words",
        "files: log.csv",
    )


def test_without_an_optimizer_only_outputs_are_compared() -> None:
    baseline = make_baseline(measured(parameters={}), run_of(), {})
    after = replace(FIXED, parameters={})

    verdict = judge(baseline, after, after.run, (HISTORY,))

    assert (verdict.keeps, verdict.parameters_equal, verdict.outputs_equal) == (True, None, True)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("0.0=1:aa 0.1=1:bb", "0.0=1:aa 0.1=1:bb", True),
        ("0.0=1:aa 0.1=1:bb", "0.1=1:bb", True),
        ("0.0=1:aa 0.1=1:bb", "0.0=1:aa 0.1=1:cc", False),
        ("0.0=1:aa", "0.1=1:aa", False),
    ],
)
def test_optimizers_that_only_one_run_still_has_are_not_compared(one: str, other: str, same: bool) -> None:
    assert agree(one, other) is same


def test_peaks_are_compared_at_the_looks_that_both_runs_have() -> None:
    """A program that still grows is higher at a later look, which only one of the runs may have."""
    before = measured(peaks={(6, "profile"): 9_000, (12, "step-end"): 14_000})
    later = measured((), growth=0.0, alive=FREED, peaks={(6, "profile"): 8_000, (22, "step-end"): 23_000})
    higher = measured((), growth=0.0, alive=FREED, peaks={(6, "profile"): 9_200, (22, "step-end"): 9_100})
    baseline = make_baseline(before, run_of(), SAME)

    told = [judge(baseline, after, after.run, (HISTORY,)) for after in (later, higher)]

    assert [each.keeps for each in told] == [True, False]
    assert [each.why for each in told] == ["growth falls from 1000 B to 0 B per step", "the peak rises to 8.98 KiB"]


def test_a_call_that_has_nothing_beside_the_model_any_more_counts_as_a_lower_peak() -> None:
    beside = replace(CARRIED, confidence="possible", peak_drop_bytes=8_000)
    before = measured((beside,), growth=0.0, peaks={(0, "loading-1"): 18_000, (6, "profile"): 9_000})
    after, worse = (
        measured((), growth=0.0, alive=FREED, peaks=peaks)
        for peaks in ({(6, "profile"): 9_000}, {(0, "loading-1"): 20_000, (6, "profile"): 9_000})
    )

    told = [judge(make_baseline(before, run_of(), SAME), each, each.run, (beside,)).why for each in (after, worse)]

    assert told == ["the peak falls by 8.79 KiB", "the peak rises to 19.53 KiB"]


def test_peaks_are_compared_whole_where_no_step_was_looked_into_in_both_runs() -> None:
    before = measured(peaks={(3, "step-end"): 5_000, (6, "profile"): 9_000})
    after = measured((), growth=0.0, alive=FREED, peaks={(3, "step-end"): 4_500, (7, "profile"): 9_500})

    verdict = judge(make_baseline(before, run_of(), SAME), after, after.run, (HISTORY,))

    assert (verdict.keeps, verdict.why) == (False, "the peak rises to 9.28 KiB")
