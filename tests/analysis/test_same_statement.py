from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HISTORY, MIB, TRAIN, carried, series, suspect
from tenure.analysis.same_statement import join_same_statement
from tenure.model.source import SourceLocation
from tenure.model.suspect import HoldingReference, Suspect

REGISTER = SourceLocation("/projects/asr/reporter.py", 12, "Reporter.register")


def item(key: str) -> HoldingReference:
    return HoldingReference(
        kind="item",
        name=f"stats['{key}']",
        expression=f"reporter.stats['{key}'][*]",
        owner_type="reporter.Reporter",
        element=True,
        container_type="list",
        sites=(REGISTER,),
    )


def test_results_and_keys_of_one_cache_are_one_suspect_and_count_each_storage_once() -> None:
    results = suspect(key=1, retained_bytes=4 * MIB)
    keys = suspect(
        key=2,
        retained_bytes=4 * MIB,
        bytes_by_role={"OTHER": MIB},
        series=series(0, MIB // 2, MIB),
        growth_bytes_per_step=MIB / 2,
        first_step=2,
        fingerprint="f2",
    )

    joined = replace(
        results,
        bytes_by_role={"OTHER": 4 * MIB},
        series=replace(results.series, bytes=(MIB, 2 * MIB + MIB // 2, 4 * MIB)),
        growth_bytes_per_step=1.5 * MIB,
    )
    assert join_same_statement([results, keys]) == (joined,)


def test_lists_of_one_dict_filled_by_one_statement_are_one_suspect_with_a_cut_for_each() -> None:
    loss = suspect(key=1, holder=item("loss"), fingerprint="loss", scalars=True)
    accuracy = suspect(key=2, holder=item("acc"), fingerprint="acc", scalars=True)

    (joined,) = join_same_statement([loss, accuracy])

    assert (joined.holder.name, joined.holder.expression) == ("stats", "reporter.stats[*][*]")
    assert joined.cut == (item("loss"), item("acc"))
    assert (joined.retained_bytes, joined.num_objects, joined.series.objects) == (6 * MIB, 6, (2, 4, 6))
    assert (joined.growth_bytes_per_step, joined.growth_objects_per_step) == (2.0 * MIB, 2.0)


def test_a_graph_and_tensors_behind_one_reference_are_one_suspect_told_by_the_graph() -> None:
    tensors = suspect(key=1, retained_bytes=9 * MIB)
    graph = suspect(key=2, through_graph=True, num_graph_nodes=40, fingerprint="graph")

    (joined,) = join_same_statement([tensors, graph])

    assert (joined.fingerprint, joined.through_graph, joined.num_graph_nodes) == ("graph", True, 40)
    assert (joined.key, joined.retained_bytes) == (1, 9 * MIB)


def test_of_what_one_reference_holds_the_path_leads_to_the_heaviest() -> None:
    keys = suspect(key=1, retained_bytes=4 * MIB, bytes_by_role={"OTHER": MIB}, fingerprint="keys")
    logits = suspect(key=2, retained_bytes=4 * MIB, bytes_by_role={"ACTIVATION": 3 * MIB}, fingerprint="logits")

    (joined,) = join_same_statement([keys, logits])

    assert (joined.fingerprint, joined.retained_bytes) == ("logits", 4 * MIB)


@pytest.mark.parametrize(
    "other",
    [
        suspect(key=2, holder=replace(HISTORY, name="other", sites=(SourceLocation(TRAIN, 25, "fit"),))),
        suspect(key=2, holder=replace(HISTORY, name="other"), copies_of="torchmetrics.Accuracy"),
        suspect(key=2, holder=replace(HISTORY, name="other", sites=())),
        suspect(key=2, holder=replace(HISTORY, name="other", owner_type="trainer.Trainer")),
        suspect(key=2, symptom="sawtooth", period_steps=8),
        carried(key=2),
    ],
    ids=["another line", "another kind of thing", "no statement", "another owner", "falls again", "another moment"],
)
def test_what_another_statement_makes_or_needs_another_remedy_stays_apart(other: Suspect) -> None:
    assert join_same_statement([suspect(key=1), other]) == (suspect(key=1), other)


def test_scalars_and_tensors_that_one_statement_keeps_are_told_as_tensors() -> None:
    scalars = suspect(key=2, holder=item("loss"), fingerprint="loss", scalars=True)
    tensors = suspect(key=1, holder=item("entropy"), fingerprint="entropy", retained_bytes=9 * MIB)

    (joined,) = join_same_statement([tensors, scalars])

    assert (joined.scalars, joined.fingerprint, joined.retained_bytes) == (False, "entropy", 12 * MIB)
    assert joined.holder.expression == "reporter.stats[*][*]"


def test_rings_and_unknown_holders_are_never_joined() -> None:
    unknown = HoldingReference(kind="unknown", name="unseen owner", expression="unseen owner")
    ring = suspect(symptom="cycle", cyclic=True)
    unseen = suspect(holder=unknown)

    assert join_same_statement([ring, ring, unseen, unseen]) == (ring, ring, unseen, unseen)


@pytest.mark.parametrize(("kind", "name"), [("gradient", "backward"), ("hook", "saved_tensors_hooks")])
def test_rings_that_one_call_closes_are_one_suspect(kind: str, name: str) -> None:
    made = replace(HISTORY, kind=kind, name=name, element=False)
    rings = [
        suspect(key=1, symptom="cycle", holder=made, fingerprint="exp"),
        suspect(key=2, symptom="cycle", holder=made, fingerprint="pow", retained_bytes=MIB, series=series(0, 0, MIB)),
    ]

    (joined,) = join_same_statement(rings)
    assert (joined.fingerprint, joined.retained_bytes, joined.num_objects) == ("exp", 4 * MIB, 6)
    assert joined.series == replace(series(MIB, 2 * MIB, 4 * MIB), objects=(2, 4, 6))


@pytest.mark.parametrize(("shared", "retained"), [(False, 7 * MIB), (True, 4 * MIB)])
def test_rings_in_objects_of_a_library_that_one_statement_makes_are_one_suspect(shared: bool, retained: int) -> None:
    """Their storages are of the last census, what they hold of the one that found most."""
    auroc, recall = (
        HoldingReference("cycle", "scores", f"{name}.compute", sites=(REGISTER,), library_sites=(REGISTER,))
        for name in ("AUROC", "Recall")
    )
    storages = frozenset({(1, 4 * MIB)})
    rings = [
        suspect(symptom="cycle", holder=auroc, cut=(auroc,), retained_bytes=5 * MIB, storages=storages),
        suspect(symptom="cycle", holder=recall, cut=(recall,), retained_bytes=2 * MIB,
                storages=storages if shared else frozenset({(2, MIB)})),
    ]  # fmt: skip

    (joined,) = join_same_statement(rings)

    assert (joined.cut, joined.retained_bytes) == ((auroc, recall), retained)


def test_what_one_statement_carries_is_one_suspect_and_a_name_covers_what_lies_in_it() -> None:
    update = SourceLocation(TRAIN, 17, "step")
    last = HoldingReference(kind="attribute", name="last", expression="panel.last", sites=(update,))
    loss = replace(last, kind="item", name="last['loss']", expression="panel.last['loss']", owner_type="dict")
    whole = carried(key=1, holder=last, retained_bytes=9 * MIB)
    graph = carried(key=2, holder=loss, through_graph=True, fingerprint="graph")

    (joined,) = join_same_statement([whole, graph])

    assert (joined.holder, joined.cut, joined.retained_bytes) == (last, (last,), 9 * MIB)
    assert (joined.through_graph, joined.fingerprint, joined.num_objects) == (True, "graph", 6)


def test_a_cut_of_several_items_by_one_statement_names_each() -> None:
    first, second = replace(item("loss"), element=False), replace(item("acc"), element=False)

    (joined,) = join_same_statement([carried(key=1, holder=first), carried(key=2, holder=second)])

    assert (joined.cut, joined.retained_bytes) == ((first, second), 6 * MIB)


def test_references_that_read_alike_are_told_once() -> None:
    closure = HoldingReference(kind="closure", name="seen", expression="seen", scope_file=TRAIN, scope_function="hook")
    located = replace(closure, sites=(REGISTER,))
    elsewhere = replace(located, scope_file="/projects/asr/other.py")

    (told,) = join_same_statement([suspect(cut=(located, located, elsewhere, closure, closure))])

    assert told.cut == (located, closure)


def test_two_lists_that_one_call_into_a_library_fills_are_one_suspect_with_both_lines_inside() -> None:
    def filled(name: str, line: int) -> HoldingReference:
        inside = (SourceLocation("/site-packages/metrics.py", line, "Curve.update"),)
        return replace(HISTORY, kind="attribute", name=name, expression=f"auroc.{name}[*]", library_sites=inside)

    preds = suspect(key=1, holder=filled("preds", 170), retained_bytes=4 * MIB)
    target = suspect(key=2, holder=filled("target", 171), fingerprint="f2")

    (joined,) = join_same_statement([preds, target])

    assert joined.cut == (preds.holder, target.holder)
    assert [site.line for site in joined.holder.library_sites] == [170, 171]
    assert (joined.holder.name, joined.retained_bytes) == ("preds", 7 * MIB)


def test_a_list_comes_before_the_tensor_that_the_same_call_makes_of_all_it_has() -> None:
    rows = suspect(key=1, holder=item("rows"), retained_bytes=2 * MIB, fingerprint="rows")
    whole = HoldingReference("attribute", "whole", "reporter.whole", "reporter.Reporter", sites=(REGISTER,))
    stacked = suspect(key=2, holder=whole, retained_bytes=3 * MIB, fingerprint="whole")

    (joined,) = join_same_statement([rows, stacked])

    assert (joined.holder.name, joined.holder.element, joined.cut) == ("stats['rows']", True, (item("rows"), whole))
    assert joined.retained_bytes == 5 * MIB


def test_hooks_that_one_call_registers_on_modules_of_several_kinds_are_one_suspect() -> None:
    """`for layer in net.children(): layer.register_forward_hook(...)`: some keep tensors, others nothing yet."""
    hooks = [
        replace(
            HISTORY, kind="hook", name="_forward_hooks", expression=f"net['{at}']._forward_hooks[*]", owner_type=kind
        )
        for at, kind in enumerate(("Conv2d", "Linear"))
    ]
    first = suspect(key=1, holder=hooks[0])
    second = suspect(key=2, holder=hooks[1], retained_bytes=0, device="", bytes_by_role={}, fingerprint="f2")

    (joined,) = join_same_statement([first, second])

    assert (joined.holder, joined.cut, joined.retained_bytes) == (hooks[0], tuple(hooks), first.retained_bytes)
    plain = [replace(each, holder=replace(each.holder, kind="attribute")) for each in (first, second)]
    assert len(join_same_statement(plain)) == 2


def test_of_graphs_that_one_statement_keeps_some_may_be_seen_in_fewer_censuses() -> None:
    """The last one was cut short: of the second graph it says nothing."""
    seen = suspect(through_graph=True, series=replace(series(MIB, 2 * MIB, 3 * MIB), steps=(1, 2, 3)))
    shorter = replace(seen, key=8, fingerprint="f2", series=replace(series(MIB, 2 * MIB, 9), steps=(1, 2, 3)))
    fewer = replace(
        shorter.series, steps=(1, 2), bytes=(MIB, 2 * MIB), objects=shorter.series.objects[:2],
        graph_nodes=shorter.series.graph_nodes[:2],
    )  # fmt: skip

    (joined,) = join_same_statement([seen, replace(shorter, series=fewer)])

    assert (joined.series.steps, joined.series.bytes) == ((1, 2), (2 * MIB, 4 * MIB))
    assert len(joined.series.objects) == len(joined.series.graph_nodes) == 2


def test_what_one_call_notes_in_a_librarys_table_and_outlasts_its_use_is_one_suspect() -> None:
    """A learning-rate leg per domain, each with an optimizer that `prepare` appends."""

    def noted(at: int) -> Suspect:
        inside = (SourceLocation("/site-packages/accelerator.py", 2492, "Accelerator.prepare_optimizer"),)
        holder = replace(
            HISTORY, kind="attribute", name="_optimizers", expression=f"acc._optimizers[{at}]", library_sites=inside
        )
        return suspect(key=at, symptom="survivor", holder=holder, retained_bytes=at * MIB, bytes_by_role={})

    (joined,) = join_same_statement([noted(1), noted(2)])

    assert (joined.holder.expression, joined.retained_bytes) == ("acc._optimizers[*]", 3 * MIB)
    assert [each.expression for each in joined.cut] == ["acc._optimizers[2]", "acc._optimizers[1]"]
