from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

MODEL = "main.model -> __main__.Net -> ._parameters dict -> ['weight'] parameter 1MiB\n"
DOCS = "main.corpus -> __main__.Corpus -> .docs {kind}#docs length={length} -> [{at}] tensor#d{at} {tail}\n"
GRAPH = "4B -> .grad_fn MmBackward0#g{at} -> .saved tensor#s{at} 8KiB"
STEPS = (1, 2, 3, 4, 6, 8, 12, 16)


def symptoms(kind: str = "list", tail: str = "8KiB", *, grows: bool = False) -> list[str]:
    """Of a container of 64 places, or one that gets them as it is filled, of which each step fills two."""

    def at(step: int) -> str:
        length = 2 * step if grows else 64
        return "".join(
            DOCS.format(kind=kind, length=length, at=place, tail=tail.format(at=place)) for place in range(2 * step)
        )

    return [each.symptom for each in find_suspects([census(MODEL + at(step), step=step) for step in STEPS])]


def test_a_list_that_has_its_length_from_the_start_is_filled_on_purpose() -> None:
    assert symptoms() == []


@pytest.mark.parametrize(("kind", "grows"), [("list", True), ("dict", False)])
def test_a_list_that_gets_longer_and_a_dict_with_a_stale_length_grow(kind: str, grows: bool) -> None:
    assert symptoms(kind, grows=grows) == ["growth"]


def test_graphs_that_hang_on_what_fills_the_places_are_told() -> None:
    assert symptoms(tail=GRAPH) == ["growth"]


def test_a_tensor_that_gets_longer_in_its_place_of_such_a_list_grows() -> None:
    """Keys of one layer each, to which every step's are concatenated."""
    layer = "main.cache -> __main__.Cache -> .keys list#keys length=2 -> [{at}] tensor#k{at}s{step} {size}KiB\n"

    def at(step: int) -> str:
        return "".join(layer.format(at=place, step=step, size=8 * step) for place in range(2))

    steps = (*STEPS, 24, 32)
    found = find_suspects([census(MODEL + at(step), step=step) for step in steps])
    assert [each.symptom for each in found] == ["growth"]
