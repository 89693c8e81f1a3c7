"""Where the source lines of a notebook's cells stand in its file, which is JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from tenure.syntax.edits.line_edits import split_lines

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_DEPTH = 4
"""Of a cell's keys: in the notebook, its `cells`, one of them."""


def file_lines(data: bytes) -> dict[tuple[int, int], int]:
    """The line of the file for each cell, by its place from 1, and line in it. Costs a pass over the file.

    `data` is a notebook that could be read. Where a cell's source is one text, all of its lines stand on one.
    """
    found: dict[tuple[int, int], int] = {}
    nearest: dict[int, int] = {}
    for cell, text, line in _sources(data.decode("utf-8")):
        parts = split_lines(text)
        first = nearest.get(cell, 1)
        for number in range(first, first + len(parts)):
            found.setdefault((cell, number), line)
        nearest[cell] = first + len(parts) - (bool(parts) and not parts[-1].endswith(("\n", "\r")))
    return found


def _sources(text: str) -> Iterator[tuple[int, str, int]]:
    """The texts that the sources of cells are made of: the cell, the text, and the line that it stands on."""
    keys: list[str | int] = []
    is_key, at, line, last = False, 0, 1, ""
    for token in _TOKEN.finditer(text):
        line += text.count("\n", at, token.start())
        at, word = token.start(), token[0]
        if word in "{[":
            keys.append(0 if word == "[" else "")
            is_key = word == "{"
        elif word in "}]":
            keys.pop()
            is_key = False
        elif word == ",":
            is_key = isinstance(keys[-1], str)
            keys[-1] = keys[-1] + 1 if isinstance(keys[-1], int) else ""
        elif word == ":":
            keys[-1], is_key = last, False
        elif is_key:
            last = json.loads(word)
        elif word[0] == '"' and keys[:1] == ["cells"] and keys[2:3] == ["source"] and len(keys) <= _DEPTH:
            yield int(keys[1]) + 1, json.loads(word), line
