# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

from heaps import address_of, census
from tenure.analysis.heap.kept_by_graphs import kept_by_graphs

MIB = 2**20
DRAWN = """
    main.loss -> tensor#loss 1MiB -> .grad_fn MulBackward#mul -> .saved storage 2MiB
    main.loss -> tensor#loss -> .grad_fn MulBackward#mul -> .next CheckpointBackward#ck -> <hook> function#f -> <cell x> cell#c -> .contents tensor#kept 4MiB
    main.loss -> tensor#loss -> .grad_fn MulBackward#mul -> .next AccumulateGrad#a -> .next tensor#w 8MiB parameter -> .grad tensor 16MiB gradient
    main.net -> __main__.Net#net -> .cache tensor 32MiB
    main.loss -> tensor#loss -> .grad_fn MulBackward#mul -> .next CheckpointBackward#ck -> <hook> function#f -> <self> __main__.Net#net
"""


def kept(modules: set[int]) -> list[int]:
    made = census(DRAWN)
    return sorted(int(made.storages.bytes[row]) // MIB for row in kept_by_graphs(made, modules))


def test_saved_tensors_what_hooks_hold_and_leaves_are_kept_gradients_and_results_are_not() -> None:
    assert kept({address_of("net")}) == [2, 4, 8]


def test_modules_are_where_the_way_ends() -> None:
    assert kept(set()) == [2, 4, 8, 32]
