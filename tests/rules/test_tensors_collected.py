from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HOP, MIB, SPECIMENS, carried, finding, hop
from tenure.model.suspect import CARRIED_ON, Suspect
from tenure.rules.tensors_collected import check_suspect

REMEDY = (
    "keep a number, a running sum or a `deque(maxlen=n)` instead of every tensor; move to the CPU or to "
    "disk what must be kept"
)


def test_a_list_that_only_grows() -> None:
    assert check_suspect(SPECIMENS["TN202"]) == finding(
        REMEDY,
        message="`history[*]` gains tensors and loses none: 1.00 MiB per step.",
        rule="TN202",
        name="tensors-collected",
    )


@pytest.mark.parametrize(("bytes_per_step", "first"), [(40.0, True), (float(MIB), False)])
def test_graphs_that_live_on_with_what_is_collected_are_told_first_where_they_weigh_more(
    bytes_per_step: float, first: bool
) -> None:
    series = SPECIMENS["TN202"].series
    nodes = tuple(7 * (step - series.steps[0]) for step in series.steps)
    collected = replace(SPECIMENS["TN202"], growth_bytes_per_step=bytes_per_step)

    found = check_suspect(replace(collected, series=replace(series, graph_nodes=nodes)))

    cut = "keep them without their graphs, `x.detach()`: 7 autograd nodes per step live on with them on the host"
    assert found is not None
    assert [remedy.summary for remedy in found.remedies] == ([cut, REMEDY] if first else [REMEDY, cut])


@pytest.mark.parametrize(
    ("num_bytes", "objects_per_step", "num_objects", "confidence"),
    [
        (360, 0.125, 9, "possible"),
        (360, 1.0, 9, "certain"),
        (360, None, 9, "certain"),
        (256 << 10, 0.125, 4, "certain"),
        (256 << 10, 0.125, 3, "possible"),
        (256 << 10, 0.5, 3, "certain"),
    ],
)
def test_a_few_results_that_come_slowly_are_a_hint_where_they_are_small_or_only_three(
    num_bytes: int, objects_per_step: float | None, num_objects: int, confidence: str
) -> None:
    suspect = replace(
        SPECIMENS["TN202"],
        retained_bytes=num_bytes,
        growth_objects_per_step=objects_per_step,
        num_objects=num_objects,
    )

    found = check_suspect(suspect)

    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(
    ("gain", "num_bytes", "confidence"),
    [(4095.0, 64 << 10, "possible"), (4096.0, 64 << 10, "certain"), (4095.0, 256 << 10, "certain")],
)
def test_rows_of_a_report_that_come_to_little_are_a_hint(gain: float, num_bytes: int, confidence: str) -> None:
    suspect = replace(SPECIMENS["TN202"], retained_bytes=num_bytes, growth_bytes_per_step=gain)

    found = check_suspect(suspect)

    assert found is not None
    assert found.confidence == confidence


@pytest.mark.parametrize(("retained_bytes", "confidence"), [(1152, "possible"), (256 << 10, "likely")])
def test_a_few_small_results_that_nothing_with_a_name_holds_are_a_hint(retained_bytes: int, confidence: str) -> None:
    nameless = replace(SPECIMENS["TN202"].holder, kind="unknown", sites=())
    found = check_suspect(replace(SPECIMENS["TN202"], holder=nameless, retained_bytes=retained_bytes))

    assert found is not None
    assert found.confidence == confidence


def test_a_chain_of_objects_that_each_keep_the_one_before() -> None:
    link = replace(SPECIMENS["TN202"].holder, kind="attribute", name="above", expression="opened.above", element=False)
    chain = replace(SPECIMENS["TN202"], holder=link, cut=(link,), facts={"chain_of": "tracing.Span"})

    found = check_suspect(chain)

    assert found is not None
    assert (found.rule, found.confidence, found.message) == (
        "TN202",
        "certain",
        "By `opened.above` every `Span` keeps the one before, and so all of them live on with their tensors: "
        "1.00 MiB per step.",
    )


def test_what_one_iterator_of_a_tee_has_given_and_another_has_not() -> None:
    behind = replace(SPECIMENS["TN202"].holder, kind="attribute", name="ahead", expression="feed.ahead", element=False)
    given = hop("OTHER", "", "itertools._tee", "itertools._tee_dataobject")
    tee = replace(SPECIMENS["TN202"], holder=behind, cut=(behind,), path=(HOP, given))

    found = check_suspect(tee)

    assert found is not None
    assert (found.rule, found.confidence, found.message) == (
        "TN202",
        "certain",
        "`itertools.tee` behind `feed.ahead` keeps what one of its iterators has given until the others have given it "
        "too: 1.00 MiB per step.",
    )
    assert check_suspect(replace(tee, path=(HOP,))) is None


def test_a_tensor_that_is_joined_with_what_comes() -> None:
    bank = replace(SPECIMENS["TN202"].holder, kind="attribute", name="bank", expression="self.bank", element=False)
    joined = replace(SPECIMENS["TN202"], holder=bank, cut=(bank,), growth_objects_per_step=None)

    found = check_suspect(replace(joined, facts={CARRIED_ON: True}))

    assert found is not None
    assert (found.confidence, found.message) == (
        "certain",
        "`self.bank` is made longer with every step, and never shorter: 1.00 MiB per step.",
    )
    assert check_suspect(joined) is None


OTHERS = {
    "a dict by other keys than numbers that count is a cache": SPECIMENS["TN203"],
    "with a graph it is another cause": SPECIMENS["TN107"],
    "what does not grow is none": carried(),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None


def test_an_object_that_can_be_reset_is_to_be_reset() -> None:
    found = check_suspect(replace(SPECIMENS["TN202"], facts={"emptied_by": "auroc.reset"}))

    assert found is not None
    assert [remedy.summary for remedy in found.remedies] == [
        "call `auroc.reset()` once its result is read, as at the end of an epoch",
        REMEDY,
    ]


def test_callbacks_are_to_be_taken_out_where_their_owners_work_ends() -> None:
    """As of trainers that listen to an environment which outlives them."""
    to_list = hop("LOCAL", "history", "frame", "list", source_kind="FRAME")
    path = (to_list, hop("INDEX", "3", "list", "method"), hop("SELF", "__self__", "method", "train.PPO"))

    found = check_suspect(replace(SPECIMENS["TN202"], path=path))

    assert found is not None
    assert " gains callbacks and loses none" in found.message
    assert [remedy.summary for remedy in found.remedies] == [
        "take it out where its owner's work ends, as a method `unsubscribe` would, or keep a `weakref.WeakMethod` of "
        "it: each leads to its object and all that is below"
    ]


def test_of_a_table_whose_keys_count_up_entries_are_to_be_taken_out() -> None:
    facts = {"keys": ["'chat7'", "'chat8'"], "keys_count_up": True}
    found = check_suspect(replace(SPECIMENS["TN202"], facts=facts))

    assert found is not None
    assert [remedy.summary for remedy in found.remedies] == [
        "take an entry out where its session, task or episode ends: `del table[key]`; or keep a number of each"
    ]
