from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import MIB, SPECIMENS, finding
from tenure.model.suspect import Suspect
from tenure.rules.view_pins_storage import check_suspect

REMEDY = (
    "copy what is kept, so that the rest can go: `x[:, -1].clone()`, `row.detach().clone()`, or `.item()`"
    " for one number; `.detach()` alone shares the storage"
)


def test_views_of_a_third_of_their_storage() -> None:
    assert check_suspect(SPECIMENS["TN204"]) == finding(
        REMEDY,
        message="`history[*]` keeps small views of large tensors: at least 2.00 MiB of 3.00 MiB lie outside of what "
        "the views show.",
        rule="TN204",
        name="view-pins-storage",
    )


OTHERS = {
    "views of most of their storage pin nothing to speak of": replace(SPECIMENS["TN204"], pinned_bytes=MIB),
    "nothing pinned": SPECIMENS["TN202"],
    "a graph keeps more than a view": replace(SPECIMENS["TN204"], through_graph=True),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_other_suspects_are_left_to_other_rules(other: Suspect) -> None:
    assert check_suspect(other) is None
