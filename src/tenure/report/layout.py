"""Making text fit: wrapping, and file names shortened from the left, where they say least."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tenure.model.finding import Edit


def place_of(file: str | None, line: int | None, *, room: int) -> str:
    """`trainer.py:614`, the file shortened from the left to fit `room`; "" where the file is unknown."""
    if not file:
        return ""
    suffix = f":{line}" if line else ""
    return shorten_left(relative_to_here(file), room - len(suffix)) + suffix


def shorten_left(text: str, room: int) -> str:
    """The end of `text` behind an ellipsis, cut at a folder where one lies within reach."""
    if len(text) <= room:
        return text
    kept = text[-max(room - 1, 1) :]
    at_folder = re.search(r"[/\\]", kept[:-1])
    if at_folder:
        kept = kept[at_folder.start() :]
    return f"…{kept}"


def wrap(text: str, *, width: int, first: str, rest: str) -> list[str]:
    """Lines of at most `width`; two spaces inside the text are kept, a word is never broken."""
    return textwrap.wrap(
        text,
        width=width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def changed_lines(edit: Edit) -> list[str]:
    """The lines of an edit behind `-` and `+`, indented as they are to each other."""
    before, after = edit.before.splitlines(), (edit.after or "").splitlines()
    signs, own = "-" * len(before) + "+" * len(after), textwrap.dedent("\n".join((*before, *after))).split("\n")
    return [f"{sign} {line}".rstrip() for sign, line in zip(signs, own, strict=False)]


def relative_to_here(text: str) -> str:
    """`text` with the names of files below the current folder made relative to it."""
    here = Path.cwd().as_posix().rstrip("/") + "/"
    return re.sub(rf"(?<![\w./-]){re.escape(here)}", "", text) if len(here) > 1 else text
