from __future__ import annotations

import ast

import pytest

from edit_texts import source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.class_fields import fields_of_class, given_on, is_named_tuple

SOURCE = source_of("""
    @dataclass
    class Row:
        clip: object
        row: object = None

    class Shard:
        def __init__(self, names, sheets):
            self.names, self.size = names, len(sheets)
            self.vectors = sheets

    class Curve:
        def __init__(self, raw, smooth):
            self.value, self.average = raw, smooth

    class Losses(NamedTuple):
        policy: float
        value: float

    Best = namedtuple("Best", "score, weights before")
    Pair = collections.namedtuple("Pair", ["left", "right"])
    Odd = namedtuple("Odd", names)
    """)


@pytest.mark.parametrize(
    ("name", "fields", "is_tuple"),
    [
        ("Row", ["clip", "row"], False),
        ("Shard", ["names", "vectors"], False),
        ("Curve", ["value", "average"], False),
        ("Losses", ["policy", "value"], True),
        ("Best", ["score", "weights", "before"], True),
        ("Pair", ["left", "right"], True),
        ("Odd", [], True),
        ("Other", [], False),
    ],
)
def test_a_class_takes_its_fields_in_order(name: str, fields: list[str], is_tuple: bool) -> None:
    sources = [SourceFile("bad.py", "("), SOURCE]

    assert fields_of_class(sources, name) == fields
    assert is_named_tuple(sources, name) == is_tuple


@pytest.mark.parametrize(
    ("call", "given"),
    [
        ("kept = Row(clip + 1, row)", "clip + 1"),
        ("kept = [Row(row=row, clip=clip)]", "clip"),
        ("kept = replace(kept, clip=2 * clip)", "2 * clip"),
        ("kept = kept._replace(clip=clip)", "clip"),
        ("kept = replace(clip)", None),
        ("kept = Row(*parts)", None),
        ("kept = Row(None)", None),
        ("kept = Row(clip), Row(row)", None),
        ("kept = Shard(clip)", None),
    ],
)
def test_what_the_call_on_a_line_gives_for_a_field_is_found_where_only_one_does(call: str, given: str | None) -> None:
    source = source_of(call)

    value = given_on([SOURCE, source], source, 1, "Row", "clip")
    assert (None if value is None else ast.unparse(value)) == given
