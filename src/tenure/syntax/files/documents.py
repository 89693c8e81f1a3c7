"""A file as it lies on disk beside the text that rules look at: edits of that text become bytes of this file."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile, decode_source
from tenure.model.source_finding import SourceFinding
from tenure.syntax.edits.line_edits import apply_edits
from tenure.syntax.files.notebooks import Cell, read_notebook, write_notebook

NOTEBOOK = ".ipynb"


@dataclass(frozen=True)
class Document:
    """`source` has the text with plain line ends; of a notebook, the code of its `cells` joined."""

    data: bytes
    source: SourceFile
    cells: tuple[Cell, ...] | None = None
    failures: tuple[str, ...] = ()
    """Cells that cannot be parsed."""


def read_document(path: str, data: bytes) -> Document:
    """What a file says, as Python or Jupyter would read it; SourceError, in one line, where neither could."""
    if path.endswith(NOTEBOOK):
        notebook = read_notebook(path, data)
        return Document(data, SourceFile(path, notebook.text), notebook.cells, notebook.failures)
    return Document(data, SourceFile(path, decode(Path(path), data)))


def decode(path: Path, data: bytes) -> str:
    """The text of a file as Python would read it; SourceError, in one line, where it cannot be decoded."""
    return _decode(path, data, newline=None)[0]


def edited(document: Document, edits: Sequence[Edit]) -> Document:
    """The document with edits of its text made; encoding, line ends and the end of the file stay as they are.

    Raises SourceError where a line is not what an edit expects, or the file cannot be written as it was read.
    """
    path = document.source.path
    if document.cells is not None:
        cells = {cell.number: cell for cell in document.cells}
        own = [_in_cell(document, edit) for edit in edits]
        changed = {
            number: _apply(cells[number].text, [edit for edit in own if edit.cell == number])
            for number in sorted({edit.cell for edit in own if edit.cell is not None})
        }
        return read_document(path, write_notebook(path, document.data, changed))
    text, encoding = _decode(Path(path), document.data, newline="")
    if text.encode(encoding) != document.data:
        raise SourceError(f"{path}: not changed: text in {encoding} cannot be written again as it was")
    try:
        return read_document(path, _apply(text, edits).encode(encoding))
    except UnicodeEncodeError as error:
        raise SourceError(f"{path}: not changed: {error}") from None


def placed(document: Document, finding: SourceFinding) -> SourceFinding:
    """The finding with its place as a person sees it: of a notebook, the cell and the line there."""
    cell = _cell_at(document, finding.line)
    if cell is None:
        return finding
    return dataclasses.replace(
        finding,
        line=finding.line - cell.first + 1,
        end_line=finding.end_line - cell.first + 1,
        cell=cell.number,
        edits=tuple(_in_cell(document, edit) for edit in finding.edits),
    )


def _decode(path: Path, data: bytes, *, newline: str | None) -> tuple[str, str]:
    try:
        return decode_source(data, newline=newline)
    except (UnicodeDecodeError, SyntaxError, LookupError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from None


def _apply(text: str, edits: Sequence[Edit]) -> str:
    changed = apply_edits(text, edits)
    if text and not text.endswith(("\n", "\r")) and changed.endswith(("\n", "\r")):
        return changed[:-2] if changed.endswith("\r\n") else changed[:-1]
    return changed


def _cell_at(document: Document, line: int) -> Cell | None:
    return next((cell for cell in document.cells or () if cell.first <= line <= cell.last), None)


def _in_cell(document: Document, edit: Edit) -> Edit:
    cell = _cell_at(document, edit.line)
    if cell is None:
        return edit
    return dataclasses.replace(edit, line=edit.line - cell.first + 1, cell=cell.number)
