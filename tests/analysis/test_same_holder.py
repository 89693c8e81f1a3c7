from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from suspects import carried_finding, finding
from tenure.analysis.same_holder import hangs_below, join_same_holder
from tenure.model.finding import Finding, Holder

MIB = 1 << 20
ALSO = {
    "kind": "also",
    "rule": "TN106",
    "expression": "history[*]",
    "file": "/projects/asr/train.py",
    "line": 24,
    "bytes": 3 * MIB,
}


def survivor(**changes: Any) -> Finding:
    return finding("r", **{"rule": "TN403", "name": "n", "message": "m", "symptom": "survivor"} | changes)


def idle(**changes: Any) -> Finding:
    values = {"rule": "TN106", "name": "n", "message": "m"}
    figures = {"peak_bytes": 9 * MIB, "peak_drop_bytes": 3 * MIB, "peak_basis": "seen"}
    return carried_finding("r", **values | figures | changes)


def test_the_survivor_stays_with_the_figures_of_the_peak() -> None:
    still = survivor()

    assert join_same_holder([idle(), still]) == (
        replace(
            still, peak_bytes=9 * MIB, peak_drop_bytes=3 * MIB, peak_basis="seen", evidence=(*still.evidence, ALSO)
        ),
    )


def test_figures_that_the_survivor_has_stay() -> None:
    still = survivor(peak_bytes=8 * MIB, peak_drop_bytes=MIB, peak_basis="other")

    assert join_same_holder([still, idle()]) == (replace(still, evidence=(*still.evidence, ALSO)),)


def test_growth_and_what_idles_by_the_same_reference_are_told_once() -> None:
    grows = finding("r", rule="TN303", name="n", message="m")

    assert join_same_holder([idle(), grows]) == (
        replace(
            grows, peak_bytes=9 * MIB, peak_drop_bytes=3 * MIB, peak_basis="seen", evidence=(*grows.evidence, ALSO)
        ),
    )


def test_growth_and_what_is_carried_by_the_same_name_are_told_once_whichever_statement_each_tells() -> None:
    state = Holder("attribute", "state", "model.state", "/projects/asr/model.py", 23, "Model.state")
    grows = finding("r", rule="TN105", name="n", message="m", holder=state)
    carries = idle(rule="TN102", peak_bytes=None, peak_drop_bytes=None, peak_basis=None)
    elsewhere = replace(carries, holder=replace(state, line=18))

    also = ALSO | {"rule": "TN102", "expression": "model.state", "file": state.file, "line": 18}
    assert join_same_holder([elsewhere, grows]) == (replace(grows, evidence=(*grows.evidence, also)),)
    other_name = replace(elsewhere, holder=replace(elsewhere.holder, expression="other.state"))
    assert join_same_holder([other_name, grows]) == (other_name, grows)


@pytest.mark.parametrize(
    ("growth", "peak"), [({"confidence": "possible"}, {}), ({}, {"peak_drop_bytes": None}), ({"ranks": (1,)}, {})]
)
def test_growth_that_is_a_hint_and_memory_without_a_fall_of_the_peak_stay_two(growth: Any, peak: Any) -> None:
    both = (idle(**peak), finding("r", **{"rule": "TN303", "name": "n", "message": "m"} | growth))

    assert join_same_holder(both) == both


def test_a_hint_of_what_is_carried_by_the_statement_that_makes_a_sure_growth_is_told_with_it() -> None:
    """A replay buffer's graphs, seen at the step's end in one function's variable and at the forward in another's."""
    grows = finding("r", rule="TN107", name="n", message="m")
    hint = idle(confidence="possible", peak_bytes=None, peak_drop_bytes=None, peak_basis=None)
    sure = replace(hint, confidence="likely")

    assert [each.rule for each in join_same_holder([grows, hint])] == ["TN107"]
    assert join_same_holder([grows, sure]) == (grows, sure)


@pytest.mark.parametrize(
    ("still", "seen", "joined"),
    [
        ("possible", "certain", "likely"),
        ("possible", "likely", "likely"),
        ("possible", "possible", "possible"),
        ("likely", "certain", "likely"),
        ("certain", "possible", "certain"),
    ],
)
def test_memory_that_was_surely_idle_makes_a_possible_survivor_likely(still: Any, seen: Any, joined: str) -> None:
    assert [each.confidence for each in join_same_holder([survivor(confidence=still), idle(confidence=seen)])] == [
        joined
    ]


def test_other_places_other_ranks_and_places_unknown_are_told_apart() -> None:
    still = survivor()
    nowhere = Holder("unknown", "history", "history[*]")
    for pair in (
        (still, idle(holder=replace(still.holder, line=25))),
        (still, idle(holder=replace(still.holder, name="other"))),
        (still, idle(ranks=(1,))),
        (still, replace(idle(), symptom="growth")),
        (survivor(holder=nowhere), idle(holder=nowhere)),
    ):
        assert join_same_holder(pair) == pair


@pytest.mark.parametrize(
    ("expression", "path", "ranks", "hangs"),
    [("monitor.latest.scores[*]", ("monitor",), (), True), ("monitor.latest['output']", ("monitor",), (), True),
     ("monitor.latest", ("monitor",), (), False), ("monitor.latest_scores", ("monitor",), (), False),
     ("monitor.latest.scores", ("another monitor",), (), False), ("monitor.latest.scores", ("monitor",), (1,), False)],
)  # fmt: skip
def test_what_is_inside_of_what_another_reference_leads_to_hangs_below_it(
    expression: str, path: tuple[str, ...], ranks: tuple[int, ...], hangs: bool
) -> None:
    latest = idle(holder=Holder("attribute", "latest", "monitor.latest"), path=("monitor", ".latest"))
    inner = idle(holder=Holder("attribute", "scores", expression), path=path, ranks=ranks)

    assert hangs_below(inner, latest) is hangs
    assert not hangs_below(inner, replace(latest, holder=Holder("unknown", "", "")))


def test_the_line_that_ran_at_the_root_of_a_path_is_another_at_each_moment() -> None:
    latest = idle(holder=Holder("attribute", "latest", "monitor.latest"), path=("`monitor` in fit (train.py:12)",))
    inner = idle(holder=Holder("attribute", "scores", "monitor.latest.scores"), path=("`monitor` in fit (train.py:9)",))

    assert hangs_below(inner, latest)
    assert not hangs_below(replace(inner, path=("`monitor` in run (train.py:9)",)), latest)


@pytest.mark.parametrize(("size", "told"), [(MIB, 1), (9 * MIB, 2)], ids=["less of it", "more than it"])
def test_an_entry_that_grows_has_what_its_table_carries_by_the_same_statement(size: int, told: int) -> None:
    grows = finding("r", rule="TN101", name="n", message="m", retained_bytes=3 * MIB, symptom="growth")
    entry = replace(grows, holder=replace(grows.holder, name="history[0]", expression="trainer.history[0][*]"))
    carried = carried_finding("r", rule="TN107", name="n", message="m", retained_bytes=size)
    carried = replace(carried, holder=replace(carried.holder, expression="self.history"))

    assert len(join_same_holder([entry, carried])) == told
