from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.kept.pinning_views import PINNED_BY_VIEWS
from tenure.analysis.suspects import find_suspects
from tenure.model.suspect import Suspect
from tenure.rules.view_pins_storage import check_suspect as view_pins_storage

BANK = (
    "train.bank -> __main__.Bank#bank -> .rows dict#rows -> [*{num}] tensor#row*at{step} 128KiB view=512 activation\n"
)
MODEL = "train.model -> __main__.Net#net -> ._parameters dict -> ['w'] parameter#w 1MiB\n"
STEPS = (1, 2, 3, 4, 8, 16, 24, 32)


def told(text: str, full_from: int = 4) -> list[Suspect]:
    """Suspects that pin, of a bank that has ten rows from a step on and gets other ones with every step."""
    censuses = [
        census(MODEL + text.format(num=10 if step >= full_from else 2 * step, step=step), step=step) for step in STEPS
    ]
    return [suspect for suspect in find_suspects(censuses) if PINNED_BY_VIEWS in suspect.facts]


def test_a_full_bank_of_small_views_is_told_with_what_it_pins() -> None:
    (suspect,) = told(BANK)

    assert (suspect.symptom, suspect.holder.expression, suspect.holder.owner_type) == (
        "survivor",
        "bank.rows[*]",
        "__main__.Bank",
    )
    assert (suspect.retained_bytes, suspect.pinned_bytes) == (10 << 17, 10 * ((128 << 10) - 512))
    assert suspect.series.objects == (0, 4, 6, 10, 10, 10, 10, 10)
    finding = view_pins_storage(suspect)
    assert finding is not None
    assert (finding.rule, finding.retained_bytes) == ("TN204", 10 << 17)


@pytest.mark.parametrize(
    "text",
    [
        BANK.replace("view=512", "view=65536"),  # half of it is shown
        BANK.replace("128KiB", "16KiB"),  # little
        BANK + "train.data -> tensor 900MiB\n",  # a trifle of what is alive
        BANK.replace("{num}", "3"),  # the results of one step
        BANK.replace("dict#rows -> [*{num}]", "__main__.Row#r{step} -> .row"),  # no container
    ],
)
def test_what_shows_its_storage_or_is_little_is_not_told(text: str) -> None:
    assert told(text) == []


def test_views_that_were_there_from_the_first_step_on_are_a_data_set() -> None:
    assert told(BANK.replace("at{step}", ""), full_from=1) == []


def test_a_bank_that_still_fills_up_is_told_as_growth_alone() -> None:
    assert told(BANK.replace("at{step}", ""), full_from=99) == []


def test_views_that_records_in_a_full_container_have_by_an_attribute_are_told_by_the_container() -> None:
    events = "dict#rows -> [*{num}] __main__.Event#event*at{step} -> .curve tensor#row*at{step}"

    (suspect,) = told(BANK.replace("dict#rows -> [*{num}] tensor#row*at{step}", events))

    assert (suspect.holder.expression, suspect.pinned_bytes) == ("bank.rows[*]", 10 * ((128 << 10) - 512))
