from __future__ import annotations

import json

import pytest

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.syntax.files.documents import edited, read_document
from tenure.syntax.files.notebooks import read_notebook


def code(*lines: str) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "outputs": [], "source": list(lines)}


def notebook(*cells: dict[str, object], **metadata: object) -> dict[str, object]:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


TEXT = {"cell_type": "markdown", "source": ["# Title"]}


def joined(*cells: dict[str, object], **metadata: object) -> tuple[str, tuple[str, ...]]:
    read = read_notebook("n.ipynb", json.dumps(notebook(*cells, **metadata)).encode())
    return read.text, read.failures


def test_code_cells_are_one_program_in_order_and_keep_their_numbers() -> None:
    data = json.dumps(notebook(TEXT, code("a = 1\n", "b = 2"), code("c = a"))).encode()
    read = read_notebook("n.ipynb", data)
    assert read.text == "a = 1\nb = 2\n\nc = a\n\n"
    assert [(cell.number, cell.first, cell.last) for cell in read.cells] == [(2, 1, 3), (3, 4, 5)]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (code("%matplotlib inline\n", "x = 1"), "pass\nx = 1\n\n"),
        (code("for a in b:\n", "    !ls {a}\n", "files = !ls\n", "a.b?"), "for a in b:\n    pass\npass\npass\n\n"),
        (code("x = (a\n", "  % b)\n", "!ls"), "x = (a\n  % b)\npass\n\n"),
        (code("%%time\n", "x = 1"), "\nx = 1\n\n"),
        (code("%%bash\n", "ls"), "\n\n\n"),
        (code("await f()\n", "return"), "await f()\nreturn\n\n"),
    ],
)
def test_what_is_ipythons_own_is_passed_over(cell: dict[str, object], text: str) -> None:
    assert joined(cell) == (text, ())


def test_a_cell_that_is_no_python_is_named_and_the_others_are_read() -> None:
    text, failures = joined(code("def :"), code("x = 1"))
    assert (text, failures) == ("\n\nx = 1\n\n", ("n.ipynb: cell 1: cannot be parsed: invalid syntax",))


def test_notebooks_of_other_languages_have_no_cells() -> None:
    assert joined(code("x <- 1"), kernelspec={"language": "R"}) == ("", ())
    assert joined(code("x = 1"), kernelspec={"language": "ipython"}) == ("x = 1\n\n", ())


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b'{"worksheets": []}', b"[" * 100_000])
def test_what_is_no_notebook_is_one_clear_line(data: bytes) -> None:
    with pytest.raises(SourceError, match=r"^n\.ipynb: is no notebook[^\n]*$"):
        read_document("n.ipynb", data)


@pytest.mark.parametrize(
    "write",
    [
        lambda content: json.dumps(content, indent=1, ensure_ascii=False) + "\n",
        lambda content: json.dumps(content, indent=2),
        lambda content: json.dumps(content, indent="\t") + "\n\n",
        lambda content: json.dumps(content),
        lambda content: json.dumps(content, separators=(",", ":"), ensure_ascii=False),
        lambda content: (json.dumps(content, indent=1) + "\n").replace("\n", "\r\n"),
    ],
)
def test_a_changed_notebook_keeps_its_formatting_and_all_else(write) -> None:
    before = notebook(TEXT, code("größe = 1\n", "b = 2"), {**code(), "source": "c = 3\nd = 4", "id": "é"}, tags=[1.5])
    after = json.loads(json.dumps(before))
    after["cells"][1]["source"] = ["größe = 1\n", "b = 5\n", "new = 1"]
    after["cells"][2]["source"] = "c = 3\nd = 6"
    edits = [
        Edit("n.ipynb", 2, "b = 2", "b = 5"),
        Edit("n.ipynb", 3, "", "new = 1"),
        Edit("n.ipynb", 5, "d = 4", "d = 6"),
    ]

    document = read_document("n.ipynb", write(before).encode())

    assert edited(document, edits).data == write(after).encode()


def test_a_notebook_that_cannot_be_written_as_it_is_stays_as_it_is() -> None:
    data = json.dumps(notebook(code("a = 1"))).replace('"metadata": {}', '"metadata":  {}').encode()
    with pytest.raises(
        SourceError, match=r"n\.ipynb: not changed: its formatting is not one that can be written again"
    ):
        edited(read_document("n.ipynb", data), [Edit("n.ipynb", 1, "a = 1", "a = 2")])
