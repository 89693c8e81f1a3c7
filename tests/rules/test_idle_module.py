from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import ENCODER, IDLE, SPECIMENS, TRAIN, carried_finding, path_row, roles_row, series_row
from tenure.model.finding import CutReference, Finding, Holder
from tenure.model.suspect import NEVER_READ_AGAIN, PASSED_BY, STILL_USED, UNREAD_MODULE, Suspect
from tenure.model.units import format_bytes
from tenure.rules import idle_at_peak
from tenure.rules.idle_module import check_suspect

MIB = 1 << 20
REMEDY = (
    "where its work ends, delete every reference listed under `to free`; or move it away until it is "
    'needed again: `.to("cpu")`, or `.to("meta")` where it never is'
)


def found(suspect: Suspect) -> Finding:
    told = check_suspect(suspect)
    assert told is not None
    return told


def test_a_module_that_rests_on_its_device() -> None:
    assert check_suspect(SPECIMENS["TN403"]) == carried_finding(
        REMEDY,
        rule="TN403",
        name="idle-module",
        symptom="survivor",
        confidence="likely",
        message="`self.encoder` keeps 3.00 MiB of Encoder on cpu, which was not seen called after step 7 and is "
        "in no optimizer.",
        holder=Holder("attribute", "encoder", "self.encoder", TRAIN, 24, "fit"),
        cut=(CutReference("encoder", TRAIN, 24),),
        evidence=(
            path_row(),
            series_row(3 * MIB, 3 * MIB, 3 * MIB, moment="forward-entry"),
            roles_row(),
            {"kind": "facts", **IDLE},
        ),
    )


def test_all_names_are_told_and_a_module_of_before_the_first_step_says_so() -> None:
    aliases = (ENCODER, replace(ENCODER, name="models['encoder']", expression="models['encoder']"))
    suspect = replace(SPECIMENS["TN403"], cut=aliases, facts=IDLE | {"last_called_step": 0})

    assert found(suspect).message == (
        "`encoder` and `models['encoder']` keep 3.00 MiB of Encoder on cpu, which was not seen called since the first "
        "step began and is in no optimizer."
    )


def test_a_module_that_lost_its_name_was_released() -> None:
    assert check_suspect(replace(SPECIMENS["TN403"], facts=IDLE | {"released": "encoder"})) is None


@pytest.mark.parametrize(("size", "confidence"), [(3 * MIB, "certain"), (100 << 10, "possible")])
def test_a_module_that_no_statement_reads_again_is_dropped_after_its_last_use(size: int, confidence: str) -> None:
    unread = {"idle_at_peak": True, NEVER_READ_AGAIN: True, UNREAD_MODULE: "teachers.Teacher"}
    teacher = replace(ENCODER, kind="local", name="teacher", expression="teacher")
    suspect = replace(
        SPECIMENS["TN403"], symptom="peak", holder=teacher, cut=(teacher,), facts=unread, retained_bytes=size
    )

    told = found(suspect)

    assert (told.rule, told.symptom, told.confidence) == ("TN403", "peak", confidence)
    assert told.message == (
        f"No statement reads `teacher` any more, but it keeps {format_bytes(size)} of Teacher on cpu in every step."
    )
    assert [remedy.summary for remedy in told.remedies] == ["`del teacher` after the last use"]
    assert idle_at_peak.check_suspect(suspect) is None


def test_what_a_hook_keeps_goes_with_the_hook() -> None:
    told = found(replace(SPECIMENS["TN403"], holder=replace(ENCODER, kind="hook")))

    assert [remedy.summary for remedy in told.remedies] == [
        "take the hook off where the work of the object ends whose method it calls: `handle.remove()`",
        REMEDY,
    ]


def test_of_what_is_still_used_a_copy_is_enough() -> None:
    told = found(replace(SPECIMENS["TN403"], facts=IDLE | {STILL_USED: 64}))

    assert told.message.endswith("is in no optimizer; 64 B of it are still used.")
    assert [each.summary for each in told.remedies] == [
        "keep copies of what is still used (`buffer.clone()`), not the module, nor a method of it",
        REMEDY,
    ]


def test_a_doubt_makes_it_a_possibility() -> None:
    suspect = replace(SPECIMENS["TN403"], facts=IDLE | {"doubt": "it was in use until late"})

    assert found(suspect).confidence == "possible"


@pytest.mark.parametrize("code", ["TN401", "TN404", "TN405"])
def test_other_survivors_are_left_to_other_rules(code: str) -> None:
    assert check_suspect(SPECIMENS[code]) is None


def test_an_optimizer_that_passes_it_by_has_to_let_it_go_too() -> None:
    told = found(replace(SPECIMENS["TN403"], facts=IDLE | {PASSED_BY: True}))

    assert told.message.endswith("which was not seen called after step 7 and which no optimizer steps.")
    assert [remedy.summary for remedy in told.remedies] == [
        REMEDY,
        "the optimizer that goes on has its parameters and their state too: make a new one for what is still trained, "
        "or take the group out of `param_groups` and each of its parameters out of `state`",
    ]
