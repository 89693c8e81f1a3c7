"""Tables with weak keys whose values lead to their own keys."""

from __future__ import annotations

import pytest

from told import rules

TABLE = """
    import torch
    from dataclasses import dataclass
    from functools import partial
    from weakref import WeakKeyDictionary
    class Prepared:
        def __init__(self, graph):
            self.graph, self.weight = graph, torch.ones(len(graph.x))
    class Degrees:
        def __init__(self, graph):
            self.weight = torch.ones(len(graph.x))
    @dataclass
    class Row:
        graph: object
        weight: torch.Tensor
    def made(graph):
        return Prepared(graph)
    TABLE = WeakKeyDictionary()
    def prepared(graph):
        if graph not in TABLE:
            TABLE[graph] = {value}
        return TABLE[graph]
    def main(loader):
        for graph in loader:
            prepared(graph)
"""


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Prepared(graph)", ["TN203"]),
        ("made(graph)", ["TN203"]),
        ("(graph, torch.ones(3))", ["TN203"]),
        ("Row(graph, torch.ones(3))", ["TN203"]),
        ("Row(graph=graph, weight=torch.ones(3))", ["TN203"]),
        ("Degrees(graph)", []),
        ("torch.ones(len(graph.x))", []),
        ("(graph, 3)", []),
    ],
)
def test_a_value_that_has_its_weak_key_is_told(value: str, found: list[str]) -> None:
    assert rules(TABLE.format(value=value)) == found


def test_a_table_with_strong_keys_is_none_of_these() -> None:
    assert rules(TABLE.format(value="Prepared(graph)").replace("= WeakKeyDictionary()", "= seen()")) == []
