"""Sizes as people write and read them."""

from __future__ import annotations

import pytest

from tenure.model.units import format_byte_range, parse_bytes, parse_memory

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("text", "num_bytes"),
    [
        (5, 5),
        ("5", 5),
        ("2GiB", 2 << 30),
        ("512 MiB", 512 << 20),
        ("1.5 KiB", 1536),
        ("3g", 3 << 30),
        ("1TB", 10**12),
        ("80 GB", 80 * 10**9),
        ("80gb", 80 * 10**9),
        ("80gib", 80 << 30),
        (" 7 B ", 7),
    ],
)
def test_a_size_is_read_with_its_unit(text: str | int, num_bytes: int) -> None:
    assert parse_bytes(text) == num_bytes


@pytest.mark.parametrize("text", ["", "GiB", "two GiB", "-1GiB", "1 XiB"])
def test_what_is_no_size_is_said_with_what_would_do(text: str) -> None:
    with pytest.raises(ValueError, match="is no size; write it as in '2GiB'"):
        parse_bytes(text)


@pytest.mark.parametrize("text", ["80Gb", "80 Gib", "1.5Mb"])
def test_units_of_bits_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="counts bits; write it as in"):
        parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("80", "'80' is 80 bytes; write it with its unit, as in '80GiB'"),
        ("0", "'0' is 0 bytes; write it with its unit, as in '80GiB'"),
        ("5 KiB", "'5 KiB' is 5,120 bytes; write it with its unit, as in '80GiB'"),
    ],
)
def test_memory_that_lost_its_unit_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_memory(text)

    assert str(caught.value) == message
    assert (parse_memory("1MiB"), parse_memory("85899345920")) == (1 << 20, 80 << 30)


@pytest.mark.parametrize(
    ("least", "most", "text"),
    [
        (313.9 * MIB, 448.4 * MIB, "313.9–448.4 MiB"),
        (0, 3 * MIB, "0–3.0 MiB"),
        (1.001 * GIB, 1.02 * GIB, "1.00–1.02 GiB"),
        (5 * MIB, 5 * MIB, "5.00 MiB"),
        (0, 0, "0 B"),
        (12, 440, "12–440 B"),
        (900 * KIB, 2 * MIB, "0.9–2.0 MiB"),
    ],
)
def test_ranges_have_one_unit_and_no_more_decimals_than_tell_them_apart(least: float, most: float, text: str) -> None:
    assert format_byte_range(least, most) == text
