# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import numpy as np
import pytest

from heaps import census, node_named
from tenure.analysis.heap.cuts import find_cut, freed_storages
from tenure.analysis.heap.graph import Graph, build_graph
from tenure.analysis.heap.holders import holding_reference
from tenure.analysis.heap.paths import shortest_paths

MODEL = """
Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .model __main__.Net -> ._modules dict -> ['fc'] torch.nn.Linear -> ._parameters dict -> ['weight'] parameter#weight 1KiB
"""


def cut_of(text: str, *targets: str, many: tuple[str, ...] = ()) -> tuple[list[str], set[str], Graph]:
    """Expressions of the cut, and which of the storages named t* it frees."""
    made = census(MODEL + text)
    graph, paths = build_graph(made), shortest_paths(build_graph(made))
    nodes = np.array([node_named(made, f"storage of {target}") for target in targets])
    containers = {node_named(made, name) for name in many}
    cut = find_cut(graph, paths, nodes, many=containers)
    freed = set(freed_storages(graph, cut).tolist())
    names = {name for name in ("t1", "t2", "t3", "weight") if f"storage of {name}" and _named(made, name) in freed}
    return [holding_reference(graph, paths, dropped, many=containers).expression for dropped in cut], names, graph


def _named(made: object, name: str) -> int:
    try:
        return node_named(made, f"storage of {name}")  # type: ignore[arg-type]
    except IndexError:
        return -1


def test_both_aliases_of_a_loss_are_in_the_cut() -> None:
    found, freed, _ = cut_of(
        """
        Trainer.fit(trainer.py:598).retval -> dict -> ['loss'] tensor#loss 4B -> .grad_fn LossBackward#node freed -> .grads tensor#t1 64MiB
        Trainer.fit(trainer.py:598).loss -> tensor#loss
        """,
        "t1",
    )

    assert (found, freed) == (["retval", "loss"], {"t1"})


def test_elements_of_a_growing_container_are_one_reference() -> None:
    found, freed, _ = cut_of(
        """
        Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .history list#history -> [0] tensor#t1 4B
        Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .history list#history -> [1] tensor#t2 4B
        """,
        "t1",
        "t2",
        many=("history",),
    )

    assert (found, freed) == (["self.history[*]"], {"t1", "t2"})


def test_hooks_that_lead_to_their_owners_are_removed_where_every_name_above_leads_to_memory_in_use() -> None:
    layer = "train(t.py:9).net -> torch.nn.Sequential#net -> ._modules dict -> ['{0}'] torch.nn.Linear#{0}"
    hooks = "{0} -> ._forward_hooks collections.OrderedDict#hooks_{1} -> [*30] function#{1}_* file=t.py:3 -> <cell self> __main__.Probe#probe_*"
    drawn = f"""
        train(t.py:9).opt -> __main__.Sgd -> .parameters list -> [0] parameter#w 1KiB
        {layer.format("a")} -> ._parameters dict -> ['weight'] parameter#w
        {hooks.format(layer.format("a"), "a")}
        {hooks.format(layer.format("b"), "b")}
        island -> list -> [*30] __main__.Probe#probe_* -> .seen tensor#t_* 1MiB
        island -> list -> [*30] __main__.Probe#probe_* -> .net torch.nn.Sequential#net
        """
    seen = [f"t_{number}" for number in range(30)]

    names = ["net.a._forward_hooks[*]", "net.b._forward_hooks[*]"]
    assert cut_of(drawn, *seen, many=("hooks_a", "hooks_b"))[0] == names
    assert cut_of(drawn, *seen)[0] == names


def test_a_model_in_use_is_not_dropped_for_an_attribute_of_its_layer_that_leads_back_to_it() -> None:
    """The optimizer is nearer to the weights than the model's name, so that these would live on without it."""
    layer = "train(t.py:9).net -> torch.nn.Sequential#net -> ._modules dict -> ['0'] torch.nn.Linear#{0}"
    found, freed, _ = cut_of(
        f"""
        train(t.py:9).opt -> list -> [0] parameter#w 1KiB
        {layer.format("a")} -> ._parameters dict -> ['weight'] parameter#w
        {layer.format("a")} -> .revert functools.partial#undo -> [0] torch.nn.Sequential#net
        {layer.format("a")} -> .revert functools.partial#undo -> [1] tensor#t1 1MiB
        """,
        "t1",
    )

    assert (found, freed) == (["net['0'].revert"], {"t1"})


def test_an_object_that_owns_the_model_is_never_dropped_for_its_attributes() -> None:
    found, freed, _ = cut_of(
        """
        Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .a tensor#t1 4KiB
        Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .b tensor#t2 4KiB
        """,
        "t1",
        "t2",
    )

    assert (found, freed) == (["self.a", "self.b"], {"t1", "t2"})


def test_an_output_object_is_dropped_as_a_whole() -> None:
    found, freed, _ = cut_of(
        """
        Trainer.fit(trainer.py:598).outputs -> __main__.Output#out -> .loss tensor#t1 4B
        Trainer.fit(trainer.py:598).outputs -> __main__.Output#out -> .logits tensor#t2 4KiB
        """,
        "t1",
        "t2",
    )

    assert (found, freed) == (["outputs"], {"t1", "t2"})


def test_of_equal_cuts_the_nearest_to_the_memory_is_taken() -> None:
    found, freed, _ = cut_of("Trainer.fit(trainer.py:598).meter -> __main__.Meter#meter -> .last tensor#t1 4KiB", "t1")

    assert (found, freed) == (["meter.last"], {"t1"})


def test_a_graph_that_uses_a_parameter_does_not_own_it() -> None:
    found, freed, _ = cut_of(
        """
        Trainer.fit(trainer.py:598).total -> tensor#total 4B -> .grad_fn AddBackward0#add -> .saved tensor#t1 1MiB
        Trainer.fit(trainer.py:598).total -> tensor#total -> .grad_fn AddBackward0#add -> .next AccumulateGrad#acc -> .next parameter#weight
        """,
        "t1",
    )

    assert (found, freed) == (["total"], {"t1"})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lib:torch.cache -> dict#cache -> ['k'] tensor#t1 1KiB", "cache['k']"),
        ("class Net(net.py:3).cache -> dict#cache -> ['k'] tensor#t1 1KiB", "cache['k']"),
        ("main.f -> function#f file=main.py:7 name=f -> <cell x> tensor#t1 1KiB", "x"),
        ("main.f -> function#f file=main.py:7 name=f -> <default x> tensor#t1 1KiB", "x"),
        (
            "main.load -> functools._lru_cache_wrapper#load file=main.py:7 name=load -> <cached> tensor#t1 1KiB",
            "load[*]",
        ),
        ("hidden sys.last_exc.value -> RuntimeError#e -> .tensor tensor#t1 1KiB", "[value].tensor"),
    ],
)
def test_every_kind_of_holder_can_be_cut(line: str, expected: str) -> None:
    found, freed, _ = cut_of(line, "t1")

    assert freed == {"t1"}
    assert found[0].endswith(expected.removeprefix("[value]"))


def test_what_only_an_unseen_owner_holds_has_no_cut() -> None:
    assert cut_of("unseen -> tensor#t1 1KiB", "t1")[:2] == ([], set())
