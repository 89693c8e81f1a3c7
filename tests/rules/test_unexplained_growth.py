from dataclasses import replace

import pytest

from suspects import HISTORY, TRAIN, carried, carried_finding, finding, suspect
from tenure.model.finding import CutReference
from tenure.model.suspect import CARRIED_ON, FOR_THE_STEP, INSIDE_OF_IDLE
from tenure.rules.unexplained_growth import check_suspect

REMEDY = "bound it, empty it, or keep less in it"
IDENTITY = {"rule": "TN900", "name": "unexplained-growth"}


def test_growth_that_nothing_explains_is_told_with_what_is_known() -> None:
    assert check_suspect(suspect()) == finding(
        REMEDY, message="`history[*]` grows: 1.00 MiB per step; no known cause fits.", **IDENTITY
    )


def test_what_grows_and_falls_may_be_meant_so() -> None:
    assert check_suspect(suspect(symptom="sawtooth")) == finding(
        REMEDY,
        message="`history[*]` grows and falls: 1.00 MiB per step; no known cause fits.",
        symptom="sawtooth",
        confidence="possible",
        **IDENTITY,
    )


@pytest.mark.parametrize("known", [FOR_THE_STEP, INSIDE_OF_IDLE])
def test_what_is_carried_for_a_step_or_told_to_idle_is_no_news(known: str) -> None:
    assert check_suspect(carried(facts={known: True})) is None
    assert check_suspect(suspect(facts={known: True})) is not None


@pytest.mark.parametrize(
    ("kind", "element", "facts", "confidence"),
    [
        ("local", False, {}, "possible"),
        ("local", False, {CARRIED_ON: True}, "certain"),
        ("local", True, {}, "certain"),
        ("attribute", False, {}, "certain"),
    ],
)
def test_a_variables_value_that_gets_larger_may_be_the_result_of_something_else(
    kind: str, element: bool, facts: dict[str, object], confidence: str
) -> None:
    scores = replace(HISTORY, kind=kind, element=element)

    found = check_suspect(suspect(holder=scores, cut=(scores,), growth_objects_per_step=None, facts=facts))

    assert found is not None
    assert found.confidence == confidence


def test_growth_in_number_alone_is_told_in_objects() -> None:
    assert check_suspect(suspect(growth_bytes_per_step=None)) == finding(
        REMEDY,
        message="`history[*]` grows: 1 object per step; no known cause fits.",
        growth_bytes_per_step=None,
        **IDENTITY,
    )


def test_what_does_not_grow_is_told_by_its_bytes() -> None:
    more = [replace(HISTORY, name=name) for name in ("a", "b", "c", "d")]

    assert check_suspect(carried(cut=tuple(more))) == carried_finding(
        REMEDY,
        message="`a`, `b`, `c` and 1 more hold 3.00 MiB; no known cause fits.",
        cut=tuple(CutReference(name, TRAIN, 24) for name in ("a", "b", "c", "d")),
        confidence="possible",
        **IDENTITY,
    )


def test_growth_out_of_sight_is_told_with_the_types_of_what_is_held() -> None:
    facts = {"unseen_owners": 27, "they_hold": {"collections.OrderedDict": 23, "list": 4}, "leading_to": {"a.Plan": 23}}

    found = check_suspect(suspect(facts=facts))

    assert found is not None
    assert found.message == (
        "Owners that are not visible to Python hold more and more: 1.00 MiB per step, by 23 OrderedDict, 4 list, "
        "leading to 23 Plan; no variable, module or object refers to them."
    )
    assert "register_hook" in found.remedies[0].summary


def test_a_few_numbers_that_get_a_few_more_are_nothing_to_tell() -> None:
    prompts = suspect(retained_bytes=184, growth_bytes_per_step=2.0)
    graphs = replace(prompts, num_graph_nodes=40)

    assert (check_suspect(prompts), check_suspect(graphs) is None) == (None, False)
