from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.kept_short import line_that_keeps_short

MEMBERS = """\
class Ensemble:
    def keep(self, model):
        self.members.append(model)
        {look}
            {takes_out}
"""
FULL = "if len(self.members) > self.size:"


@pytest.mark.parametrize(
    ("look", "takes_out", "line"),
    [
        (FULL, "self.members.pop(0)", 4),
        ("while len(self.members) >= 4:", "del self.members[0]", 4),
        (FULL, "self.members = self.members[-self.size :]", 4),
        (FULL, "self.members[0].pop(0)", 0),
        (FULL, "self.others.pop(0)", 0),
        (FULL, "self.members = self.others[1:]", 0),
        (FULL, "print(self.members)", 0),
        ("if model.step > 100:", "self.members.pop(0)", 0),
        ("if len(self.others) > 4:", "self.members.pop(0)", 0),
    ],
)
def test_entries_are_taken_out_where_the_program_looks_how_many_there_are(look: str, takes_out: str, line: int) -> None:
    source = SourceFile("a.py", MEMBERS.format(look=look, takes_out=takes_out))

    assert line_that_keeps_short(source, 3, "members") == line


@pytest.mark.parametrize(
    ("keeps", "line"),
    [
        ("self.members = (self.members + [model])[-self.size :]", 3),
        ("self.members = self.members[-8:]", 3),
        ("self.members[:] = self.members[-8:]", 3),
        ("del self.members[:-8]", 3),
        ("self.members = self.members[1:]", 0),
        ("self.members = self.others[-8:]", 0),
        ("members = self.members[-8:]", 0),
        ("self.members = self.members[-8]", 0),
        ("del self.members[-8:]", 0),
        ("self.members[0] = model[-8:]", 0),
    ],
)
def test_the_newest_entries_alone_are_kept_by_a_slice_from_the_end(keeps: str, line: int) -> None:
    text = f"class Ensemble:\n    def keep(self, model):\n        {keeps}\n"

    assert line_that_keeps_short(SourceFile("a.py", text), 3, "members") == line


def test_another_method_of_the_class_may_do_it_and_a_function_alone_by_its_own_text() -> None:
    method = """\
class Pool:
    def put(self, x):
        self.rows.append(x)
        self.trim()

    def trim(self):
        if len(self.rows) > 8:
            self.rows.popleft()
"""
    function = """\
def put(rows, x):
    rows.append(x)

def trim(rows):
    if len(rows) > 8:
        rows.popleft()
"""

    found = [
        line_that_keeps_short(SourceFile("a.py", text), line, "rows") for text, line in ((method, 3), (function, 2))
    ]

    assert found == [7, 0]


def test_of_what_is_no_python_nothing_is_known() -> None:
    assert line_that_keeps_short(SourceFile("a.py", "def put(rows:"), 1, "rows") == 0


@pytest.mark.parametrize(
    ("test", "line"),
    [
        ("len(self.images) < self.size", 3),
        ("self.size >= len(self.images)", 3),
        ("self.on and len(self.images) < self.size", 3),
        ("self.on or len(self.images) < self.size", 0),
        ("len(self.images) > self.size", 0),
        ("len(self.others) < self.size", 0),
    ],
)
def test_entries_that_come_in_while_there_are_few_keep_it_short(test: str, line: int) -> None:
    text = f"""\
class Pool:
    def query(self, image):
        if {test}:
            self.images.append(image)
            return image
        self.images[self.at()] = image
"""
    assert line_that_keeps_short(SourceFile("a.py", text), 4, "images") == line


def test_a_look_over_another_statement_says_nothing_of_this_one() -> None:
    text = """\
def query(images, image, size):
    images.append(image)
    if len(images) < size:
        print(image)
"""
    assert line_that_keeps_short(SourceFile("a.py", text), 2, "images") == 0
