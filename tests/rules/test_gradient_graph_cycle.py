from dataclasses import replace

from suspects import GRADIENT, HOP, ITS_GRAPH, SPECIMENS, carried, carried_finding
from tenure.rules.gradient_graph_cycle import check_suspect

REMEDY = (
    "ask for such gradients by `torch.autograd.grad(..., create_graph=True)`, which stores none; or set "
    "`.grad = None` (`zero_grad(set_to_none=True)`) of every parameter before the step ends"
)
MESSAGE = "A gradient that was made with `create_graph=True` keeps the graph of its own backward: 3.00 MiB."


def test_a_gradient_with_a_graph_of_its_own() -> None:
    assert check_suspect(SPECIMENS["TN104"]) == carried_finding(
        REMEDY, rule="TN104", name="gradient-graph-cycle", message=MESSAGE
    )


def test_a_ring_may_start_anywhere() -> None:
    ring = replace(SPECIMENS["TN104"], symptom="cycle", cyclic=True, path=(ITS_GRAPH, GRADIENT))

    found = check_suspect(ring)

    assert found is not None
    assert (found.rule, found.symptom) == ("TN104", "cycle")


def test_a_graph_that_is_not_entered_by_a_gradient_is_none() -> None:
    assert check_suspect(carried(path=(HOP, ITS_GRAPH))) is None
    assert check_suspect(carried(path=(ITS_GRAPH, GRADIENT))) is None
