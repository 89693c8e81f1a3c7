"""Jupyter notebooks as programs: their code cells as one text in order, and written back in their own formatting."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tenure.errors import SourceError
from tenure.syntax.edits.line_edits import split_lines

_MAGIC = re.compile(r"^\s*(?:[%!?]|[\w.,() =\[\]'\"]*=\s*[%!]|.*[\w)\]]\?{1,2}\s*$)")
"""A line of IPython's own: `%matplotlib inline`, `!ls`, `?model`, `files = !ls`, `model??`."""
_PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun")
"""Magics of a cell whose rest is Python; that of any other may be anything."""


@dataclass(frozen=True)
class Cell:
    """A code cell: its `number` counts all cells of the notebook from 1; `first` is its first line in the joint text.

    A blank line parts it there from the next one.
    """

    number: int
    first: int
    text: str

    @property
    def last(self) -> int:
        """The blank line behind it: what is inserted there goes to the cell's end."""
        return self.first + len(split_lines(self.text))


@dataclass(frozen=True)
class Notebook:
    """`text` has the line numbers of `cells`; `failures` is a line per cell that is no Python, which is left out."""

    text: str
    cells: tuple[Cell, ...]
    failures: tuple[str, ...]


def read_notebook(path: str, data: bytes) -> Notebook:
    """The code of a notebook; without cells where its language is another.

    Raises SourceError, in one line, where the file is no notebook of format 4.
    """
    content = _load(path, data)
    lines: list[str] = []
    cells, failures = [], []
    for number, text in _code_cells(content):
        try:
            code = _without_magics(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            message = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
            failures.append(f"{path}: cell {number}: cannot be parsed: {message}")
            code = [""] * len(split_lines(text))
        cells.append(Cell(number, len(lines) + 1, text))
        lines += [*code, ""]
    return Notebook("".join(f"{line}\n" for line in lines), tuple(cells), tuple(failures))


def write_notebook(path: str, data: bytes, changed: Mapping[int, str]) -> bytes:
    """The notebook with the text of some cells, by number, replaced; every other byte stays.

    Raises SourceError where it is formatted in a way that cannot be written again.
    """
    style = _style_of(path, data)
    content = _load(path, data)
    for number, text in changed.items():
        cell = content["cells"][number - 1]
        cell["source"] = split_lines(text) if isinstance(cell["source"], list) else text
    return style.write(content)


def _load(path: str, data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path}: is no notebook: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
        raise SourceError(f"{path}: is no notebook of format 4")
    return content


def _code_cells(content: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    if _language(content) != "python":
        return
    for number, cell in enumerate(content["cells"], start=1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            yield number, "".join(source)
        elif isinstance(source, str):
            yield number, source


def _language(content: Mapping[str, Any]) -> str:
    metadata = content.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        told = metadata.get(key)
        if isinstance(told, dict) and isinstance(told.get(field), str):
            return str(told[field]).lower().removeprefix("i")
    return "python"


def _without_magics(text: str) -> list[str]:
    """The lines of a cell with `pass` for what is IPython's own; raises SyntaxError where the rest is no Python."""
    lines = [line.rstrip("\r\n") for line in split_lines(text)]
    first = next((line.strip() for line in lines if line.strip()), "")
    if first.startswith("%%"):
        if first.split()[0] not in _PYTHON_CELLS:
            return [""] * len(lines)
        at = next(at for at, line in enumerate(lines) if line.strip())
        lines[at] = ""
    while (error := _error_in(lines)) is not None:
        at = (error.lineno or 0) - 1
        if not 0 <= at < len(lines) or not _MAGIC.match(lines[at]):
            raise error
        lines[at] = _as_pass(lines[at])
    return lines


def _error_in(lines: Sequence[str]) -> SyntaxError | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return error
    return None


def _as_pass(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + "pass"


@dataclass(frozen=True)
class _Style:
    """How a notebook's JSON is written."""

    indent: str | None
    separators: tuple[str, str]
    ascii_only: bool
    line_end: str
    end: str

    def write(self, content: object) -> bytes:
        text = json.dumps(content, indent=self.indent, separators=self.separators, ensure_ascii=self.ascii_only)
        return (text.replace("\n", self.line_end) + self.end).encode("utf-8")


def _style_of(path: str, data: bytes) -> _Style:
    """The style that writes a notebook's content as these very bytes."""
    content, text = _load(path, data), data.decode("utf-8")
    line_end = "\r\n" if "\r\n" in text else "\n"
    end = text[len(text.rstrip()) :]
    found = re.match(r"\{\r?\n([ \t]+)", text)
    separators = [(",", ": ")] if found else [(", ", ": "), (",", ":"), (",", ": ")]
    for style in (
        _Style(found[1] if found else None, each, ascii_only, line_end, end)
        for each in separators
        for ascii_only in (False, True)
    ):
        try:
            if style.write(content) == data:
                return style
        except UnicodeEncodeError:
            continue
    raise SourceError(f"{path}: not changed: its formatting is not one that can be written again")
