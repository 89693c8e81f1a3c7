"""Sizes as people write them."""

from __future__ import annotations

import pytest

from tenure.model.units import parse_bytes


@pytest.mark.parametrize(
    ("text", "num_bytes"),
    [
        (5, 5),
        ("5", 5),
        ("2GiB", 2 << 30),
        ("512 MiB", 512 << 20),
        ("1.5 KiB", 1536),
        ("3g", 3 << 30),
        ("1TB", 1 << 40),
        (" 7 B ", 7),
    ],
)
def test_a_size_is_read_with_its_unit(text: str | int, num_bytes: int) -> None:
    assert parse_bytes(text) == num_bytes


@pytest.mark.parametrize("text", ["", "GiB", "two GiB", "-1GiB", "1 XiB"])
def test_what_is_no_size_is_said_with_what_would_do(text: str) -> None:
    with pytest.raises(ValueError, match="is no size; write it as in '2GiB'"):
        parse_bytes(text)
