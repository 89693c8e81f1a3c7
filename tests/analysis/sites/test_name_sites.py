from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import suspect
from tenure.analysis.sites.name_sites import by_the_statement_that_adds_names
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference, Suspect

SPACE = HoldingReference(kind="local", name="space", expression="space", scope_file="t.py", scope_function="main")
TEXT = """
class Space:
    def keep(self, step, value):
        setattr(self, f"kept{step}", value)

def main(other):
    space = Space()
    setattr(other, next_name(), 3)
    for step in range(9):
        space.keep(step, step)
"""


def gaining(text: str) -> Suspect:
    before = suspect(holder=SPACE, cut=(SPACE,), facts={"gains_names": True})
    return by_the_statement_that_adds_names(before, {"t.py": SourceFile("t.py", text)})


@pytest.mark.parametrize(
    ("text", "name", "line", "ambiguous"),
    [
        (TEXT, "self", 4, False),
        (TEXT.replace("space.keep(step, step)", "setattr(space, names[step], step)"), "space", 10, False),
        ("def keep(net, key, x):\n    net.register_buffer(key, x)\n    net.add_module(key, x)", "net", 2, True),
    ],
    ids=["the object's own method", "a call with the variable", "calls on something else"],
)
def test_the_call_that_adds_the_names_is_told(text: str, name: str, line: int, ambiguous: bool) -> None:
    found = gaining(text)

    assert (found.holder.name, [site.line for site in found.holder.sites]) == (name, [line])
    assert (found.holder.expression, found.cut, found.ambiguous) == ("space.*", (found.holder,), ambiguous)


def test_without_such_a_call_or_such_names_the_variable_is_told() -> None:
    assert gaining("setattr(space, 'kept', 3)\nspace.register_buffer('kept', x)").holder == SPACE
    other = suspect(holder=SPACE, cut=(SPACE,))
    assert by_the_statement_that_adds_names(other, {"t.py": SourceFile("t.py", TEXT)}) == replace(other)
