from dataclasses import replace

import pytest

from suspects import HISTORY, MIB, TRAIN, finding, series, series_row, suspect
from tenure.model.finding import CutReference, Finding, Holder
from tenure.model.source import SourceLocation
from tenure.model.suspect import (
    ALSO_KEPT_BY,
    GROWS_WITH_MODEL,
    KEPT_SHORT,
    KEPT_UP,
    MADE_LARGER,
    READ_AFTERWARDS,
    READ_IN_TURNS,
    REBUILT,
    USED_BY_STEPS,
    Falls,
    Suspect,
)
from tenure.rules.claim import claim, growth, plural, subject, where

NOWHERE = replace(HISTORY, sites=())
TWO_PLACES = replace(HISTORY, sites=(SourceLocation(TRAIN, 24, "fit"), SourceLocation(TRAIN, 30, "fit")))
ONE_CENSUS = series(3 * MIB)


def claimed(given: Suspect, **options: object) -> Finding:
    return claim(given, rule="TN999", name="test", message="m", remedies=("r",), **options)


def expected(**changes: object) -> Finding:
    return finding("r", **{"rule": "TN999", "name": "test", "message": "m", **changes})


def test_a_claim_carries_all_that_the_suspect_knows() -> None:
    found = claimed(suspect())

    assert found == expected()
    assert found.explains == (7,)


def test_a_holder_without_a_statement_has_no_place_and_is_not_certain() -> None:
    assert claimed(suspect(holder=NOWHERE)) == expected(
        confidence="likely",
        holder=Holder("local", "history", "history[*]"),
        cut=(CutReference("history", None, None),),
    )


def test_several_statements_that_may_have_made_the_reference_are_all_told() -> None:
    sites = [{"file": TRAIN, "line": line, "function": "fit"} for line in (24, 30)]

    assert claimed(suspect(holder=TWO_PLACES, ambiguous=True)) == expected(
        confidence="likely", evidence=(*expected().evidence, {"kind": "sites", "candidates": sites})
    )


def test_the_librarys_own_statement_behind_a_call_is_evidence() -> None:
    inside = SourceLocation("/site-packages/metrics.py", 170, "Curve.update")
    row = {"file": inside.file, "line": 170, "function": "Curve.update"}

    assert claimed(suspect(holder=replace(HISTORY, library_sites=(inside,)))) == expected(
        evidence=(*expected().evidence, {"kind": "library_sites", "statements": [row]})
    )


def test_facts_are_evidence() -> None:
    assert claimed(suspect(facts={"period": 8})) == expected(
        evidence=(*expected().evidence, {"kind": "facts", "period": 8})
    )


def test_one_census_measures_nothing() -> None:
    path, _, roles = expected().evidence

    assert claimed(suspect(series=ONE_CENSUS)) == expected(
        confidence="likely", evidence=(path, series_row(3 * MIB), roles)
    )


@pytest.mark.parametrize(
    ("given", "confidence"),
    [
        (suspect(), "certain"),
        (suspect(holder=TWO_PLACES), "certain"),
        (suspect(path=()), "likely"),
        (suspect(holder=replace(HISTORY, kind="unknown")), "likely"),
        (suspect(path=(), series=ONE_CENSUS), "possible"),
    ],
    ids=["measured-and-seen", "decided-among-two", "no-path", "holder-unknown", "neither"],
)
def test_certain_takes_a_path_and_a_measured_symptom(given: Suspect, confidence: str) -> None:
    assert claimed(given).confidence == confidence


def test_a_rule_may_be_less_sure_but_not_surer() -> None:
    assert claimed(suspect(), at_most="possible").confidence == "possible"
    assert claimed(suspect(holder=NOWHERE), at_most="certain").confidence == "likely"


def test_what_an_installed_package_holds_is_the_librarys() -> None:
    assert claimed(suspect(holder_is_yours=False)) == expected(origin="library")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("loss",), "`history[*]` holds"),
        (("loss", "loss"), "`history[*]` holds"),
        (("loss", "retval"), "`loss` and `retval` hold"),
        (("a", "b", "c"), "`a`, `b` and `c` hold"),
        (("a", "b", "c", "d", "e"), "`a`, `b`, `c` and 2 more hold"),
        ((), "`history[*]` holds"),
    ],
)
def test_a_sentence_names_what_is_to_drop_and_agrees_with_it(names: tuple[str, ...], sentence: str) -> None:
    given = suspect(cut=tuple(replace(HISTORY, name=name) for name in names))

    assert f"{subject(given)} {plural(given, 'holds', 'hold')}" == sentence


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (suspect(), "1.00 MiB per step"),
        (
            suspect(growth_bytes_per_step=0.4, series=series(0, 0, 0, graph_nodes=(4, 8, 12))),
            "4 autograd nodes per step",
        ),
        (
            suspect(growth_bytes_per_step=8.0, series=series(0, 8, 16, graph_nodes=(4, 8, 12))),
            "4 autograd nodes per step",
        ),
        (
            suspect(growth_bytes_per_step=2800.0, series=series(0, 8, 16, graph_nodes=(4, 8, 12))),
            "2.73 KiB per step",
        ),
        (suspect(growth_bytes_per_step=None, growth_objects_per_step=0.25), "0.25 objects per step"),
        (suspect(growth_bytes_per_step=None, growth_objects_per_step=None), "a little per step"),
    ],
)
def test_growth_is_told_in_what_grows_most_visibly(given: Suspect, words: str) -> None:
    assert growth(given) == words


def test_a_place_is_a_file_name_and_a_line() -> None:
    assert [where(SourceLocation("C:\\asr\\train.py", 3)), where(SourceLocation(TRAIN, 24)), where(None)] == [
        "train.py:3",
        "train.py:24",
        "",
    ]


def test_growth_of_a_phase_that_two_censuses_saw_is_likely_at_most() -> None:
    def seen(times: int) -> str:
        return claimed(suspect(facts={"grows_since_step": 32, "censuses_while_growing": times})).confidence

    assert [seen(2), seen(3)] == ["likely", "certain"]


def test_what_rose_twice_only_is_a_hint() -> None:
    facts = {"grows_since_step": 12, "censuses_while_growing": 3}

    assert [claimed(suspect(facts=facts | rises)).confidence for rises in ({}, {"rises_seen": 2})] == [
        "certain",
        "possible",
    ]


@pytest.mark.parametrize(
    ("falls", "text"),
    [
        (Falls(98304, 12, 12), "96.00 KiB and 12 objects every 12 steps"),
        (
            Falls(98304, 12, 12, "interval", "step % every", SourceLocation(TRAIN, 8, "")),
            "96.00 KiB and 12 objects every 12 steps, the interval of `step % every` (train.py:8)",
        ),
        (Falls(700, None, 7, "collector"), "700 B every 7 steps, when the collector goes through all objects"),
    ],
)
def test_what_falls_says_by_how_much_and_with_what(falls: Falls, text: str) -> None:
    (told,) = (row for row in claimed(suspect(falls=falls)).evidence if row["kind"] == "falls")

    assert told == {
        "kind": "falls",
        "amplitude_bytes": falls.amplitude_bytes,
        "amplitude_objects": falls.amplitude_objects,
        "every_steps": falls.every_steps,
        "with": falls.with_what or None,
        "expression": falls.expression or None,
        "file": falls.where.file if falls.where else None,
        "line": falls.where.line if falls.where else None,
        "text": text,
    }


def test_the_holder_whose_statement_is_named_comes_first() -> None:
    other = replace(HISTORY, name="kept", expression="kept[*]")

    assert subject(suspect(cut=(other, HISTORY))) == "`history` and `kept`"


def test_what_the_text_keeps_short_is_a_hint_with_the_line_that_does() -> None:
    plain, short = claimed(suspect()), claimed(suspect(facts={KEPT_SHORT: 16}))

    assert (plain.confidence, short.confidence) == ("certain", "possible")
    assert short.message == f"{plain.message} Line 16 looks how many there are, and stops at enough."


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        ({MADE_LARGER: 16}, "Line 16 asks for room: it is as large as the largest need so far."),
        ({USED_BY_STEPS: True}, "A profiled step used what was there then: it may be meant to stay."),
        (
            {READ_AFTERWARDS: "soup.py:40"},
            "soup.py:40 goes through all of it in the end, once: it may be meant to stay.",
        ),
        (
            {READ_IN_TURNS: "cl.py:8"},
            "It gains an entry now and then, and cl.py:8 goes through all of it: it may be meant to stay.",
        ),
        ({KEPT_UP: True}, "Steps bring earlier entries up to date: it may fill until every key has come."),
    ],
)
def test_what_may_be_meant_is_a_hint_and_says_why(facts: dict[str, object], note: str) -> None:
    found = claimed(suspect(facts=facts))

    assert (found.confidence, found.message) == ("possible", f"{claimed(suspect()).message} {note}")


def test_what_else_keeps_the_graphs_is_told() -> None:
    found = claimed(suspect(facts={ALSO_KEPT_BY: "trainer.logs['aux'][*]"}))

    assert found.message == (
        "m `trainer.logs['aux'][*]` keeps most of these nodes as well: only both together let them go."
    )


def test_what_is_built_anew_in_each_step_is_not_certain() -> None:
    assert claimed(suspect(facts={REBUILT: True})).confidence == "likely"


def test_what_comes_with_a_models_layers_is_possible_and_says_so() -> None:
    found = claimed(suspect(facts={GROWS_WITH_MODEL: True}))

    assert (found.confidence, found.message) == ("possible", "m It grows where the model does.")
