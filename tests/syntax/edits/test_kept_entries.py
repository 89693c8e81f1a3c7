from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_entries import (
    bound_keys,
    clear_before_filled,
    filled_when_missing,
    take_key_when_read,
    take_out_when_read,
)


def bounded(text: str, size: int = 4) -> list[str]:
    source = source_of(text)
    return changes(source, bound_keys(source, line_of(source), size))


@pytest.mark.parametrize(
    "asks",
    [
        "if key in _GRIDS:\n        return _GRIDS[key]",
        "known = _GRIDS.get(key)",
        "try:\n        return _GRIDS[key]\n    except KeyError:\n        pass",
    ],
)
def test_a_cache_drops_its_oldest_key(asks: str) -> None:
    text = f"def grid(key):\n    {asks}\n    _GRIDS[key] = made = make(key)  # here\n    return made\n"

    assert bounded(text) == ["if len(_GRIDS) >= 4:", "del _GRIDS[next(iter(_GRIDS))]"]


def test_a_dict_that_fills_what_is_missing_is_a_cache() -> None:
    text = """
    class Grids(dict):
        def __missing__(self, size):
            grid = self[size] = build(size)  # here
            return grid
    """
    assert bounded(text, 6) == ["if len(self) >= 6:", "del self[next(iter(self))]"]


@pytest.mark.parametrize(
    "text",
    [
        "def put(key, x):\n    rows[key] = x  # here\n",
        "def put(key, x):\n    if key not in rows[0]:\n        rows[0][key] = x  # here\n",
        "def put(key, x):\n    if key not in rows: rows[key] = x  # here\n",
        "def put(key, x):\n    rows.append(x)  # here\n",
    ],
)
def test_what_is_not_asked_first_is_no_cache(text: str) -> None:
    assert bounded(text) == []


STORE = """
class Store:
    def pack(self, x):
        self.slots[self.ticket] = x  # here
        self.most = max(self.most, len(self.slots))

    def fetch(self, ticket):
        return {read}
"""


@pytest.mark.parametrize(
    ("read", "changed"),
    [
        ("self.slots[ticket]", "return self.slots.pop(ticket)"),
        ("self.slots[ticket].float()", "return self.slots.pop(ticket).float()"),
        (
            "self.slots[ticket] if ticket in self.slots else 0",
            "return self.slots.pop(ticket) if ticket in self.slots else 0",
        ),
        ("self.slots[ticket] + self.slots[0]", ""),
        ("dict(self.slots)[ticket]", ""),
    ],
)
def test_what_is_read_once_by_its_key_is_taken_out(read: str, changed: str) -> None:
    source = source_of(STORE.format(read=read))
    found = changes(source, take_out_when_read([source], source, line_of(source), "slots"))

    assert found == ([f"- return {read}", changed] if changed else [])


def test_what_a_function_reads_itself_stays() -> None:
    source = source_of("""
    def grid(key):
        _GRIDS[key] = make(key)  # here
        return _GRIDS[key]
    """)

    assert take_out_when_read([source], source, 2, "_GRIDS") == ()


def test_a_container_is_emptied_in_front_of_what_fills_it() -> None:
    text = """
    class Swapper:
        def fresh(self):
            for layer in self.layers():
                self.remember(layer)
                self.place(layer)

        def remember(self, layer):
            self.steps.append(layer)  # here

        def follow(self, label, net):
            self.tracks[label] = list(net)
    """
    source = source_of(text)

    (loop,) = clear_before_filled([source], source, line_of(source), "steps")
    (item,) = clear_before_filled([source], source, 11, "tracks")

    assert [(edit.line, edit.after) for edit in (*loop, *item)] == [
        (3, "        self.steps.clear()"),
        (11, "        self.tracks.clear()"),
    ]
    assert list(clear_before_filled([source], source, 5, "layer")) == []


def test_a_dictionary_that_fills_what_is_missing_is_found_by_its_class() -> None:
    source = source_of(
        "class Table(dict):\n    def __missing__(self, key):\n        self[key] = x = make(key)\n        return x\n"
    )

    assert list(filled_when_missing([source, SourceFile("bad.py", "(")], "Table")) == [(source, 3)]
    assert list(filled_when_missing([source], "Other")) == []


@pytest.mark.parametrize(
    ("reads", "expected"),
    [
        ('bands = self.frontend(batch["traces"])', ['bands = self.frontend(batch.pop("traces"))']),
        ('bands = self.frontend(self.batch["traces"])', ['bands = self.frontend(self.batch.pop("traces"))']),
        ('bands = f(batch["traces"], batch["traces"])', []),
        ('batch["traces"] = bands', []),
        ('bands = f(batch["labels"])', []),
        ('bands = f(other["traces"])', []),
    ],
)
def test_a_key_that_one_statement_reads_is_taken_out_there(reads: str, expected: list[str]) -> None:
    source = source_of(f"def step(self, batch):\n    {reads}\n")

    assert changes(source, take_key_when_read([source], "batch", "'traces'"))[1:] == expected
