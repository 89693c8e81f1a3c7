from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.made_larger import line_that_asks_for_room

WORKSPACE = """\
class Workspace:
    def part(self, name, n):
        {look}
            {makes}
        return self.flat[:n]
"""
MAKES = "self.flat = torch.empty(n)"


@pytest.mark.parametrize(
    ("look", "makes", "line"),
    [
        ("if self.flat is None or self.flat.numel() < n:", MAKES, 3),
        ("if n > self.flat.shape[0]:", MAKES, 3),
        ("if self.flat.size(0) <= n:", MAKES, 3),
        ("if len(self.flat) < 2 * n:", MAKES, 3),
        ("while self.flat.nbytes < 4 * n:", MAKES, 3),
        ("if self.flat[name].numel() < n:", "self.flat[name] = torch.empty(n)", 3),
        ("if flat is None or flat.numel() < n:", "flat = self.flat[name] = torch.empty(n)", 3),
        ("if self.flat.numel() < n:", "self.flat = torch.cat([self.flat, torch.empty(n)])", 0),
        ("if self.flat.numel() < n:", "self.others = torch.empty(n)", 0),
        ("if self.flat.numel() != n:", MAKES, 0),
        ("if self.flat is None:", MAKES, 0),
        ("if len(self.others) < n:", MAKES, 0),
        ("if self.flat.numel() < n:", "self.flat.resize_(n)", 0),
    ],
)
def test_memory_is_made_anew_where_the_program_asks_whether_it_is_large_enough(
    look: str, makes: str, line: int
) -> None:
    source = SourceFile("a.py", WORKSPACE.format(look=look, makes=makes))

    assert line_that_asks_for_room(source, 4) == line


def test_a_return_of_what_is_large_enough_asks_as_well() -> None:
    text = """\
def part(self, n):
    if self.flat is not None and self.flat.numel() >= n:
        return self.flat[:n]
    self.flat = torch.empty(n)
    return self.flat
"""
    assert line_that_asks_for_room(SourceFile("a.py", text), 4) == 2


def test_of_what_is_no_python_nothing_is_known() -> None:
    assert line_that_asks_for_room(SourceFile("a.py", "def part(:"), 1) == 0
