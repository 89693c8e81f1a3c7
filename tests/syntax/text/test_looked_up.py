from __future__ import annotations

import pytest

from tenure.model.source import SourceFile
from tenure.syntax.text.looked_up import is_looked_up

NORMS = """\
class Conv:
    def norm(self, graph):
        {look}
            self._norms[graph.uid] = norm_of(graph)
        return self._norms[graph.uid]

    def has(self, graph):
        return graph.uid in self._norms
"""


@pytest.mark.parametrize(
    ("look", "known"),
    [
        ("if graph.uid not in self._norms:", True),
        ("if self._norms.get(graph.uid) is None:", True),
        ("if graph.uid not in self.others:", False),
    ],
)
def test_a_table_is_looked_up_where_the_function_that_fills_it_asks_for_keys(look: str, known: bool) -> None:
    source = SourceFile("a.py", NORMS.format(look=look))

    assert is_looked_up(source, 4, "_norms") is known


def test_another_function_that_asks_says_nothing_of_the_one_that_fills_it() -> None:
    text = "def keep(rows, n, row):\n    rows[n] = row\ndef has(rows, n):\n    return n in rows\n"

    assert not is_looked_up(SourceFile("a.py", text), 2, "rows")


def test_of_what_is_no_python_nothing_is_known() -> None:
    assert not is_looked_up(SourceFile("a.py", "def keep(:"), 1, "rows")
