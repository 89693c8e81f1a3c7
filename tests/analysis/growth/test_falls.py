from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import TRAIN, suspect
from tenure.analysis.growth.falls import with_falls
from tenure.model.recording import Step
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import Falls, Series, Suspect

SAW = Series("step-end", (4, 6, 8, 12, 16, 24), (4, 6, 8, 2, 6, 4), (4, 6, 8, 2, 6, 4), (0,) * 6)
SAWTOOTH = suspect(
    symptom="sawtooth", series=SAW, period_steps=10, growth_bytes_per_step=1.0, growth_objects_per_step=1.0
)
LOOP = "log_every = 10\n\ndef fit(step):\n    if step % log_every == 0:\n        flush()\n"


def rows(counter: str, *moved_at: int) -> list[Step]:
    return [Step(step, float(step), 1.0, {counter: sum(at <= step for at in moved_at)}) for step in range(1, 31)]


def falls_of(told: Suspect, steps: list[Step], text: str = "") -> Falls | None:
    (found,) = with_falls([told], steps, {TRAIN: SourceFile(TRAIN, text, "yours")})
    return found.falls


def test_the_amplitude_is_what_comes_between_two_falls() -> None:
    assert falls_of(SAWTOOTH, []) == Falls(amplitude_bytes=10, amplitude_objects=10, every_steps=10)


def test_a_remainder_by_the_period_is_the_interval() -> None:
    assert falls_of(SAWTOOTH, [], LOOP) == Falls(
        10, 10, 10, with_what="interval", expression="step % log_every", where=SourceLocation(TRAIN, 4, "")
    )
    assert falls_of(SAWTOOTH, [], LOOP.replace("= 10", "= 12")) == Falls(10, 10, 10)


@pytest.mark.parametrize(("moved_at", "with_what"), [((10, 20), "collector"), ((5, 10, 20), ""), ((10,), ""), ((), "")])
def test_the_collector_is_named_where_it_ran_at_each_fall_and_at_no_rise(
    moved_at: tuple[int, ...], with_what: str
) -> None:
    told = falls_of(SAWTOOTH, rows("full_collections", *moved_at))

    assert told is not None
    assert told.with_what == with_what


def test_rings_wait_from_one_full_collection_to_the_next() -> None:
    ring = suspect(symptom="cycle", cyclic=True, growth_bytes_per_step=100.0)

    assert falls_of(ring, rows("full_collections", 5, 12, 19)) == Falls(700, None, 7, with_what="collector")
    assert falls_of(ring, rows("full_collections", 5)) is None
    assert falls_of(replace(ring, growth_bytes_per_step=None), rows("full_collections", 5, 12, 19)) is None


def test_what_does_not_fall_is_left_as_it_is() -> None:
    assert with_falls([suspect()], rows("full_collections", 5, 12, 19), {}) == (suspect(),)
