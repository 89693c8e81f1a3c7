from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8, 13)
NET = "main.model -> t.Net#net -> ._parameters dict -> ['w'] parameter#w 1MiB parameter\n"
RECORDER = "Trainer.step(train.py:20).self -> t.Trainer#trainer -> .recorder t.Recorder#recorder -> .rows list#rows"


def growing(copy: str, *, kept: str = f"{RECORDER} -> [{{at}}] tensor#r{{at}} 64KiB\n") -> list[Suspect]:
    """A recorder gains a row in each step; the copy of all rows is bound by a variable."""

    def text(step: int) -> str:
        return NET + "".join((kept + copy).format(at=at, step=step) for at in range(step))

    found = find_suspects([census(text(step), step=step) for step in STEPS])
    return [suspect for suspect in found if suspect.symptom == "growth"]


@pytest.mark.parametrize(
    ("copy", "told"),
    [
        ("main(train.py:37).seen -> list#of_{step} -> [{at}] tensor#r{at}\n", "rows"),
        ("main(train.py:37).seen -> dict#of_{step} -> ['{at}'] tensor#r{at}\n", "rows"),
        ("main(train.py:37).seen -> list#lasting -> [{at}] tensor#r{at}\n", "seen"),
        ("main(train.py:37).seen -> tuple#of_{step} -> [0] tensor#r{step}\n", "rows"),
    ],
)
def test_what_a_copy_for_the_step_has_too_is_told_by_the_container_that_lasts(copy: str, told: str) -> None:
    (suspect,) = growing(copy)

    assert (suspect.holder.name, suspect.holder.element) == (told, True)


def test_records_of_a_lasting_container_are_told_by_it_where_a_copy_has_what_is_in_them() -> None:
    kept = f"{RECORDER} -> [{{at}}] t.Row#row{{at}} -> .value tensor#r{{at}} 64KiB\n"

    (suspect,) = growing("main(train.py:37).seen -> list#of_{step} -> [{at}] tensor#r{at}\n", kept=kept)

    assert (suspect.holder.name, suspect.retained_bytes) == ("rows", 13 * 64 * 1024)


def test_a_container_that_is_made_anew_and_alone_has_the_rows_is_told_itself() -> None:
    (suspect,) = growing("", kept=RECORDER.replace("#rows", "#of_{step}") + " -> [{at}] tensor#r{at} 64KiB\n")

    assert (suspect.holder.name, suspect.holder.element) == ("rows", True)


LATER = (*STEPS, 22, 32, 44)
NOW_AND_THEN = (2, 4, 4, 6, 8, 10, 14, 24, 30, 44)
SPACE = (
    "Trainer.step(train.py:20).self -> t.Trainer#trainer -> .space t.Space#space -> .flat tensor#flat{made} {flat}\n"
)
PART = "main(train.py:37).out -> tensor#part{step} {flat}\n"


@pytest.mark.parametrize(
    ("variable", "sizes", "told"),
    [
        (PART, NOW_AND_THEN, "flat"),
        (PART, LATER, "out"),
        (PART.replace("#part{step} {flat}", "#flat{made}"), NOW_AND_THEN, "out"),
    ],
    ids=["a part of a buffer that lasts a while", "what is made anew in each step", "the buffer itself"],
)
def test_a_buffer_that_is_made_larger_now_and_then_is_told_by_what_has_it_and_not_by_the_variable_of_a_part(
    variable: str, sizes: tuple[int, ...], told: str
) -> None:
    def text(step: int, size: int) -> str:
        flat = f"{size}MiB storage=s{size} serial={size + 9}"
        return NET + (SPACE + variable).format(made=size, step=step, flat=flat)

    found = find_suspects([census(text(step, size), step=step) for step, size in zip(LATER, sizes, strict=True)])

    assert [suspect.holder.name for suspect in found if suspect.symptom == "growth"] == [told]
