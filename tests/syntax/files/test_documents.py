"""Edits of texts become bytes of files: all that is not edited stays, byte for byte."""

from __future__ import annotations

import codecs

import pytest

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.syntax.files.documents import edited, read_document

EDIT = Edit("t.py", 2, "b = 1", "b = 2")


@pytest.mark.parametrize(
    ("data", "after"),
    [
        (b"a = 1\nb = 1\n", b"a = 1\nb = 2\n"),
        (b"a = 1\r\nb = 1\r\nc = 1", b"a = 1\r\nb = 2\r\nc = 1"),
        (b"a = 1\rb = 1\r\n", b"a = 1\rb = 2\r\n"),
        (b"a = 1\nb = 1", b"a = 1\nb = 2"),
        (codecs.BOM_UTF8 + b"a = 1\nb = 1\n", codecs.BOM_UTF8 + b"a = 1\nb = 2\n"),
        (b"# coding: latin-1\nb = 1\nc = '\xe9'\n", b"# coding: latin-1\nb = 2\nc = '\xe9'\n"),
        (b"if a:\nb = 1\n\t\x0cc\n", b"if a:\nb = 2\n\t\x0cc\n"),
    ],
)
def test_encoding_line_ends_and_the_files_end_stay(data: bytes, after: bytes) -> None:
    assert edited(read_document("t.py", data), [EDIT]).data == after


def test_a_line_behind_the_last_one_keeps_the_file_without_a_last_end() -> None:
    assert edited(read_document("t.py", b"a\r\nb"), [Edit("t.py", 3, "", "c")]).data == b"a\r\nb\r\nc"


def test_text_that_would_not_be_written_as_it_was_is_refused() -> None:
    data = b"# coding: iso2022_jp\nb = 1\n# \x1b(B plain\n"
    with pytest.raises(SourceError, match=r"t\.py: not changed: text in iso2022_jp cannot be written again as it was"):
        edited(read_document("t.py", data), [EDIT])


def test_a_letter_that_the_encoding_has_not_is_refused() -> None:
    with pytest.raises(SourceError, match=r"t\.py: not changed: .* codec can't encode"):
        edited(read_document("t.py", b"# coding: ascii\nb = 1\n"), [Edit("t.py", 2, "b = 1", "b = 'é'")])
