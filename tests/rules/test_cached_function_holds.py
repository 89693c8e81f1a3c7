from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS, carried, finding
from tenure.model.finding import CutReference, Holder
from tenure.model.suspect import Suspect
from tenure.rules.cached_function_holds import check_suspect

REMEDY = (
    "do not cache by tensors or by `self`: compute the value once and store it, cache plain keys with a "
    "small `maxsize`, or call `cache_clear()` when a phase ends"
)


def test_a_cached_method_that_grows() -> None:
    assert check_suspect(SPECIMENS["TN205"]) == finding(
        REMEDY,
        message="The cache of `lookup` keeps the arguments and results of its calls: 1.00 MiB per step.",
        rule="TN205",
        name="cached-function-holds",
        holder=Holder(
            kind="cache", name="lookup", expression="history[*]", file="/projects/asr/train.py", line=24, function="fit"
        ),
        cut=(CutReference(name="lookup", file="/projects/asr/train.py", line=24),),
    )


def test_a_cache_that_the_program_clears_again_and_again_is_possible_only() -> None:
    falls = check_suspect(replace(SPECIMENS["TN205"], symptom="sawtooth"))

    assert falls is not None
    assert (falls.symptom, falls.confidence) == ("sawtooth", "possible")


OTHERS = {
    "no cache on the path": SPECIMENS["TN202"],
    "a cache that is used in the step": carried(path=SPECIMENS["TN205"].path),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
