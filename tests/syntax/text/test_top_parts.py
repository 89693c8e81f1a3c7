from __future__ import annotations

import ast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import apply_edits, only_if_it_parses, split_lines
from tenure.syntax.text.top_parts import part_around

TEXT = "import torch\n\n\n@f(\n    1\n)\ndef g():\n    pass\n# below\na = 1; b = [\n    2\n]; c = 3\nd = 4"


@pytest.mark.parametrize(
    ("first", "last", "part", "above"),
    [
        (1, 1, "import torch\n\n\n", 0),
        (8, 8, "@f(\n    1\n)\ndef g():\n    pass\n# below\n", 3),
        (5, 10, "@f(\n    1\n)\ndef g():\n    pass\n# below\na = 1; b = [\n    2\n]; c = 3\n", 3),
        (12, 12, "a = 1; b = [\n    2\n]; c = 3\n", 9),
        (13, 99, "d = 4", 12),
        (0, 1, "import torch\n\n\n", 0),
    ],
)
def test_a_part_reaches_from_its_first_statement_to_the_next_one(first: int, last: int, part: str, above: int) -> None:
    assert part_around(SourceFile("t.py", TEXT), first, last, split_lines(TEXT)) == (part, above)


def test_of_what_is_no_python_the_whole_is_the_part() -> None:
    text = "a = 1\nb = (\n"
    assert part_around(SourceFile("t.py", text), 1, 1, split_lines(text)) == (text, 0)


_STATEMENTS = (
    "x = 1",
    "if x:\n    y = 2\nelse:\n    y = 3",
    "@f\nclass A:\n    z = (\n        1,\n    )",
    "a; b",
    "# no",
)
_LINES = ("x = 1", "    x = 1", "else:", "@f", "x = (", "x = \\", '"""', "if x:", "# c", "")


@example(["x = 1", "@f\nclass A:\n    pass"], 1, False, "@f")
@given(
    st.lists(st.sampled_from(_STATEMENTS), min_size=1, max_size=5),
    st.integers(1, 20),
    st.booleans(),
    st.sampled_from(_LINES),
)
def test_an_edit_is_offered_where_the_whole_file_could_be_parsed(
    statements: list[str], line: int, inserts: bool, after: str
) -> None:
    source = SourceFile("t.py", "\n".join(statements) + "\n")
    lines = source.text.split("\n")[:-1]
    line = min(line, len(lines))
    edit = Edit("t.py", line, "" if inserts else lines[line - 1], after)
    try:
        ast.parse(apply_edits(source.text, [edit]))
        whole: tuple[Edit, ...] = (edit,)
    except SyntaxError:
        whole = ()
    assert only_if_it_parses(source, [edit]) == whole
