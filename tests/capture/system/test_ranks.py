from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from tenure.capture.system.ranks import Place, find_place, read_number


def test_the_launcher_says_which_rank_this_is() -> None:
    environment = {"RANK": "5", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "TORCHELASTIC_RESTART_COUNT": "2"}
    place = find_place(environment)

    assert place == Place(rank=5, local_rank=1, world_size=8, node=place.node, restart=2)
    assert (place.has_others, bool(place.node)) == (True, True)


@pytest.mark.parametrize(("size", "expected"), [(4, (3, None, 4, None)), (1, (None, None, None, None))])
def test_without_a_launcher_a_process_group_of_several_says_it(
    size: int, expected: tuple[int | None, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    group = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: size - 1, get_world_size=lambda: size
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", group)

    place = find_place({})

    assert (place.rank, place.local_rank, place.world_size, place.restart) == expected


def test_a_process_alone_has_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)

    place = find_place({"RANK": ""})

    assert (place.rank, place.world_size, place.has_others) == (None, None, False)


def test_what_is_no_number_is_not_measured() -> None:
    assert [read_number({"A": text}, "A") for text in ("3", "", "three")] == [3, None, None]
