from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import SourceError
from tenure.model.finding import Edit
from tenure.model.source import SourceFile
from tenure.syntax.edits.line_edits import (
    Insertion,
    apply_edits,
    edits_between,
    insert_into_lines,
    insert_line,
    overlap,
)


def test_lines_are_replaced_and_inserted_by_the_numbers_of_the_text_as_it_was() -> None:
    edits = [Edit("t.py", 1, "", "import gc"), Edit("t.py", 2, "b", "B"), Edit("t.py", 4, "", "d")]
    assert apply_edits("a\nb\nc\n", edits) == "import gc\na\nB\nc\nd\n"


@pytest.mark.parametrize(("text", "after"), [("a\r\nb\r\n", "a\r\nx\r\nB\r\n"), ("a\nb", "a\nx\nB")])
def test_line_ends_stay_as_they_are(text: str, after: str) -> None:
    assert apply_edits(text, [Edit("t.py", 2, "b", "B"), Edit("t.py", 2, "", "x")]) == after


def test_a_line_goes_behind_a_last_line_without_end() -> None:
    assert apply_edits("a\nb", [Edit("t.py", 3, "", "c")]) == "a\nb\nc\n"


@pytest.mark.parametrize("line", [1, 3])
def test_a_line_that_is_another_one_is_refused(line: int) -> None:
    with pytest.raises(SourceError, match=f"t.py:{line}: the line is not the one that was to be changed"):
        apply_edits("a\nb\n", [Edit("t.py", line, "b", "B")])


def test_insertions_count_bytes_and_keep_all_other_text() -> None:
    source = SourceFile("t.py", "größe.append(a + b)  # größer\n")
    edits = insert_into_lines(source, [Insertion(1, 15, "("), Insertion(1, 20, ").detach()")])
    before, after = "größe.append(a + b)  # größer", "größe.append((a + b).detach())  # größer"
    assert edits == (Edit("t.py", 1, before, after),)


def test_what_would_not_parse_is_not_offered() -> None:
    source = SourceFile("t.py", "if a:\n    b = 1\n")
    assert insert_into_lines(source, [Insertion(1, 3, "(")]) == ()
    assert insert_line(source, 2, "  c = 1") == ()
    assert insert_line(source, 2, "    c = 1") == (Edit("t.py", 2, "", "    c = 1"),)


def test_a_line_can_be_changed_and_another_put_in_front_of_it() -> None:
    edits = [Edit("t.py", 2, "", "new"), Edit("t.py", 2, "b", "c")]
    assert apply_edits("a\nb\n", edits) == "a\nnew\nc\n"


@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (Edit("t.py", 2, "b\nc", "x"), "a\nx\nd"),
        (Edit("t.py", 2, "b", "x\ny\nz"), "a\nx\ny\nz\nc\nd"),
        (Edit("t.py", 3, "c\nd", None), "a\nb\n"),
        (Edit("t.py", 4, "d", "x\ny"), "a\nb\nc\nx\ny"),
        (Edit("t.py", 1, "", "x\ny"), "x\ny\na\nb\nc\nd"),
    ],
)
def test_several_lines_are_replaced_inserted_and_removed(edit: Edit, after: str) -> None:
    assert apply_edits("a\nb\nc\nd", [edit]) == after
    assert apply_edits("a\r\nb\r\nc\r\nd", [edit]) == after.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Edit("t.py", 2, "b", "x"), Edit("t.py", 2, "b", "y"), True),
        (Edit("t.py", 1, "a\nb", "x"), Edit("t.py", 2, "b\nc", "y"), True),
        (Edit("t.py", 1, "a\nb", "x"), Edit("t.py", 2, "", "y"), True),
        (Edit("t.py", 2, "", "x"), Edit("t.py", 2, "", "y"), True),
        (Edit("t.py", 2, "", "x"), Edit("t.py", 2, "b", "y"), False),
        (Edit("t.py", 1, "a", "x"), Edit("t.py", 2, "b", "y"), False),
        (Edit("t.py", 1, "a", "x"), Edit("u.py", 1, "a", "y"), False),
        (Edit("t.ipynb", 1, "a", "x", cell=1), Edit("t.ipynb", 1, "a", "y", cell=2), False),
    ],
)
def test_edits_of_the_same_line_or_place_overlap(first: Edit, second: Edit, expected: bool) -> None:
    assert (overlap(first, second), overlap(second, first)) == (expected, expected)


@given(
    st.lists(st.sampled_from(["a", "b", " c", ""]), min_size=2).map("\n".join),
    st.lists(st.sampled_from(["a", "b", " c", "", "d"]), min_size=2).map("\n".join),
)
def test_the_edits_between_two_texts_make_the_second_of_the_first(before: str, after: str) -> None:
    before, after = f"x\n{before}\ny\n", f"x\n{after}\ny\n"
    edits = edits_between("t.py", before, after)
    if not any(overlap(one, other) for at, one in enumerate(edits) for other in edits[:at]):
        assert apply_edits(before, edits) == after
