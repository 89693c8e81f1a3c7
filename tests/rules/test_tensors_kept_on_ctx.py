from dataclasses import replace

from suspects import MIB, ON_CTX, TRAIN, carried, carried_finding, finding, path_row, roles_row, series_row, suspect
from tenure.model.finding import CutReference, Holder
from tenure.model.suspect import HoldingReference
from tenure.rules.tensors_kept_on_ctx import check_suspect

REMEDY = (
    "pass it through `ctx.save_for_backward(...)` and read `ctx.saved_tensors`: those are freed by backward, "
    "and an output saved that way makes no cycle"
)
IDENTITY = {"rule": "TN103", "name": "tensors-kept-on-ctx"}
MESSAGE = "`ctx.y` of Softplus keeps a tensor where backward does not free it"
PLACE = {
    "holder": Holder("attribute", "y", "ctx.y", TRAIN, 9, "Softplus.forward"),
    "cut": (CutReference("y", TRAIN, 9),),
}
FACTS = {"ctx_attribute": "y", "ctx_type": "layers.SoftplusBackward"}


def test_a_ring_through_an_attribute_of_ctx_is_a_tensor_kept_there() -> None:
    ring = suspect(symptom="cycle", cyclic=True, holder=ON_CTX, facts=FACTS)

    assert check_suspect(ring) == finding(
        REMEDY,
        message=f"{MESSAGE}, and closes a cycle through its own graph.",
        symptom="cycle",
        evidence=(
            path_row(),
            series_row(MIB, 2 * MIB, 3 * MIB),
            roles_row(),
            {"kind": "facts", **FACTS},
        ),
        **PLACE,
        **IDENTITY,
    )


def test_an_intermediate_that_is_carried_on_ctx_is_one_without_a_ring() -> None:
    assert check_suspect(carried(holder=ON_CTX, facts=FACTS)) == carried_finding(
        REMEDY,
        message=f"{MESSAGE}.",
        evidence=(
            path_row(),
            series_row(3 * MIB, 3 * MIB, 3 * MIB, moment="forward-entry"),
            roles_row(),
            {"kind": "facts", **FACTS},
        ),
        **PLACE,
        **IDENTITY,
    )


def test_whose_graphs_keep_it_is_said_and_how_much_that_comes_to() -> None:
    keepers = (HoldingReference("local", "costs", "costs[*]"), HoldingReference("local", "seen", "seen[*]"))

    by_one, by_both = (check_suspect(suspect(holder=ON_CTX, cut=cut, facts=FACTS)) for cut in (keepers[:1], keepers))

    assert by_one is not None
    assert by_both is not None
    assert by_one.message == f"{MESSAGE}, while `costs[*]` keeps its graph: 1.00 MiB per step."
    assert by_both.message == f"{MESSAGE}, while `costs[*]` and `seen[*]` keep its graph: 1.00 MiB per step."
    assert [remedy.summary for remedy in by_both.remedies] == [
        REMEDY,
        "or keep no graph past its backward pass: `.detach()`, `.item()`, `del` after the last use",
    ]


def test_what_someone_else_holds_is_none_though_its_path_leads_over_a_ctx() -> None:
    assert check_suspect(carried(holder=replace(ON_CTX, owner_type="Trainer"), facts=FACTS)) is None


def test_a_ring_without_a_ctx_is_none() -> None:
    assert check_suspect(suspect(symptom="cycle", cyclic=True, holder=ON_CTX)) is None


def test_attributes_that_each_close_a_ring_are_told_together() -> None:
    found = check_suspect(
        suspect(symptom="cycle", cyclic=True, holder=ON_CTX, cut=(ON_CTX, replace(ON_CTX, name="z")), facts=FACTS)
    )

    assert found is not None
    assert (found.message, found.remedies[0].summary) == (
        "`ctx.y` and `ctx.z` of Softplus keep tensors where backward does not free them, "
        "and each closes a cycle through its own graph.",
        REMEDY.replace("pass it", "pass them"),
    )


def test_what_a_function_saves_for_backward_and_that_only_its_own_node_leads_to_grows_where_no_backward_follows() -> (
    None
):
    saved = HoldingReference("saved", "save_for_backward", ".saved", owner_type="AtomsBackward")

    found = check_suspect(suspect(holder=saved))

    assert found is not None
    assert (found.rule, found.symptom, found.holder.kind, found.message) == (
        "TN103",
        "growth",
        "saved",
        "`save_for_backward` of Atoms keeps tensors that lead back to its own node, as a view of its output does: "
        "1.00 MiB per step where no backward pass follows, and no collection frees them.",
    )
    assert check_suspect(suspect(holder=saved, symptom="peak")) is None
