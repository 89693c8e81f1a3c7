from dataclasses import replace

import pytest

from suspects import HISTORY, MIB, TRAIN, hop, suspect
from tenure.model.source import SourceLocation
from tenure.model.suspect import (
    DRAWN,
    GRAPHS_IN_TURN,
    HANDED_ON,
    IN_WINDOW,
    READ_BEFORE,
    UNREAD_FIELD,
    WAITS,
    HoldingReference,
    Suspect,
)
from tenure.rules.idle_at_peak import check_suspect

LOGITS = replace(HISTORY, name="logits", expression="logits", element=False, container_type="")
BATCH = replace(LOGITS, kind="attribute", name="batch", expression="pipeline.batch")
FACTS = {
    "idle_at_peak": True,
    "last_used_by": {"operation": "aten.mm.default", "phase": "forward", "file": TRAIN, "line": 30},
    "peak_at": {"operation": "aten.mm.default", "phase": "backward", "file": TRAIN, "line": 31},
    "seen_in_both_steps": True,
}


def idle(*cut: object, **changes: object) -> Suspect:
    values = {"symptom": "peak", "peak_bytes": 20 * MIB, "peak_drop_bytes": 3 * MIB, "peak_basis": "replayed"}
    return suspect(holder=cut[0], cut=cut, **{"facts": FACTS, **values, **changes})


def test_a_name_that_is_idle_at_the_peak_is_told_with_its_last_use_and_the_peak() -> None:
    found = check_suspect(idle(LOGITS))

    assert found is not None
    assert (found.rule, found.name, found.symptom, found.confidence) == ("TN106", "idle-at-peak", "peak", "certain")
    assert found.message == (
        "`logits` is not used any more after train.py:30 but still holds memory at the step's peak, "
        "in the backward pass."
    )
    assert [remedy.summary for remedy in found.remedies] == ["`del logits` after the last use, before backward"]
    assert (found.peak_bytes, found.peak_drop_bytes, found.peak_basis) == (20 * MIB, 3 * MIB, "replayed")


def test_a_variable_used_last_by_the_statement_that_makes_the_peak_is_a_hint() -> None:
    at_peak = FACTS | {"last_used_by": FACTS["peak_at"]}

    found, kept = (check_suspect(idle(holder, facts=at_peak)) for holder in (replace(LOGITS, kind="local"), BATCH))

    assert found is not None
    assert kept is not None
    assert (found.confidence, kept.confidence) == ("possible", "certain")


def test_what_an_object_keeps_and_the_peaks_statement_uses_last_is_a_hint_below_a_quarter_of_the_peak() -> None:
    place = FACTS["last_used_by"]
    found = [
        check_suspect(
            idle(BATCH, facts=FACTS | {"last_used_by": place, "peak_at": place, **more}, peak_drop_bytes=size)
        )
        for size, more in ((4 * MIB, {}), (6 * MIB, {}), (4 * MIB, {"copied_to_grow": ("decoder.py", 3)}))
    ]

    assert [each and each.confidence for each in found] == ["possible", "certain", "likely"]


def test_the_last_few_entries_of_a_bounded_container_may_be_meant() -> None:
    found = [check_suspect(idle(BATCH, facts=FACTS | more)) for more in ({}, {IN_WINDOW: True})]

    assert [each and each.confidence for each in found] == ["certain", "possible"]


def test_what_an_object_keeps_is_set_to_none_and_a_graph_belongs_under_no_grad() -> None:
    found = check_suspect(idle(BATCH, LOGITS, through_graph=True))

    assert found is not None
    assert found.message.startswith("`batch` and `logits` are not used any more after train.py:30 but still hold")
    assert [remedy.summary for remedy in found.remedies] == [
        "`del logits` after the last use, before backward; do not keep `pipeline.batch`, or set it to None after the "
        "last use; what needs no gradient belongs under `torch.no_grad()`"
    ]


def test_what_no_statement_reads_again_is_dropped_after_its_last_use_whatever_the_peak() -> None:
    unread = {"idle_at_peak": True, "never_read_again": True, "seen_in_both_steps": True}

    found = check_suspect(idle(LOGITS, facts=unread, peak_bytes=None))

    assert found is not None
    assert (found.confidence, found.peak_drop_bytes) == ("certain", 3 * MIB)
    assert found.message == "No statement reads `logits` any more, but it still holds memory in every step."
    assert [remedy.summary for remedy in found.remedies] == ["`del logits` after the last use"]


def test_what_no_profiled_operation_touched_is_a_hint_whatever_it_weighs() -> None:
    rests = {"idle_at_peak": True, "rests": True, "last_seen_step": 24, "times_replaced": 0}

    found, renewed = (
        check_suspect(idle(BATCH, facts=rests | {"times_replaced": times}, peak_drop_bytes=15 * MIB))
        for times in (0, 3)
    )

    assert found is not None
    assert renewed is not None
    assert (found.confidence, found.peak_drop_bytes, found.message) == (
        "possible",
        15 * MIB,
        "No operation of the profiled steps used `pipeline.batch`, but it holds memory at their peak; "
        "still there at step 24.",
    )
    assert [remedy.summary for remedy in found.remedies] == [
        "set `pipeline.batch` to None once it is used, or move it to the host until another phase needs it"
    ]
    assert renewed.message.endswith("between censuses other memory took its place 3 times, to step 24.")


def test_what_no_statement_reads_either_is_likely_for_code_that_is_not_the_programs_may() -> None:
    facts = {"idle_at_peak": True, "rests": True, "last_seen_step": 24, "times_replaced": 0, UNREAD_FIELD: True}

    found, small = (check_suspect(idle(BATCH, facts=facts, peak_drop_bytes=size)) for size in (15 * MIB, 100 << 10))

    assert found is not None
    assert small is not None
    assert (found.confidence, small.confidence) == ("likely", "possible")
    assert found.message == (
        "No statement of the program reads any more, and no operation of the profiled steps used, `pipeline.batch`, "
        "but it holds memory at their peak; still there at step 24."
    )
    assert [remedy.summary for remedy in found.remedies] == ["do not keep `pipeline.batch`: nothing asks for it"]


@pytest.mark.parametrize(
    ("readers", "how", "remedy"),
    [
        (["Clips.tokenize"], " (`Clips.tokenize` did)", "after `Clips.tokenize`"),
        (
            ["Clips.tokenize", "describe"],
            " (`Clips.tokenize`, `describe` did)",
            "after `Clips.tokenize` and `describe`",
        ),
        ([], " for more than its shape", "after what fills it"),
    ],
)
def test_what_nothing_reads_that_may_still_run_is_likely_and_told_with_its_last_readers(
    readers: list[str], how: str, remedy: str
) -> None:
    facts = {"idle_at_peak": True, "rests": True, "last_seen_step": 24, "times_replaced": 0, READ_BEFORE: readers}

    found = check_suspect(idle(BATCH, facts=facts, peak_drop_bytes=15 * MIB))

    assert found is not None
    assert (found.confidence, found.message) == (
        "likely",
        f"Nothing that may still run reads `pipeline.batch`{how}, but it holds memory at the profiled steps' peak; "
        "still there at step 24.",
    )
    assert [each.summary for each in found.remedies] == [
        f"let go of `pipeline.batch` {remedy}; keep beside it what is asked later, as its shape"
    ]


def test_what_might_be_used_up_before_is_likely_at_most_and_told_with_what_it_waits_for() -> None:
    waits = {"operation": "aten._log_softmax.default", "phase": "other", "file": TRAIN, "line": 41}

    found, light = (
        check_suspect(idle(LOGITS, facts=FACTS | {WAITS: waits}, peak_drop_bytes=size)) for size in (5 * MIB, 4 * MIB)
    )

    assert found is not None
    assert light is not None
    assert light.confidence == "possible"
    assert (found.confidence, found.message) == (
        "likely",
        "`logits` waits through the step's peak for train.py:41, which could run before it.",
    )
    assert [remedy.summary for remedy in found.remedies] == [
        "run train.py:41 as soon as `logits` is there, and keep only its result"
    ]


@pytest.mark.parametrize(
    ("number", "drop", "confidence"), [(6, 5 * MIB, "likely"), (6, 4 * MIB, "possible"), (2, 5 * MIB, "possible")]
)
def test_graphs_that_wait_for_one_backward_are_a_hint_where_they_are_few_or_light(
    number: int, drop: int, confidence: str
) -> None:
    losses = replace(LOGITS, name="losses", expression="losses[*]")

    found = check_suspect(
        idle(losses, facts=FACTS | {GRAPHS_IN_TURN: number}, peak_drop_bytes=drop, peak_bytes=20 * MIB)
    )

    assert found is not None
    assert (found.confidence, found.message) == (
        confidence,
        f"{number} graphs alike wait in `losses[*]` for one backward, though each could be sent backward, and freed, "
        "before the next is made.",
    )
    assert [remedy.summary for remedy in found.remedies] == [
        "call `backward()` on each part as soon as it is there (gradients add up), and keep its `.item()` to log"
    ]


def test_a_container_that_rests_is_to_be_emptied_and_not_replaced() -> None:
    rests = {"idle_at_peak": True, "rests": True, "last_seen_step": 24, "times_replaced": 0}
    to_list = hop("ATTRIBUTE", "batch", "train.Pipeline", "list")

    found = check_suspect(idle(BATCH, facts=rests, path=(to_list,)))

    assert found is not None
    assert [remedy.summary for remedy in found.remedies] == [
        "empty `pipeline.batch` once it is used, or move it to the host until another phase needs it"
    ]


def test_without_a_place_the_message_says_less() -> None:
    found = check_suspect(idle(LOGITS, facts={"idle_at_peak": True}))

    assert found is not None
    assert found.message == "`logits` is not used any more but still holds memory at the step's peak."
    assert found.confidence == "likely"


def test_less_than_a_tenth_of_the_peak_or_128_kib_and_what_a_library_holds_are_hints() -> None:
    two_sites = replace(LOGITS, sites=(SourceLocation(TRAIN, 24), SourceLocation(TRAIN, 25)))
    found = [
        check_suspect(idle(LOGITS, peak_drop_bytes=MIB)),
        check_suspect(idle(LOGITS, holder_is_yours=False)),
        check_suspect(idle(two_sites, ambiguous=True)),
        check_suspect(idle(LOGITS, facts=FACTS | {"ctx_type": "Square"})),
        check_suspect(idle(LOGITS, peak_drop_bytes=(128 << 10) - 1, peak_bytes=MIB // 4)),
        check_suspect(idle(LOGITS, peak_drop_bytes=128 << 10, peak_bytes=MIB // 4)),
    ]

    assert [finding and finding.confidence for finding in found] == [
        *("possible", "possible", "likely", "possible", "possible", "certain")
    ]


def test_variables_for_batches_and_what_a_graph_keeps_are_hints_below_a_quarter_of_the_peak() -> None:
    passing = [FACTS | {"made_before_step": True}, FACTS | {"kept_by_graph": True}, FACTS | {DRAWN: True}]

    def confidences(reference: HoldingReference, mib: int) -> list[str | None]:
        found = [check_suspect(idle(reference, facts=facts, peak_drop_bytes=mib * MIB)) for facts in passing]
        return [finding and finding.confidence for finding in found]

    assert confidences(LOGITS, 4) == ["possible"] * 3
    assert confidences(LOGITS, 5) == ["certain"] * 3
    assert confidences(BATCH, 4) == ["certain"] * 3


def test_of_two_statements_the_one_that_was_seen_to_make_the_memory_is_told() -> None:
    two_sites = replace(LOGITS, sites=(SourceLocation(TRAIN, 24), SourceLocation(TRAIN, 25)))
    made = {"made_by": {"operation": "aten.mm.default", "phase": "forward", "file": TRAIN, "line": 25}}

    found = check_suspect(idle(two_sites, ambiguous=True, facts=FACTS | made))

    assert found is not None
    assert (found.holder.line, found.cut[0].line, found.confidence) == (25, 25, "certain")


def test_what_grows_by_concatenation_is_to_be_made_once() -> None:
    found = check_suspect(idle(BATCH, facts=FACTS | {"copied_to_grow": ("decoder.py", 3)}))

    assert found is not None
    assert found.message == (
        "`pipeline.batch` grows by concatenation: at the step's peak the old copy and the new one are both alive."
    )
    assert found.confidence == "likely"
    small = check_suspect(
        replace(idle(BATCH, facts=FACTS | {"copied_to_grow": ("decoder.py", 3)}), peak_drop_bytes=MIB - 1)
    )
    assert small is not None
    assert small.confidence == "possible"
    assert [remedy.summary.partition(" and ")[0] for remedy in found.remedies] == ["make it once at its full length"]


def test_other_suspects_are_left_to_other_rules() -> None:
    assert check_suspect(idle(LOGITS, facts={})) is None
    assert check_suspect(suspect()) is None


def test_a_batch_handed_down_through_many_functions_is_a_hint() -> None:
    handed = [replace(LOGITS, name="batch", scope_function=name) for name in ("main", "fit", "step")]

    found = [check_suspect(idle(*handed[:count])) for count in (2, 3)]

    assert [each.confidence for each in found if each] == ["certain", "possible"]


def test_the_peak_of_a_phase_that_another_exceeds_is_a_hint() -> None:
    found = check_suspect(idle(LOGITS, facts=FACTS | {"higher_peak_bytes": 40 * MIB}))

    assert found is not None
    assert found.confidence == "possible"


def test_what_is_returned_is_a_hint_where_no_backward_pass_is_under_way_and_is_not_to_be_deleted() -> None:
    forward = {**FACTS, "peak_at": {**FACTS["peak_at"], "phase": "forward"}, HANDED_ON: ("logits",)}

    found = [check_suspect(idle(LOGITS, facts=facts)) for facts in (forward, {**FACTS, HANDED_ON: ("logits",)})]

    assert [each and each.confidence for each in found] == ["possible", "likely"]
    assert {remedy.summary for each in found if each for remedy in each.remedies} == {
        "return of `logits` only what the caller uses: of a part a copy, of what nobody asks for nothing"
    }
