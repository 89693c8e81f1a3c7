from textwrap import dedent

import pytest

from tenure.analysis.sites.binding_sites import is_unambiguous, resolve_sites
from tenure.analysis.sites.key_sites import name_at
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

SHARED = HoldingReference(
    "item", "_shared['rows']", "State._shared['rows'][*]", "dict", "a.py", "State", element=True, container_type="list"
)
NAMESPACE = HoldingReference("global", "rows", "rows[*]", element=True, container_type="dict")
PLAIN = HoldingReference("global", "rows", "rows")


def sites(text: str, reference: HoldingReference, *, growing: bool = True) -> list[int]:
    """Lines of the most plausible statements, where they are unambiguous."""
    sources = {"a.py": SourceFile("a.py", dedent(text))}
    found = resolve_sites(reference, sources, growing=growing)
    return [site.line for site in found] if is_unambiguous(reference, sources, growing=growing) else []


def test_a_dict_that_serves_as_the_attributes_of_every_instance() -> None:
    text = """
    class State:
        _shared = {}
        def __init__(self):
            self.__dict__ = self._shared
            self.rows = []
        def add(self, row):
            self.rows.append(row)
    """

    assert sites(text, SHARED)[:1] == [8]


@pytest.mark.parametrize(
    ("line", "name"), [("self.rows.append(row)", "rows"), ("_shared['rows'].append(row)", "_shared['rows']")]
)
def test_the_name_is_the_one_that_the_statement_shows(line: str, name: str) -> None:
    sources = {"a.py": SourceFile("a.py", line)}

    assert name_at(SHARED, SourceLocation("a.py", 1, "f"), sources) == name
    assert name_at(PLAIN, SourceLocation("a.py", 1, "f"), sources) == "rows"


@pytest.mark.parametrize(
    "store",
    [
        "self.space['rows'][n] = row",
        'self.space["rows"].append(row)',
        "space.setdefault('rows', []).append(row)",
        "space.get('rows').append(row)",
    ],
)
def test_a_namespace_without_a_file_is_filled_by_a_subscript(store: str) -> None:
    assert sites(f"def keep(self, space, n, row):\n    {store}\n", NAMESPACE) == [2]


def test_a_variable_of_such_a_namespace_is_bound_by_a_subscript() -> None:
    text = "def keep(space, row):\n    space['rows'] = row\n    space['rows_seen'] = 1\n"

    assert sites(text, PLAIN, growing=False)[:1] == [2]


@pytest.mark.parametrize("text", ["x['other'].append(1)", "print('rows')", "x['rows']", "rows_of(x).append('rows')"])
def test_what_only_mentions_the_key_is_no_site(text: str) -> None:
    assert sites(text, NAMESPACE) == []
