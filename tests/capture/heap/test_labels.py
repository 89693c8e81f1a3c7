"""Keys of dicts in words."""

from __future__ import annotations

import pytest

from tenure.capture.heap.labels import key_text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("loss", "'loss'"),
        (("a", 1), "('a', 1)"),
        ("/home/ann/weights.pt", "'/home/ann/weights.pt'"),
        ("x" * 99, "'" + "x" * 58 + "…"),
        ("/home/ann/" + "deep/" * 20 + "weights.pt", "'…" + ("/home/ann/" + "deep/" * 20 + "weights.pt")[-57:] + "'"),
        (object(), "<object>"),
    ],
)
def test_a_key_is_written_as_in_source_a_long_one_cut_where_it_tells_least(key: object, text: str) -> None:
    assert key_text(key) == text
    assert len(text) <= 60
