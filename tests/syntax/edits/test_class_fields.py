from __future__ import annotations

import pytest

from edit_texts import source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.class_fields import fields_of_class, is_named_tuple

SOURCE = source_of("""
    @dataclass
    class Row:
        clip: object
        row: object = None

    class Shard:
        def __init__(self, names, sheets):
            self.names, self.size = names, len(sheets)
            self.vectors = sheets

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
