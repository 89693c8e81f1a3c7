from __future__ import annotations

import pytest

from tenure.analysis.sites.keyed_calls import by_the_call_that_gives_the_keys
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference

LIBRARY, MINE = "/usr/lib/python3/peft/layer.py", "/home/me/tasks.py"
KEYS = ["'task13'", "'task14'", "'task15'"]
LAYER = HoldingReference(
    "attribute", "lora_A", "base.proj.lora_A[*]", element=True, sites=(SourceLocation(LIBRARY, 263, "update_layer"),)
)


def named(text: str, keys: object, *, reference: HoldingReference = LAYER) -> tuple[str, list[tuple[str, int]]]:
    sources = {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, text)}
    found = by_the_call_that_gives_the_keys(reference, keys, sources)
    return found.name, [(site.file, site.line) for site in found.sites]


IN_LIBRARY = ("lora_A", [(LIBRARY, 263)])


@pytest.mark.parametrize(
    ("text", "keys", "expected"),
    [
        ("model.add_adapter(f'task{task}', config)", KEYS, ("add_adapter", [(MINE, 1)])),
        ("model.set_adapter(f'task{t}')\nmodel.add_adapter(name=f'task{t}')", KEYS, ("add_adapter", [(MINE, 2)])),
        ("m.add(f'task{t}')\nif t:\n    m.add(f'task{t}')", KEYS, ("add", [(MINE, 1), (MINE, 3)])),
        ("model.add_adapter('task13')", KEYS, IN_LIBRARY),
        ("model.add_adapter(f'{task}')", KEYS, IN_LIBRARY),
        ("model.add_adapter(f'head{task}')", KEYS, IN_LIBRARY),
        ("print(f'task{task}')", KEYS, IN_LIBRARY),
        ("model.add_adapter(f'task{task}')", KEYS[:1], IN_LIBRARY),
        ("model.add_adapter(f'task{task}')", None, IN_LIBRARY),
    ],
)
def test_entries_of_a_library_are_told_at_the_call_that_gives_their_keys(
    text: str, keys: object, expected: tuple[str, list[tuple[str, int]]]
) -> None:
    assert named(text, keys) == expected


def test_what_the_user_stores_is_told_where_it_is_stored() -> None:
    reference = HoldingReference("attribute", "heads", "self.heads[*]", sites=(SourceLocation(MINE, 9, "grow"),))

    assert named("model.add_adapter(f'task{t}')", KEYS, reference=reference) == ("heads", [(MINE, 9)])
