from __future__ import annotations

import random

import numpy as np

from heaps import census, node_named
from tenure.analysis.heap.cuts import alive_seeds
from tenure.analysis.heap.dominators import find_dominators
from tenure.analysis.heap.graph import build_graph, reach


def test_an_owner_retains_what_only_it_leads_to() -> None:
    made = census("""
        main.a -> list#a -> [0] tensor#x 4KiB
        main.a -> list#a -> [1] tensor#shared 1MiB
        main.b -> list#b -> [0] tensor#shared
    """)
    found = find_dominators(build_graph(made))

    assert [int(found.retained_bytes[node_named(made, name)]) for name in ("a", "b", "x", "shared")] == [
        4096,
        0,
        4096,
        1024**2,
    ]


def test_retained_bytes_are_what_removing_the_node_frees() -> None:
    """Against the definition, on random heaps with cycles."""
    chance = random.Random(7)
    for _ in range(25):
        lines = [f"main.r{n} -> list#n{chance.randrange(12)}" for n in range(2)]
        for _ in range(24):
            lines.append(f"main.r0 -> list#n{chance.randrange(12)} -> [0] list#n{chance.randrange(12)}")
        lines = [line if "[0]" not in line else "island -> " + line.split(" -> ", 1)[1] for line in lines]
        lines += [f"island -> list#n{n} -> [9] tensor#t{n} {n + 1}KiB" for n in range(12)]
        graph = build_graph(census("\n".join(lines)))
        found = find_dominators(graph)
        seeds = alive_seeds(graph)
        alive = reach(graph, seeds)
        for node in np.flatnonzero(alive).tolist():
            into = graph.census.references.target == node
            still = reach(graph, seeds[seeds != node], without=into)
            freed = int(graph.bytes_of_node[alive & ~still].sum())
            assert int(found.retained_bytes[node]) == freed
