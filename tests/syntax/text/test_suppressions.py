from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.suppressions import is_allowed


def allowed_lines(text: str, code: str = "TN201") -> list[int]:
    source = SourceFile("train.py", text)
    return [line for line in range(1, text.count("\n") + 1) if is_allowed(source, line, code)]


def test_a_comment_on_the_line_or_alone_above_it_allows_one_statement() -> None:
    text = "a = []\na.append(x)  # tenure: allow TN201\na.append(y)\n# tenure: allow TN201\na.append(z)\na.append(x)\n"
    assert allowed_lines(text) == [2, 4, 5]


def test_a_comment_behind_one_statement_does_not_allow_the_next() -> None:
    assert allowed_lines("a = 1  # tenure: allow TN201\nb = 2\n") == [1]


def test_several_codes_and_a_reason() -> None:
    text = "a.append(x)  # tenure: allow TN101, TN201 kept for the plot\n"
    assert [allowed_lines(text, code) for code in ("TN101", "TN201", "TN202")] == [[1], [1], []]


@pytest.mark.parametrize("comment_line", [1, 2, 3])
def test_a_statement_of_several_lines_is_allowed_by_a_comment_on_any_of_them(comment_line: int) -> None:
    lines = ["a.append(", "    x", ")"]
    lines[comment_line - 1] += "  # tenure: allow TN201"
    assert allowed_lines("\n".join(lines) + "\nb = 1\n") == [1, 2, 3]


def test_the_head_of_a_loop_is_not_its_body() -> None:
    assert allowed_lines("for x in y:  # tenure: allow TN201\n    a.append(x)\n") == [1]


def test_a_comment_that_a_body_begins_with_is_the_first_statements() -> None:
    assert allowed_lines("x = 1\nfor x in y:\n    # tenure: allow TN201\n    a.append(x)\n    b.append(x)\n") == [3, 4]
    assert allowed_lines(
        "match x:\n    case 1:\n        a.append(x)  # tenure: allow TN201\n    case 2:\n        y\n"
    ) == [3]


def test_the_end_of_a_head_of_several_lines_belongs_to_it() -> None:
    assert allowed_lines("def f(\n    x,\n):  # tenure: allow TN201\n    a.append(x)\n") == [1, 2, 3]


def test_decorators_belong_to_what_they_are_put_on() -> None:
    method = "    @lru_cache(maxsize=None)\n    def f(self):\n        return 1\n"
    behind, above = method.replace("None)", "None)  # tenure: allow TN201"), f"    # tenure: allow TN201\n{method}"
    assert allowed_lines(f"class A:\n{behind}") == [2, 3]
    assert allowed_lines(f"class A:\n{above}") == [2, 3, 4]


@pytest.mark.parametrize(
    "comment",
    [
        "# type: ignore  # tenure: allow TN201",
        "# noqa: E501; tenure: allow TN201",
        "# tenure: allow TN101 TN201",
        "# tenure: allow TN101; TN201",
        "# tenure: allow TN101  # tenure: allow TN201",
    ],
)
def test_a_comment_may_stand_behind_another_and_part_its_codes_as_people_do(comment: str) -> None:
    assert allowed_lines(f"a.append(x)  {comment}\n") == [1]


def test_a_file_is_allowed_before_its_first_statement_only() -> None:
    docstring = '"""What it does."""\n'
    at_top = docstring + "# tenure: allow-file TN201\nimport torch\na.append(x)\n"
    later = docstring + "import torch\n# tenure: allow-file TN201\na.append(x)\n"
    assert (allowed_lines(at_top), allowed_lines(later), allowed_lines(at_top, "TN101")) == ([1, 2, 3, 4], [], [])


@pytest.mark.parametrize("line", ["s = '# tenure: allow TN201'\n", "x = 1  # tenure: deny TN201\n", "(\n"])
def test_text_other_comments_and_broken_files_allow_nothing(line: str) -> None:
    assert allowed_lines(line) == []
