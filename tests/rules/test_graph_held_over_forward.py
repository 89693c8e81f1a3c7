from dataclasses import replace

import pytest

from suspects import HISTORY, HOP, MIB, TRAIN, carried, carried_finding, hop, path_row, roles_row, series_row, suspect
from tenure.model.finding import CutReference, evidence_of
from tenure.model.source import SourceLocation
from tenure.model.suspect import CUT_IN_LIBRARY, EVALUATED_WITH_GRAPH
from tenure.rules.graph_held_over_forward import check_suspect
from tenure.rules.loss_kept_with_graph import check_suspect as loss_kept_with_graph
from tenure.rules.outputs_kept_with_graph import check_suspect as outputs_kept_with_graph

KEEP_SCALARS = "; keep only detached scalars (`.item()`, `.detach()`) for later"
IDENTITY = {"rule": "TN102", "name": "graph-held-over-forward"}
LOSS = replace(HISTORY, name="loss", expression="loss", sites=(SourceLocation(TRAIN, 25, "fit"),))


def test_outputs_that_are_carried_into_the_forward_are_held_over_it() -> None:
    outputs = carried(bytes_by_role={"ACTIVATION": 3 * MIB})

    found = check_suspect(outputs)

    assert found is not None
    assert found == carried_finding(
        found.remedies[0].summary,
        message="`history[*]` still holds step N's outputs while step N+1's forward runs.",
        evidence=(
            path_row(),
            series_row(3 * MIB, 3 * MIB, 3 * MIB, moment="forward-entry"),
            roles_row(ACTIVATION=3 * MIB),
        ),
        **IDENTITY,
    )


@pytest.mark.parametrize(
    ("container", "facts", "rule"),
    [
        ("collections.deque", {}, "TN107"),
        ("list", {"outlasts_a_step": True}, "TN107"),
        ("list", {}, "TN102"),
        ("dict", {"outlasts_a_step": True}, "TN102"),
    ],
)
def test_an_evaluations_outputs_that_wait_for_the_next_one_are_outputs_kept_with_their_graph(
    container: str, facts: dict[str, object], rule: str
) -> None:
    element = hop("INDEX", "[0]", container, "torch.Tensor", target_kind="TENSOR")
    outputs = carried(path=(HOP, element), through_graph=True, facts=facts)

    found = [check(outputs) for check in (check_suspect, outputs_kept_with_graph)]
    assert [finding.rule for finding in found if finding] == [rule]
    freed = [check(replace(outputs, graph_freed=True)) for check in (check_suspect, outputs_kept_with_graph)]
    assert [finding.rule for finding in freed if finding] == ["TN102"]


@pytest.mark.parametrize(("outlasts", "rule"), [(True, "TN107"), (False, "TN102")])
def test_the_best_output_so_far_is_kept_with_its_graph_and_that_of_the_last_step_held_over_a_forward(
    outlasts: bool, rule: str
) -> None:
    attribute = hop("ITEM", "'forecast'", "dict", "torch.Tensor", target_kind="TENSOR")
    holder = replace(HISTORY, kind="attribute", name="forecast", expression="plateau.best.forecast", element=False)
    facts: dict[str, object] = {"kept_shape": "[48, 7]"} | ({"outlasts_a_step": True} if outlasts else {})
    best = carried(path=(HOP, attribute), holder=holder, through_graph=True, facts=facts)

    found = [told for check in (check_suspect, outputs_kept_with_graph) if (told := check(best))]

    assert [told.rule for told in found] == [rule]
    if outlasts:
        assert found[0].message == (
            "`plateau.best.forecast` keeps tensors of shape [48, 7] together with the graph that made each: 3.00 MiB, "
            "carried from forward to forward."
        )


@pytest.mark.parametrize(("shape", "rule"), [("[]", "TN101"), ("[1]", "TN101"), ("[3]", "TN107")])
def test_losses_whose_graphs_no_backward_freed_are_losses_kept_with_their_graph(shape: str, rule: str) -> None:
    """As a step's losses by task, kept for the rates at which the next ones fall."""
    loss = hop("ITEM", "'depth'", "dict", "torch.Tensor", target_kind="TENSOR")
    holder = replace(HISTORY, kind="attribute", name="previous", expression="self.previous", element=False)
    facts: dict[str, object] = {"kept_shape": shape, "outlasts_a_step": True}
    previous = carried(path=(HOP, loss), holder=holder, through_graph=True, facts=facts)

    checks = (check_suspect, outputs_kept_with_graph, loss_kept_with_graph)
    (told,) = [told for check in checks if (told := check(previous))]

    assert told.rule == rule
    assert told.message.endswith(": 3.00 MiB, carried from forward to forward.")


def test_what_a_hook_leaves_on_a_layer_is_a_hint_and_on_another_object_left_to_others() -> None:
    table = hop("ITEM", "'_modules'", "dict", "dict")
    left = carried(path=(HOP, table), holder=replace(HISTORY, kind="attribute"), bytes_by_role={"OTHER": 3 * MIB})

    found = check_suspect(left)

    assert found is not None
    assert (found.rule, found.confidence) == ("TN102", "possible")
    assert found.message == "`history[*]` still holds step N's tensors while step N+1's forward runs."
    assert check_suspect(replace(left, path=(HOP,))) is None


def test_small_outputs_without_a_graph_are_only_a_hint() -> None:
    found = check_suspect(carried(bytes_by_role={"ACTIVATION": MIB // 2}, retained_bytes=MIB // 2))

    assert found is not None
    assert found.confidence == "possible"


def test_small_outputs_that_the_profile_shows_at_the_peak_are_more_than_a_hint() -> None:
    small = {"bytes_by_role": {"ACTIVATION": MIB // 2}, "retained_bytes": MIB // 2, "peak_bytes": 4 * MIB}

    found = [check_suspect(carried(**small, peak_drop_bytes=drop)) for drop in (MIB // 2, MIB // 4)]

    assert [each.confidence for each in found if each] == ["certain", "possible"]


def test_all_names_that_hold_the_graph_are_told_and_dropped() -> None:
    graph = carried(through_graph=True, cut=(HISTORY, LOSS))

    found = check_suspect(graph)

    assert found is not None
    assert found.remedies[0].summary.startswith("`del history, loss` ")
    assert found.remedies[0].summary.endswith(KEEP_SCALARS)
    assert found == carried_finding(
        found.remedies[0].summary,
        message="`history` and `loss` still hold step N's graph while step N+1's forward runs.",
        cut=(CutReference("history", TRAIN, 24), CutReference("loss", TRAIN, 25)),
        **IDENTITY,
    )


def test_an_attribute_is_not_deleted_by_name() -> None:
    attribute = replace(HISTORY, kind="attribute", name="items", expression="trainer.items")

    found = check_suspect(carried(through_graph=True, holder=attribute))

    assert found is not None
    assert found.remedies[0].summary == f"drop it before the next forward{KEEP_SCALARS}"


def test_carried_memory_that_no_forward_made_is_none() -> None:
    assert check_suspect(carried()) is None


def test_a_growing_graph_is_none() -> None:
    assert check_suspect(suspect(through_graph=True, bytes_by_role={"ACTIVATION": 3 * MIB})) is None


def test_what_backward_left_on_a_ctx_could_be_freed_by_backward() -> None:
    facts = {"ctx_attribute": "grads", "ctx_type": "losses.TransducerBackward"}
    freed = check_suspect(carried(through_graph=True, facts=facts | {"left_on_ctx": True}))
    whole = check_suspect(carried(through_graph=True, facts=facts))

    assert [remedy.summary for remedy in (freed.remedies if freed else ())][1:] == [
        "or pass `grads` of Transducer through `ctx.save_for_backward(...)`: what backward frees is not carried"
    ]
    assert len(whole.remedies if whole else ()) == 1
    assert [each and evidence_of(each, "facts") for each in (freed, whole)] == [
        {"kind": "facts", **facts, "left_on_ctx": True},
        {"kind": "facts", **facts},
    ]


@pytest.mark.parametrize(("in_library", "confidence"), [(True, "possible"), (False, "certain")])
def test_a_graph_that_a_librarys_objects_keep_too_does_not_go_with_the_users_names(
    in_library: bool, confidence: str
) -> None:
    facts: dict[str, object] = {CUT_IN_LIBRARY: True} if in_library else {}

    found = check_suspect(carried(through_graph=True, facts=facts))

    assert found is not None
    assert found.confidence == confidence


def test_graphs_of_an_evaluation_are_left_to_another_rule() -> None:
    assert check_suspect(carried(through_graph=True, facts={EVALUATED_WITH_GRAPH: True})) is None


@pytest.mark.parametrize(
    ("size", "nodes", "confidence"), [(4, 35, "possible"), (4, 100, "certain"), (64 << 10, 0, "certain")]
)
def test_a_few_nodes_that_backward_left_of_a_graph_are_a_hint(size: int, nodes: int, confidence: str) -> None:
    found = check_suspect(carried(through_graph=True, retained_bytes=size, num_graph_nodes=nodes))

    assert found is not None
    assert found.confidence == confidence
