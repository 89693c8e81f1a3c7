from __future__ import annotations

from dataclasses import replace
from typing import Any

from suspects import finding
from tenure.analysis.arbitrate import explain_bytes_once
from tenure.model.finding import CutReference, Finding, Holder

MIB = 1 << 20


def told(rule: str, *addresses: int, at: int = 9, **changes: Any) -> Finding:
    """A finding whose cut frees one MiB at each address."""
    storages = frozenset((address, MIB) for address in addresses)
    values = {"name": rule.lower(), "message": rule, "fingerprint": rule, "retained_bytes": len(storages) * MIB}
    return finding("r", rule=rule, storages=storages, storages_at=at, **{**values, **changes})


def carried(rule: str, *addresses: int, **changes: Any) -> Finding:
    return told(rule, *addresses, symptom="peak", growth_bytes_per_step=None, **changes)


def held_in(expression: str) -> Holder:
    return Holder("attribute", "x", expression, "train.py", 3, "fit")


def short(findings: tuple[Finding, ...]) -> list[tuple[str, int | None]]:
    return [(each.rule, each.retained_bytes and each.retained_bytes // MIB) for each in findings]


def test_findings_of_different_memory_stay_as_they_are() -> None:
    pair = (told("TN101", 1, 2), carried("TN102", 3))
    assert explain_bytes_once(pair) == pair


def test_what_a_stronger_finding_explains_becomes_its_evidence() -> None:
    (kept,) = explain_bytes_once([carried("TN102", 1, 2), told("TN101", 1, 2, 3)])
    assert kept.rule == "TN101"
    assert kept.evidence[-1] == {
        "kind": "also", "rule": "TN102", "expression": "history[*]",
        "file": "/projects/asr/train.py", "line": 24, "bytes": 2 * MIB,
    }  # fmt: skip


def test_of_what_is_explained_in_part_the_rest_is_told() -> None:
    kept = explain_bytes_once([told("TN101", 1, 2), told("TN202", 2, 3, 4, 5)])
    assert short(kept) == [("TN101", 2), ("TN202", 3)]
    assert kept[1].evidence[-1] == {"kind": "elsewhere", "bytes": MIB}


def test_a_known_and_sure_cause_is_stronger_than_an_unknown_an_unsure_or_a_general_one() -> None:
    for weaker in (
        told("TN900", 1),
        told("TN101", 1, confidence="possible"),
        told("TN101", 1, confidence="likely"),
        told("TN203", 1),
        carried("TN106", 1),
    ):
        assert [each.rule for each in explain_bytes_once([weaker, told("TN404", 1)])] == ["TN404"]


def test_addresses_of_two_censuses_are_compared_only_where_the_memory_lasts() -> None:
    assert len(explain_bytes_once([told("TN101", 1, at=9), carried("TN102", 1, at=8)])) == 2
    assert len(explain_bytes_once([told("TN101", 1, at=9), told("TN401", 1, at=8, symptom="survivor")])) == 1


def test_several_releases_that_one_reference_keeps_are_one_finding() -> None:
    one = told("TN404", 1, symptom="survivor", growth_bytes_per_step=None)
    other = replace(one, storages=frozenset({(2, MIB)}), message="second", fingerprint="f2", explains=(3,))
    (kept,) = explain_bytes_once([one, other])
    assert short((kept,)) == [("TN404", 2)]
    assert kept.evidence[-1] == {"kind": "merged", "messages": ["second"]}


def test_what_two_releases_have_in_common_counts_once() -> None:
    one = told("TN401", 1, 2, symptom="survivor", growth_bytes_per_step=None)
    other = replace(one, storages=frozenset({(2, MIB), (3, MIB)}), message="second", fingerprint="f2")
    assert short(explain_bytes_once([one, other])) == [("TN401", 3)]


def test_what_is_added_to_a_finding_is_never_what_another_tells() -> None:
    strong = told("TN101", 1, 2, holder=held_in("first"))
    whole = told("TN404", 1, symptom="survivor", growth_bytes_per_step=None, holder=held_in("optimizer"))
    inside = told("TN203", 1, 2, 3, holder=replace(held_in("optimizer.state[*]"), line=5))
    assert short(explain_bytes_once([strong, whole, inside])) == [("TN101", 2), ("TN203", 1)]

    ring, on_other = on_ctx("TN103", 5, 6, symptom="cycle"), on_ctx("TN103", 1, 2, 7, confidence="likely")
    assert short(explain_bytes_once([strong, ring, on_other])) == [("TN101", 2), ("TN103", 3)]

    sums = replace(held_in("m['a'].sum"), name="sum")
    lists = [
        told("TN202", 3, 5, 6, 7, holder=sums),
        told("TN202", 1, 2, 4, holder=replace(sums, expression="m['b'].sum")),
    ]
    assert short(explain_bytes_once([strong, *lists])) == [("TN101", 2), ("TN202", 5)]


def test_what_one_statement_adds_in_several_places_grows_by_the_sum() -> None:
    sums = replace(held_in("m['a'].sum"), name="sum")
    first = told("TN202", 3, 5, holder=sums)
    second = told("TN202", 1, holder=replace(sums, expression="m['b'].sum"), growth_bytes_per_step=5.0 * MIB)
    (kept,) = explain_bytes_once([first, second])
    assert (kept.retained_bytes, kept.growth_bytes_per_step) == (3 * MIB, 6.0 * MIB)


def test_one_reference_in_common_does_not_hide_more_memory_behind_another() -> None:
    loss, cache = CutReference("loss", "train.py", 10), CutReference("cache", "train.py", 20)
    small = carried("TN102", 1, cut=(loss,))
    large = carried("TN106", *range(50, 60), at=5, confidence="likely", cut=(loss, cache))
    assert short(explain_bytes_once([small, large])) == [("TN102", 1), ("TN106", 10)]
    assert short(explain_bytes_once([small, replace(large, cut=(loss,))])) == [("TN102", 1)]


def test_a_collection_inside_of_what_is_named_already_adds_its_bytes_there() -> None:
    whole = told("TN404", 1, symptom="survivor", growth_bytes_per_step=None, holder=held_in("optimizer"))
    inside = told("TN203", 1, 2, 3, holder=held_in("optimizer.state[*]"))
    empty = told("TN202", holder=held_in("optimizer.param_groups[*]"))
    beside = told("TN202", 7, holder=held_in("optimizers[*]"))

    kept = explain_bytes_once([inside, whole, empty, beside])

    assert short(kept) == [("TN404", 3), ("TN202", 1)]
    assert kept[0].growth_bytes_per_step == float(MIB)


def test_the_bytes_explained_are_those_of_the_union_in_any_order() -> None:
    several = [told("TN101", 1, 2, 3), told("TN202", 3, 4, 5), carried("TN102", 5, 6), told("TN900", 1, 6, 7, 8)]
    for order in (several, several[::-1]):
        assert sum(each.retained_bytes or 0 for each in explain_bytes_once(order)) == 8 * MIB


def test_what_one_reference_carries_is_told_once_though_seen_in_two_steps() -> None:
    entry, peak = carried("TN102", 1, 2, at=9), carried("TN106", 5, at=6, confidence="likely")
    elsewhere = replace(peak, cut=(replace(peak.cut[0], line=99),))
    assert [each.rule for each in explain_bytes_once([peak, entry])] == ["TN102"]
    assert [each.rule for each in explain_bytes_once([elsewhere, entry])] == ["TN102", "TN106"]


def test_what_hangs_on_hooks_that_pile_up_goes_with_them() -> None:
    path = ("global `net` in main (main.py)", "._forward_hooks", "[7]", "default of parameter `ctx` of before")
    hooks = carried("TN303", 1, 3, path=path)
    cut, inside = (CutReference("ctx", "hooks.py", 3),), ("local variable `net`", "._forward_hooks", "[3]")
    same = carried("TN106", 2, at=6, holder=held_in("ctx"), path=inside, cut=cut)
    others = (
        replace(same, path=("local variable `net`", "._forward_pre_hooks", "[3]")),
        replace(same, path=("local variable `net`", ".ctx")),
        replace(same, symptom="growth"),
        replace(same, ranks=(1,)),
    )

    assert short(explain_bytes_once([hooks, same])) == [("TN303", 2)]
    assert [len(explain_bytes_once([hooks, other])) for other in others] == [2] * len(others)
    assert len(explain_bytes_once([replace(hooks, rule="TN102"), same])) == 2


def test_what_a_stronger_finding_says_to_drop_is_not_told_again_without_memory() -> None:
    caches = (CutReference("index", "sets.py", 3), CutReference("lags", "sets.py", 9))
    heavy = told("TN205", 1, cut=caches)
    light = told("TN205", holder=Holder("cache", "lags", "Rows.lags[*]", "sets.py", 9, "Rows"), fingerprint="f2")

    assert short(explain_bytes_once([heavy, light])) == [("TN205", 1)]
    assert len(explain_bytes_once([heavy, replace(light, rule="TN202")])) == 2


def test_the_newest_of_what_a_statement_adds_is_not_told_beside_those_before() -> None:
    older, newest = told("TN302", 1, 2), carried("TN302", 3)
    elsewhere = replace(newest, holder=replace(newest.holder, line=99))

    assert short(explain_bytes_once([older, newest])) == [("TN302", 2)]
    assert short(explain_bytes_once([older, elsewhere])) == [("TN302", 2), ("TN302", 1)]
    assert short(explain_bytes_once([older, replace(newest, rule="TN102")])) == [("TN302", 2), ("TN102", 1)]


def test_what_one_statement_keeps_in_several_places_is_one_finding_with_all_that_was_seen_at_once() -> None:
    sums = [
        replace(
            told("TN101", *addresses, symptom="sawtooth", **changes),
            holder=Holder("attribute", "sum", f"meters['{name}'].sum", "meters.py", 24, "update"),
            cut=(CutReference(f"meters['{name}'].sum", "meters.py", 24),),
        )
        for name, addresses, changes in (("train", (1, 2, 3), {}), ("inner", (3, 4), {}), ("old", (5,), {"at": 4}))
    ]

    (kept,) = explain_bytes_once(sums)

    assert (kept.holder.expression, kept.retained_bytes, len(kept.cut)) == ("meters['train'].sum", 4 * MIB, 3)
    assert [each["expression"] for each in kept.evidence if each["kind"] == "also"] == [
        "meters['inner'].sum",
        "meters['old'].sum",
    ]
    for other in (
        replace(sums[1], rule="TN107"),
        replace(sums[1], holder=replace(sums[1].holder, line=25)),
        replace(sums[1], holder=replace(sums[1].holder, name="square")),
        replace(sums[1], symptom="survivor"),
        replace(sums[1], ranks=(1,)),
    ):
        assert len(explain_bytes_once([sums[0], other])) == 2


def on_ctx(rule: str, *addresses: int, function: str = "GateBackward", freed: bool = True, **changes: Any) -> Finding:
    facts = {"kind": "facts", "ctx_type": function} | ({"left_on_ctx": True} if freed else {})
    return told(rule, *addresses, evidence=(facts,), fingerprint=str(addresses), **changes)


def test_what_one_function_keeps_on_its_ctx_is_one_finding_with_each_byte_once() -> None:
    ring = on_ctx("TN103", 1, 2, symptom="cycle", growth_bytes_per_step=2.0 * MIB)
    more = on_ctx(
        "TN103", 2, 3, 4, growth_bytes_per_step=3.0 * MIB, cut=(CutReference("z", "ops.py", 8),), confidence="likely"
    )

    (kept,) = explain_bytes_once([more, ring])

    assert (kept.symptom, kept.retained_bytes, kept.num_objects, kept.growth_bytes_per_step) == (
        "cycle",
        4 * MIB,
        ring.num_objects + 2,
        5.0 * MIB,
    )
    assert kept.cut == (*ring.cut, CutReference("z", "ops.py", 8))
    assert kept.evidence[-1]["bytes"] == 3 * MIB


def test_the_same_tensors_on_a_ctx_do_not_grow_twice() -> None:
    ring, again = on_ctx("TN103", 1, 2, symptom="cycle"), on_ctx("TN103", 1, 2, confidence="likely")

    assert [each.growth_bytes_per_step for each in explain_bytes_once([ring, again])] == [ring.growth_bytes_per_step]


def test_a_variable_that_carries_only_what_a_ctx_keeps_is_told_with_the_ctx() -> None:
    ring = on_ctx("TN103", 1, 2, symptom="cycle")
    passing = {"symptom": "peak", "growth_bytes_per_step": None, "at": 12}

    assert short(explain_bytes_once([ring, on_ctx("TN102", 7, **passing)])) == [("TN103", 2)]
    for other in (
        on_ctx("TN102", 7, freed=False, **passing),
        on_ctx("TN102", 7, function="LossBackward", **passing),
        on_ctx("TN102", 7, ranks=(1,), **passing),
        on_ctx("TN101", 7),
    ):
        assert len(explain_bytes_once([ring, other])) == 2


def test_two_functions_are_two_findings() -> None:
    assert len(explain_bytes_once([on_ctx("TN103", 1), on_ctx("TN103", 2, function="LossBackward")])) == 2


def test_what_one_reference_holds_for_good_and_idle_at_the_peak_is_one_finding_that_explains_both() -> None:
    still = told("TN403", 1, 2, symptom="survivor", confidence="likely")
    idle = carried("TN106", 7, peak_bytes=9 * MIB, peak_drop_bytes=MIB, peak_basis="seen")

    (kept,) = explain_bytes_once([idle, still])

    assert (kept.rule, kept.peak_bytes, kept.peak_drop_bytes, kept.peak_basis) == ("TN403", 9 * MIB, MIB, "seen")
    assert kept.evidence[-1]["rule"] == "TN106"
