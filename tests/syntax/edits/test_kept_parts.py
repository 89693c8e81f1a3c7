from __future__ import annotations

import pytest

from edit_texts import changes, line_of, source_of
from tenure.model.source import SourceFile
from tenure.syntax.edits.kept_parts import (
    change_added,
    change_display,
    change_each_given,
    change_keyword,
    change_part,
    change_where_made,
    detach_at_end,
    detach_each,
    detach_if_tensor,
    detach_old,
    detach_received,
    detach_states_beside,
)

SHELF = """
@dataclass
class Candidate:
    sureness: float
    clip: object
    row: object = None


class Shard:
    def __init__(self, names, sheets):
        self.names, self.size = names, len(sheets)
        self.vectors = sheets


class Shelf:
    def offer(self, clip, row):
        {statement}
"""


LOSSES = SourceFile("losses.py", "class Losses(NamedTuple):\n    policy: object\n    value: object\n")


def part(statement: str, name: str, *labels: str) -> list[str]:
    source = source_of(SHELF.format(statement=statement))
    at = line_of(source, "# here")
    return changes(source, change_part([source], source, at, name, labels, ".detach()"))


@pytest.mark.parametrize(
    ("statement", "name", "labels", "changed"),
    [
        (
            "insort(self.ranked, Candidate(1, clip, row))  # here",
            "ranked",
            ("row",),
            "Candidate(1, clip, row.detach())",
        ),
        ("self.rows.append(Candidate(1, clip, row=row))  # here", "rows", ("row",), "row=row.detach())"),
        ("self.rows[1] = Shard(row, clip + 1)  # here", "rows", ("vectors",), "Shard(row, (clip + 1).detach())"),
        ("self.rows.append((clip, row))  # here", "rows", ("1",), "(clip, row.detach()))"),
        ("self.last = {'loss': row}  # here", "last", ("'loss'",), "{'loss': row.detach()}"),
        ("self.rows.append(Other(clip, row))  # here", "rows", ("row",), "Other(clip, row.detach())"),
    ],
)
def test_the_part_that_the_recording_saw_is_detached(
    statement: str, name: str, labels: tuple[str, ...], changed: str
) -> None:
    assert changed in part(statement, name, *labels)[1]


def test_an_object_that_is_made_above_is_changed_there() -> None:
    source = source_of(
        SHELF.format(statement="made = Shard(clip, self.unit(row))\n        self.rows.append(made)  # here")
    )

    found = changes(source, change_part([source], source, line_of(source), "rows", ["vectors"], ".detach()"))

    assert found == ["- made = Shard(clip, self.unit(row))", "made = Shard(clip, self.unit(row).detach())"]


@pytest.mark.parametrize(
    "statement",
    [
        "self.rows.append(Candidate(1, clip, row.detach()))  # here",
        "self.rows.append(Candidate(1, clip))  # here",
        "self.rows.append(make(clip))  # here",
        "self.rows.append(*row)  # here",
        "return row  # here",
    ],
)
def test_what_cannot_be_told_apart_or_is_detached_stays(statement: str) -> None:
    assert part(statement, "rows", "row") == []


def test_a_part_is_changed_where_its_object_is_made() -> None:
    service = source_of("def answer(best):\n    return Candidate(best.values, best.clip, best.row)\n")
    sources = [source_of(SHELF.format(statement="pass")), service]

    assert changes(service, change_where_made(sources, "Candidate", "row", ".detach()"))[1] == (
        "return Candidate(best.values, best.clip, best.row.detach())"
    )
    assert change_where_made(sources, "Candidate", "other", ".detach()") == ()
    assert change_where_made([*sources, SourceFile("u.py", service.text)], "Candidate", "row", ".detach()") == ()


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("dict", "{key: each.detach() for key, each in terms.items()}"),
        ("list", "[each.detach() for each in terms]"),
        ("tuple", "tuple(each.detach() for each in terms)"),
        ("Losses", "terms._make(each.detach() for each in terms)"),
        ("Record", ""),
    ],
)
def test_each_tensor_of_a_variable_is_detached(kind: str, kept: str) -> None:
    source = source_of("class A:\n    def note(self, terms):\n        self.terms = terms  # here\n")
    found = changes(source, detach_each([source, LOSSES], source, 3, "terms", [kind]))

    assert found == (["- self.terms = terms  # here", f"self.terms = {kept}  # here"] if kept else [])


def test_a_list_of_one_that_is_added_is_detached_inside() -> None:
    assert part("self.rows += [row]  # here", "rows")[1] == "self.rows += [row.detach()]  # here"


def test_the_value_of_a_key_is_detached_where_its_dictionary_is_written() -> None:
    source = source_of("def log(loss, scores):\n    return {'loss': loss.item(), 'scores': scores, 'n': 1}\n")

    assert changes(source, change_display([source], "'scores'", ".detach()"))[1] == (
        "return {'loss': loss.item(), 'scores': scores.detach(), 'n': 1}"
    )
    assert [change_display([source], key, ".detach()") for key in ("'loss'", "'n'", "'other'")] == [(), (), ()]
    assert change_display([source, SourceFile("u.py", source.text)], "'scores'", ".detach()") == ()


def test_what_is_given_by_name_is_detached_where_one_call_gives_it() -> None:
    source = source_of("history.put(cost=keep(cost), norm=norm.item(), lr=0.1)\nother.put(rate=1, decay=a + b)\n")

    assert changes(source, change_keyword([source], "cost", ".detach()"))[1] == (
        "history.put(cost=keep(cost).detach(), norm=norm.item(), lr=0.1)"
    )
    assert changes(source, change_keyword([source], "decay", ".detach()"))[1] == (
        "other.put(rate=1, decay=(a + b).detach())"
    )
    assert [change_keyword([source], key, ".detach()") for key in ("norm", "lr", "missing")] == [(), (), ()]
    assert change_keyword([source, SourceFile("u.py", source.text)], "cost", ".detach()") == ()


def test_what_a_function_keeps_is_detached_when_it_ends() -> None:
    source = source_of("""
    class A:
        def __call__(self, output):
            self.terms = {name: f(output) for name, f in TERMS.items()}  # here
            total = sum(self.terms.values())
            return total
    """)

    assert changes(source, detach_at_end(source, 3, "terms", ["dict"])) == [
        "self.terms = {key: each.detach() for key, each in self.terms.items()}"
    ]
    assert changes(source, detach_at_end(source, 3, "terms", [])) == ["self.terms = self.terms.detach()"]
    assert detach_at_end(source, 3, "terms", ["Record"]) == ()
    assert detach_at_end(source, 4, "total", []) == ()


def test_a_carried_state_is_detached_before_it_is_computed_anew() -> None:
    source = source_of(
        "class A:\n    def write(self, x):\n        self.m = x if self.m is None else self.m + x  # here\n"
    )

    assert changes(source, detach_old(source, 3, "m")) == ["if self.m is not None:", "self.m = self.m.detach()"]
    assert changes(source, detach_old(source, 3, "m", ["tuple"])) == [
        "if self.m is not None:",
        "self.m = tuple(each.detach() for each in self.m)",
    ]
    assert detach_old(source, 3, "m", ["Record"]) == detach_old(source, 3, "m", ["tuple", "list"]) == ()
    assert detach_old(source_of("class A:\n    def f(self): self.m = g(self.m)\n"), 2, "m") == ()


def test_a_part_of_a_named_tuple_is_found_by_its_place() -> None:
    source = source_of("""
        Row = namedtuple("Row", ["clip", "row"])

        def offer(rows, clip, row):
            rows.append(Row(clip, row))  # here
        """)

    new = changes(source, change_part([source], source, line_of(source), "rows", ["1"], ".clone()"))

    assert new[1:] == ["rows.append(Row(clip, row.clone()))  # here"]


@pytest.mark.parametrize(
    ("added", "kept"),
    [
        ("faults += (each for each in got if each)", "faults += (each.with_traceback(None) for each in got if each)"),
        ("faults.extend(each for each in got)", "faults.extend(each.with_traceback(None) for each in got)"),
        ("faults.extend((each for each in got))", "faults.extend((each.with_traceback(None) for each in got))"),
        ("faults.extend(got)", None),
    ],
)
def test_each_value_that_a_generator_adds_is_changed(added: str, kept: str | None) -> None:
    source = source_of(f"self.{added}  # here\n")

    new = changes(source, change_part([source], source, 1, "faults", [], ".with_traceback(None)"))
    assert new[1:] == ([f"self.{kept}  # here"] if kept else [])


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        ("[net(x) for x in batches]", "[net(x).detach() for x in batches]"),
        ("{name: net(x) for name, x in batches}", "{name: net(x).detach() for name, x in batches}"),
    ],
)
def test_each_value_of_a_comprehension_is_detached(made: str, kept: str) -> None:
    source = source_of(f"answers = {made}  # here\n")

    assert changes(source, change_part([source], source, 1, "answers", [], ".detach()"))[1:] == [
        f"answers = {kept}  # here"
    ]


def test_running_statistics_that_share_a_graph_are_detached_together() -> None:
    text = """
    class Drift:
        def observe(self, error):
            self.mean = self.mean.lerp(error, 0.1)  # here
            self.spread = self.spread.lerp(error.square(), 0.1)
            self.last = error
    """
    source = source_of(text)

    assert changes(source, detach_states_beside(source, line_of(source), "mean"))[2:] == [
        "self.mean = self.mean.lerp(error, 0.1).detach()  # here",
        "self.spread = self.spread.lerp(error.square(), 0.1).detach()",
    ]
    alone = source_of(text.replace("self.spread = self.spread", "self.spread = other"))
    assert detach_states_beside(alone, line_of(alone), "mean") == ()


def test_each_value_that_an_object_is_made_of_is_detached() -> None:
    source = source_of("""
        class Bank:
            def __lshift__(self, batch):
                self.entries.appendleft(Entry(*batch))  # here
                self.rows.append(Entry(1, *batch))
        """)
    at = line_of(source)

    assert changes(source, change_each_given([source], source, at, "entries", ".detach()"))[1:] == [
        "self.entries.appendleft(Entry(*(each.detach() for each in batch)))  # here"
    ]
    assert change_each_given([source], source, at + 1, "rows", ".detach()") == ()


@pytest.mark.parametrize(
    ("imported", "kept", "expected"),
    [
        ("import torch", "value", "value.detach() if torch.is_tensor(value) else value"),
        ("import torch", "f(value)", None),
        ("import numpy", "value", None),
    ],
)
def test_what_may_be_a_number_is_detached_where_it_is_a_tensor(imported: str, kept: str, expected: str | None) -> None:
    source = source_of(f"{imported}\ndef put(self, row, value):\n    self.cells[row] = {kept}  # here\n")

    changed = changes(source, detach_if_tensor(source, line_of(source), "cells"))[1:]
    assert changed == ([f"self.cells[row] = {expected}  # here"] if expected else [])


@pytest.mark.parametrize(
    ("received", "expected"), [("yield level", ["sample = (yield level).detach()"]), ("level", []), ("await level", [])]
)
def test_what_a_generator_is_sent_is_detached(received: str, expected: list[str]) -> None:
    source = source_of(f"def smoothed(level):\n    sample = {received}\n    level = lerp(level, sample)  # here\n")

    assert changes(source, detach_received(source, line_of(source)))[1:] == expected


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("rows[key] = *rows.get(key, ()), x.mean()", ["rows[key] = *rows.get(key, ()), x.mean().detach()"]),
        ("self.rows[key] = [*self.rows[key], x]", ["self.rows[key] = [*self.rows[key], x.detach()]"]),
        ("rows[key] = (*old, x.item())", []),
        ("rows[key] = (x, y)", []),
        ("others[key] = (*old, x)", []),
        ("rows = (*rows, x)", []),
    ],
)
def test_what_is_added_to_a_tuple_that_is_made_anew_is_detached(statement: str, expected: list[str]) -> None:
    source = source_of(f"def keep(rows, key, old, x, y):\n    {statement}\n")

    assert changes(source, change_added([source], "rows", ".detach()"))[1:] == expected


def test_what_is_given_by_name_beside_what_was_there_is_detached_alone() -> None:
    source = source_of("def extended(self, spread):\n    return self._replace(entropy=(*self.entropy, spread))\n")

    assert changes(source, change_keyword([source], "entropy", ".detach()"))[1:] == [
        "return self._replace(entropy=(*self.entropy, spread.detach()))"
    ]
