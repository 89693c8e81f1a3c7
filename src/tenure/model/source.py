"""Source files and places in them."""

from __future__ import annotations

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
