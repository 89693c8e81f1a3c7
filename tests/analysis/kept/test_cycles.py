# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

from heaps import census
from tenure.analysis.suspects import find_suspects

RING = """
island -> __main__.Trainer#trainer* -> .callbacks __main__.Writer#writer* -> .trainer __main__.Trainer#trainer*
island -> __main__.Trainer#trainer* -> .data tensor#data* 1MiB
"""


def rings(*numbers: int) -> str:
    return "main.x -> list -> [0] tensor 4B\n" + "".join(RING.replace("*", str(number)) for number in numbers)


def rates_of(*texts: str) -> list[tuple[str, int, float | None]]:
    censuses = [census(text, step=2 * number) for number, text in enumerate(texts, start=1)]
    return [
        (suspect.symptom, suspect.retained_bytes, suspect.growth_bytes_per_step) for suspect in find_suspects(censuses)
    ]


def test_new_rings_per_step_are_the_rate_where_none_was_collected_between() -> None:
    collected = rings(9)
    found = rates_of(rings(1, 2), rings(1, 2, 3, 4), collected, rings(9, 10, 11))

    assert found == [("cycle", 4 << 20, float(1 << 20))]


def test_kinds_of_rings_that_take_turns_are_told_at_the_rate_of_each() -> None:
    def others(*numbers: int) -> str:
        return "".join(RING.replace("Writer", "Logger").replace("*", str(number)) for number in numbers)

    found = rates_of(rings(1), rings(1) + others(20), rings(1, 2) + others(20), rings(1, 2) + others(20, 21))

    assert sorted(found) == [("cycle", 2 << 20, (1 << 20) / 6), ("cycle", 2 << 20, (2 << 20) / 6)]


def test_what_a_collection_took_of_the_newest_rings_does_not_lower_the_rate() -> None:
    found = rates_of(rings(1), rings(1, 2, 3), rings(1, 2, 3, 4), rings(1, 2, 3, 4, 5, 6))

    assert found == [("cycle", 6 << 20, float(1 << 20))]


def test_what_collections_took_of_most_of_the_new_rings_does_not_lower_the_rate_either() -> None:
    found = rates_of(rings(1, 2), rings(1, 2, 3, 4), rings(1, 2, 3, 4, 5), rings(1, 2, 3, 4, 5, 6))

    assert found == [("cycle", 6 << 20, float(1 << 20))]


def test_experiments_are_made_on_the_rings_that_were_there_last() -> None:
    texts = (rings(1, 2), rings(1, 2, 3, 4), rings(9), rings(10, 11), "")
    (suspect,) = find_suspects([census(text, step=step) for step, text in enumerate(texts, start=1)])

    assert (suspect.retained_bytes, suspect.storages_at) == (4 << 20, 4)
    assert sum(size for _, size in suspect.storages) == 2 << 20
    assert len(suspect.drops) == 2


def test_experiments_are_made_on_the_few_rings_that_a_collection_just_before_left() -> None:
    (suspect,) = find_suspects([census(rings(*range(count)), step=step) for step, count in ((1, 4), (2, 8), (3, 1))])

    assert (suspect.retained_bytes, suspect.storages_at) == (8 << 20, 3)
    assert sum(size for _, size in suspect.storages) == 1 << 20


def test_no_rate_is_told_where_the_collector_was_always_faster() -> None:
    assert rates_of(rings(1, 2), rings(3, 4), rings(5)) == [("cycle", 2 << 20, None)]


def test_one_ring_left_over_from_the_start_does_not_grow() -> None:
    assert rates_of(rings(1), rings(1), rings(1)) == [("cycle", 1 << 20, None)]


HOOKED = """
island -> __main__.Rule#rule* -> .stored dict#stored* -> ['output'] tensor#out* 1MiB -> .grad_fn AddmmBackward0#add* unseen=1
island -> __main__.Rule#rule* -> .stored dict#stored* -> ['output'] tensor#out* -> <hook> collections.OrderedDict#hooks* unseen=1 -> [0] __main__.Rule#rule*
"""


def test_a_ring_through_a_tensors_own_hook_has_no_other_owner() -> None:
    """The node that made the tensor keeps its hooks too, and Python keeps a wrapper of the node."""
    drawn = [
        "main.x -> list -> [0] tensor 4B\n" + "".join(HOOKED.replace("*", str(n)) for n in range(count))
        for count in (2, 4, 6)
    ]

    found = rates_of(*drawn)

    assert found == [("cycle", 6 << 20, float(1 << 20))]


def test_another_owner_of_the_hooks_may_be_in_use() -> None:
    held = HOOKED.replace("#hooks* unseen=1", "#hooks* unseen=2")
    drawn = ["main.x -> list -> [0] tensor 4B\n" + held.replace("*", "0")] * 3

    assert rates_of(*drawn) == []


def test_of_rings_that_hold_rings_each_is_cut_by_what_the_same_statement_made() -> None:
    """One layer's function keeps its output, whose graph holds the layer below, which does the same."""
    layers = "".join(
        f"island -> SpikeBackward#f{at} -> .kept tensor#t{at} 1MiB -> .grad_fn SpikeBackward#f{at}"
        + (f" -> .next SpikeBackward#f{at - 1}\n" if at % 3 else "\n")
        for at in range(6)
    )
    found = find_suspects([census("main.x -> list -> [0] tensor 4B\n" + layers, step=step) for step in (2, 4)])

    assert [(each.symptom, each.retained_bytes, len(each.drops)) for each in found] == [("cycle", 6 << 20, 6)]
    assert {drop.label for drop in found[0].drops} == {"kept"}


def test_a_ring_through_what_a_pack_hook_gave_back_is_told_with_the_call_that_put_the_hook_in_place() -> None:
    packed = "island -> tensor#y* 1MiB -> .grad_fn TanhBackward0#tanh* -> <hook> tensor#y*\n"
    drawn = [
        "main.x -> list -> [0] tensor 4B\n" + "".join(packed.replace("*", str(n)) for n in range(m)) for m in (2, 4)
    ]

    (found,) = find_suspects([census(text, step=2 * number) for number, text in enumerate(drawn, start=1)])

    assert (found.symptom, found.holder.kind, found.holder.name) == ("cycle", "hook", "saved_tensors_hooks")
    assert (found.facts["packed_as_it_is"], found.facts["owned_by_cpp_too"]) == (True, True)


def test_a_record_on_ctx_that_has_the_output_is_told_by_ctx_and_not_by_its_own_field() -> None:
    ring = "island -> SplineBackward#f* -> .cells __main__.Cells#c* -> .values tensor#t* 1MiB -> .grad_fn SplineBackward#f*\n"
    drawn = ["main.x -> list -> [0] tensor 4B\n" + "".join(ring.replace("*", str(n)) for n in range(m)) for m in (2, 4)]

    (found,) = find_suspects([census(text, step=2 * number) for number, text in enumerate(drawn, start=1)])

    assert (found.holder.name, found.facts["ctx_attribute"], [drop.label for drop in found.drops]) == (
        "cells",
        "cells",
        ["cells"] * 4,
    )


def test_of_a_ring_that_a_gradient_closes_the_gradients_are_dropped() -> None:
    ring = (
        "island -> AddBackward0#add* -> .next AccumulateGrad#acc* -> .variable tensor#x* 1MiB -> .grad tensor#g* 1MiB"
        " -> .grad_fn AddBackward0#add*\n"
    )
    drawn = ["main.x -> list -> [0] tensor 4B\n" + "".join(ring.replace("*", str(n)) for n in range(m)) for m in (2, 4)]

    (found,) = find_suspects([census(text, step=2 * number) for number, text in enumerate(drawn, start=1)])

    assert (found.holder.kind, [drop.kind for drop in found.drops]) == ("gradient", ["GRAD"] * 4)


def test_a_ring_that_came_to_lie_where_another_lay_is_another() -> None:
    """Of the rings that came meanwhile only one is left: nothing is known of such steps."""

    def at_one_place(*serials: int) -> str:
        return "".join(
            RING.replace("*", str(place)).replace("1MiB", f"1MiB serial={serial}")
            for place, serial in enumerate(serials)
        )

    texts = [f"main.x -> list -> [0] tensor 4B\n{at_one_place(*serials)}" for serials in ((1,), (5,), (5, 6, 7))]

    assert rates_of(*texts) == [("cycle", 3 << 20, float(1 << 20))]


def test_where_each_step_brings_a_ring_steps_without_a_new_one_had_a_collection() -> None:
    """It passes over the ring that it met before: only newer ones went."""
    texts = {2: rings(1), 4: rings(1), 8: rings(1, 2, 3, 4, 5)}
    censuses = [census(text, step=step) for step, text in texts.items()]

    assert [suspect.growth_bytes_per_step for suspect in find_suspects(censuses)] == [float(1 << 20)]
