from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_newest import keep_newest, keep_newest_rows

HISTORY = """
class History:
    def __init__(self):
        self.rows = []

    def add(self, row):
        self.rows.append(row)  # here

    def show(self, count=7):
        {read}
"""


def newest(text: str, name: str = "rows", *others: SourceFile) -> list[str]:
    source = source_of(text)
    return changes(source, keep_newest([source, *others], source, line_of(source), name))


@pytest.mark.parametrize(
    ("read", "added"),
    [
        ("pass", ["del self.rows[:-1]"]),
        ("return self.rows[-1]", ["del self.rows[:-1]"]),
        ("return sum(self.rows[-5:])", ["del self.rows[:-5]"]),
        ("return list(self.rows)[-count:]", ["del self.rows[:-7]"]),
        ("return self.rows[-self.window:]", ["del self.rows[:-self.window]"]),
        ("return self.rows[-5:], self.rows[-1]", ["del self.rows[:-5]"]),
        ("return self.rows[-5:], self.rows[-self.window:]", []),
        ("return self.rows[0]", []),
        ("return self.rows[-5:-1]", []),
        ("return self.rows[-2:][0], len(self.rows)", []),
        ("return sum(self.rows)", []),
        ("del self.rows[-1]", []),
    ],
)
def test_a_list_keeps_what_is_read_from_its_end(read: str, added: list[str]) -> None:
    assert newest(HISTORY.format(read=read)) == added


def test_a_list_of_a_key_is_cut_by_its_key() -> None:
    text = """
    class Seen:
        def see(self, layer, x):
            self.inputs[layer].append(x)  # here
        def newest(self, layer):
            inputs = self.inputs[layer][-1]
            return sum(inputs)
    """
    assert newest(text, "inputs") == ["del self.inputs[layer][:-1]"]


def test_a_deque_gets_its_length_where_it_is_made() -> None:
    text = """
    class Meter:
        def __init__(self):
            self.rows = deque()
        def add(self, row):
            self.rows.append(row)  # here
        def mean(self):
            return mean(list(self.rows)[-10:])
    """
    assert newest(text) == ["- self.rows = deque()", "self.rows = deque(maxlen=10)"]


def test_reads_in_other_files_count() -> None:
    other = SourceFile("other.py", "def report(history):\n    return history.rows[0]\n")

    assert newest(HISTORY.format(read="pass"), "rows", other) == []
    assert newest(HISTORY.format(read="pass"), "rows", SourceFile("bad.py", "(")) == ["del self.rows[:-1]"]


@pytest.mark.parametrize(
    ("read", "added"),
    [
        ("return self.rows[-2:] if len(self.rows) > 1 else self.rows * 2", ["del self.rows[:-2]"]),
        ("return self.rows * 2 if len(self.rows) < 2 else self.rows[-2:]", ["del self.rows[:-3]"]),
        ("if len(self.rows) >= 4:\n            return self.rows[-1]", ["del self.rows[:-5]"]),
        ("return self.rows * 2 if len(self.rows) > 1 else self.rows[-1]", []),
        ("return self.rows * 2 if len(self.others) < 2 else self.rows[-2:]", []),
    ],
)
def test_reads_that_ask_for_the_length_see_what_they_saw(read: str, added: list[str]) -> None:
    assert newest(HISTORY.format(read=read)) == added


BANK = """
class Bank:
    def push(self, rows):
        {joined}  # here

    def latest(self):
        return {read}
"""


def newest_rows(joined: str, read: str) -> list[str]:
    source = source_of(BANK.format(joined=joined, read=read))
    return changes(source, keep_newest_rows([source], source, line_of(source), "keys"))[1:]


@pytest.mark.parametrize(
    ("joined", "read", "after"),
    [
        ("torch.cat([self.keys, rows])", "self.keys[-self.size:]", "torch.cat([self.keys, rows])[-self.size:]"),
        ("torch.cat((self.keys, rows), dim=0)", "self.keys[-8:]", "torch.cat((self.keys, rows), dim=0)[-8:]"),
        ("np.concatenate([self.keys, rows])", "self.keys[-1]", "np.concatenate([self.keys, rows])[-1:]"),
        ("self.keys + [rows]", "self.keys[-3:]", "(self.keys + [rows])[-3:]"),
        ("[*self.keys, rows]", "self.keys[-3:]", "([*self.keys, rows])[-3:]"),
    ],
)
def test_what_is_joined_is_cut_to_the_rows_that_are_read(joined: str, read: str, after: str) -> None:
    assert newest_rows(f"self.keys = {joined}", read) == [f"self.keys = {after}  # here"]


@pytest.mark.parametrize(
    ("joined", "read"),
    [
        ("torch.cat([self.keys, rows])", "self.keys"),
        ("torch.cat([self.keys, rows])", "1"),
        ("torch.cat([rows, self.keys])", "self.keys[-8:]"),
        ("torch.cat([self.keys, rows], dim=1)", "self.keys[-8:]"),
        ("torch.cat([self.keys, rows], 1)", "self.keys[-8:]"),
        ("self.keys + rows", "self.keys[-8:]"),
        ("make(self.keys, rows)", "self.keys[-8:]"),
    ],
)
def test_other_rows_stay(joined: str, read: str) -> None:
    assert newest_rows(f"self.keys = {joined}", read) == []
