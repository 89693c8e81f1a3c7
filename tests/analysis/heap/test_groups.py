"""Marks of shapes, which are the same in every run and on every machine."""

from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.heap.groups import fingerprint_of
from tenure.analysis.suspects import find_suspects


def mark(key: str) -> str:
    text = f"main.tables -> dict#t -> [{key}] list#l -> [*{{step}}] tensor 1MiB\n"
    (found,) = find_suspects([census(text.format(step=step), step=step) for step in (1, 2, 3, 4, 6, 8)])
    return found.fingerprint


@pytest.mark.parametrize(
    "folder",
    [
        "/srv/bob/proj/",
        "/home/ann2/proj/",
        "/home/ann/My Project/",
        "C:\\\\Users\\\\ann\\\\",
        "D:/proj/",
        "…ome/ann/projects/diffusion/",
    ],
)
def test_a_key_that_is_a_path_is_told_by_its_name_wherever_the_folder_lies(folder: str) -> None:
    assert mark(f"'{folder}weights.pt'") == mark("'/home/ann/proj/weights.pt'")


def test_other_names_and_other_texts_are_told_apart() -> None:
    keys = ("'/home/ann/weights.pt'", "'/home/ann/masks.pt'", "'a/b'", "'a/c'", "'loss'")
    assert len({fingerprint_of(f"frame fit train.py tables [{key}]") for key in keys}) == len(keys)
