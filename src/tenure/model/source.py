"""Source files and places in them."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass


@dataclass(frozen=True)
class SourceLocation:
    """A line of a file; `function` is the qualified name of what encloses it, "<module>" at top level."""

    file: str
    line: int
    function: str = "<module>"


@dataclass(frozen=True)
class SourceFile:
    """The text of one file as the program ran it; `origin` is "yours" or "library" (installed packages, stdlib)."""

    path: str
    text: str
    origin: str = "yours"


def decode_source(data: bytes, *, newline: str | None = None) -> tuple[str, str]:
    """The text of a file as Python would read it, by its mark or declared encoding, and that encoding; with plain line
    ends unless `newline` is "". Raises SyntaxError, LookupError or UnicodeDecodeError where Python could not."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding, newline=newline).read(), encoding
