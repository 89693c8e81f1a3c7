from suspects import MIB, finding, path_row, series, series_row, suspect
from tenure.rules.loss_kept_with_graph import check_suspect

REMEDY = (
    "keep the value, not the graph: `x.detach()` stays on the device without a synchronisation, `x.item()` is "
    "one number; run what is never trained on under `torch.no_grad()`"
)
IDENTITY = {"rule": "TN101", "name": "loss-kept-with-graph"}


def test_growth_whose_path_enters_a_graph_is_a_kept_loss() -> None:
    message = "`history[*]` keeps the autograd graph of every step: 1.00 MiB per step."

    assert check_suspect(suspect(through_graph=True)) == finding(REMEDY, message=message, **IDENTITY)


def test_where_backward_freed_the_buffers_nodes_are_counted_instead_of_bytes() -> None:
    freed = suspect(
        through_graph=True,
        graph_freed=True,
        growth_bytes_per_step=None,
        retained_bytes=0,
        series=series(0, 0, 0, graph_nodes=(5, 10, 15)),
        bytes_by_role={},
    )

    assert check_suspect(freed) == finding(
        REMEDY,
        message="`history[*]` keeps the autograd graph of every step (backward freed its buffers: nodes remain): "
        "5 autograd nodes per step.",
        growth_bytes_per_step=None,
        retained_bytes=0,
        evidence=(
            path_row(),
            series_row(0, 0, 0, graph_nodes=(5, 10, 15)),
            {"kind": "roles", "bytes_by_role": {}},
        ),
        **IDENTITY,
    )


def test_a_sawtooth_of_graphs_is_one_too() -> None:
    message = "`history[*]` keeps the autograd graph of every step: 1.00 MiB per step."

    assert check_suspect(suspect(symptom="sawtooth", through_graph=True, period_steps=8)) == finding(
        REMEDY, message=message, symptom="sawtooth", **IDENTITY
    )


def test_growth_without_a_graph_is_none() -> None:
    assert check_suspect(suspect(bytes_by_role={"ACTIVATION": 3 * MIB})) is None


def test_a_graph_that_does_not_grow_is_none() -> None:
    assert check_suspect(suspect(symptom="peak", through_graph=True)) is None
