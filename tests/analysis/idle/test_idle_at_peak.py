from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heaps import census
from profiles import MIB, profile
from suspects import carried, hop, series
from tenure.analysis.idle.idle_at_peak import BASIS, BASIS_OF_COPIES, find_idle_at_peak
from tenure.analysis.idle.owners_on_the_way import find_owners
from tenure.analysis.idle.peak_figures import (
    give_figures_of_what_rests,
    give_peak_figures,
    told_where_they_add_to_no_peak,
    with_higher_peaks,
)
from tenure.analysis.idle.step_replay import Replay
from tenure.analysis.kept.carried import OUTLASTS_A_STEP
from tenure.model.heap import Census, NodeKind
from tenure.model.profile import NO_USES
from tenure.model.source import SourceFile
from tenure.model.suspect import ADDS_TO_NO_PEAK, IN_WINDOW, INSIDE_OF_IDLE, PEAK_NOT_MET, WAITS, HoldingReference

ALIVE, BEFORE = -1, -1
LOGITS, OTHER, WEIGHTS = 100, 200, 300
FRAME = "train_step(train.py:20)"


def seen(*lines: str, addresses: tuple[int, ...]) -> Census:
    """A census whose storages have these addresses, in the order of their lines."""
    made = census("\n".join(lines), step=6, moment="peak")
    address = made.nodes.address.copy()
    address[made.storages.node] = addresses
    assert (made.nodes.kind[made.storages.node] == NodeKind.STORAGE).all()
    return replace(made, nodes=replace(made.nodes, address=address))


def two_names(label: str = "logits") -> Census:
    return seen(
        f"{FRAME}.{label} -> tensor 4MiB activation",
        f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter",
        addresses=(LOGITS, WEIGHTS),
    )


# Steps of five operations; at the third (2 and 7) memory peaks. Logits: made at 0, used at 1, freed after 3.
IN_BOTH = (
    (90, 4, 0, 1, 3),
    (LOGITS, 4, 5, 6, 8),
    (91, 3, 2, 2, 2),
    (OTHER, 3, 7, 7, 7),
    (WEIGHTS, 2, BEFORE, 9, ALIVE),
)


def test_what_is_used_before_the_peak_and_freed_after_is_told_with_the_true_fall_of_the_peak() -> None:
    found = find_idle_at_peak(Replay(profile(*IN_BOTH), two_names()))

    assert [(s.symptom, s.holder.name, s.retained_bytes) for s in found] == [("peak", "logits", 4 * MIB)]
    # 4 + 3 + 2 MiB at the peak; without the logits 4 + 2 stand at operation 5 and 6.
    assert (found[0].peak_bytes, found[0].peak_drop_bytes, found[0].peak_basis) == (9 * MIB, 3 * MIB, BASIS)
    assert found[0].facts == {
        "idle_at_peak": True,
        "made_by": {"operation": "aten.mm.default", "phase": "forward", "file": "/p/train.py", "line": 10},
        "last_used_by": {"operation": "aten.mm.default", "phase": "forward", "file": "/p/train.py", "line": 11},
        "peak_at": {"operation": "aten.mm.default", "phase": "forward", "file": "/p/train.py", "line": 12},
        "seen_in_both_steps": True,
    }
    assert (found[0].series.steps, found[0].series.bytes) == ((5, 6), (4 * MIB, 4 * MIB))


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("/v/lib/python3.11/site-packages/torch/optim/adam.py", 0),
        ("/v/lib/python3.11/site-packages/torchtitan/train.py", 1),
        ("/home/me/torch/train.py", 1),
    ],
)
def test_what_a_running_function_of_torch_works_with_is_nobodys_to_drop(file: str, told: int) -> None:
    running = seen(
        f"_single_tensor_adam({file}:544).denom -> tensor 4MiB activation",
        f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter",
        addresses=(LOGITS, WEIGHTS),
    )
    assert len(find_idle_at_peak(Replay(profile(*IN_BOTH), running))) == told


def test_a_step_with_two_batches_falls_by_what_each_of_them_leaves_idle() -> None:
    # Per step twice: logits made, used, backward at the peak; the first logits go when the second are made.
    lines = ((90, 4, 0, 1, 2), (91, 4, 3, 4, 5), (LOGITS, 4, 6, 7, 8), (92, 4, 9, 10, 11))
    backward = tuple((OTHER + at, 3, at, at, at) for at in (2, 5, 8, 11))
    made = profile(*lines, *backward, (WEIGHTS, 2, BEFORE, 11, ALIVE), operations=12, second=6, census_op=8)
    same_lines = replace(made, operations=replace(made.operations, site=np.arange(12) % 3))

    found = find_idle_at_peak(Replay(same_lines, two_names()))

    assert [(s.holder.name, s.peak_bytes, s.peak_drop_bytes) for s in found] == [("logits", 9 * MIB, 3 * MIB)]


def test_a_batch_that_was_made_before_both_steps_and_idles_until_the_next_one_replaces_it_is_told() -> None:
    # Each batch is made two steps ahead, used for the last time as its step is prepared (4 and 9), freed one later.
    staged = ((LOGITS, 4, BEFORE, 4, 8), (90, 4, 3, 9, ALIVE), (91, 3, 2, 2, 2), (OTHER, 3, 7, 7, 7))

    found = find_idle_at_peak(Replay(profile(*staged), two_names("batch")))

    assert [(s.holder.name, s.retained_bytes, s.peak_bytes, s.peak_drop_bytes) for s in found] == [
        ("batch", 4 * MIB, 13 * MIB, 4 * MIB)
    ]
    assert found[0].facts["seen_in_both_steps"]


def test_what_is_used_at_or_after_the_peak_is_not_idle() -> None:
    used_later = ((90, 4, 0, 3, 3), (LOGITS, 4, 5, 8, 8), (91, 5, 2, 2, 2), (OTHER, 5, 7, 7, 7))

    assert find_idle_at_peak(Replay(profile(*used_later), two_names())) == ()


def test_parameters_and_what_lasts_over_both_steps_are_not_idle() -> None:
    lasting = ((LOGITS, 4, BEFORE, 6, ALIVE), (91, 3, 2, 2, 2), (OTHER, 3, 7, 7, 7), (WEIGHTS, 2, 0, 6, 8))

    assert find_idle_at_peak(Replay(profile(*lasting), two_names())) == ()


def test_what_lives_at_the_end_is_idle_only_where_the_step_before_shows_that_it_is_dropped_unused() -> None:
    dropped = ((90, 4, 0, 1, 5), (LOGITS, 4, 5, 6, ALIVE), (91, 5, 2, 2, 2), (OTHER, 5, 7, 7, 7))
    used_again = ((90, 4, 0, 6, 6), (LOGITS, 4, 5, 6, ALIVE), (91, 5, 2, 2, 2), (OTHER, 5, 7, 7, 7))

    assert [s.holder.name for s in find_idle_at_peak(Replay(profile(*dropped), two_names()))] == ["logits"]
    assert find_idle_at_peak(Replay(profile(*used_again), two_names())) == ()


def test_a_batch_made_before_the_step_is_judged_by_the_batch_before_it() -> None:
    """Made by the last operation of the step before, as a loader does; used first; replaced at the end."""
    batches = ((89, 4, BEFORE, 0, 3), (LOGITS, 4, 4, 5, ALIVE), (91, 5, 2, 2, 2), (OTHER, 5, 7, 7, 7))
    data_set = ((89, 4, BEFORE, 0, ALIVE), (LOGITS, 4, 4, 5, ALIVE), (91, 5, 2, 2, 2), (OTHER, 5, 7, 7, 7))

    assert [s.holder.name for s in find_idle_at_peak(Replay(profile(*batches), two_names("batch")))] == ["batch"]
    assert find_idle_at_peak(Replay(profile(*data_set), two_names("batch"))) == ()


def test_of_a_queues_entries_that_each_step_joins_one_goes_and_the_others_stay() -> None:
    """Four keys: the oldest goes after the first step's concatenation, the next one after the second's."""
    keys = ((89, 4, BEFORE, 0, 3), (90, 4, BEFORE, 5, ALIVE), (LOGITS, 4, BEFORE, 5, ALIVE), (92, 4, 2, 5, ALIVE))
    peaks = ((93, 5, 2, 2, 2), (OTHER, 5, 7, 7, 7))
    alone = (*keys[:1], keys[2], *peaks)

    assert find_idle_at_peak(Replay(profile(*keys, *peaks), two_names("queue"))) == ()
    assert [s.holder.name for s in find_idle_at_peak(Replay(profile(*alone), two_names("batch")))] == ["batch"]


@pytest.mark.parametrize(("columns", "told"), [(400, ["columns"]), (3, [])])
def test_many_small_entries_of_one_container_weigh_together(columns: int, told: list[str]) -> None:
    """Each is less than a thousandth of the peak, and none is told by itself."""
    rows = [(1000 + n, 16, 5, 6, 8) for n in range(columns)], [(9000 + n, 16, 0, 1, 3) for n in range(columns)]
    made = profile(*rows[0], *rows[1], (91, 20_000, 2, 2, 2), (OTHER, 20_000, 7, 7, 7))
    made = replace(made, storages=replace(made.storages, bytes=made.storages.bytes // 1024))  # KiB
    alive = seen(
        *(f"{FRAME}.columns -> dict -> ['{n}'] tensor 16KiB" for n in range(columns)),
        addresses=tuple(1000 + n for n in range(columns)),
    )

    assert [s.holder.name for s in find_idle_at_peak(Replay(made, alive))] == told


# What the first step made and used alone for the step after the second one; 88 and 89 were there for these two.
QUEUED = ((LOGITS, 4, 1, 2, ALIVE), (88, 4, BEFORE, BEFORE, 4), (89, 4, BEFORE, BEFORE, 8), (OTHER, 5, 7, 7, 7))


def test_a_batch_that_waits_in_a_queue_is_judged_by_those_before_it() -> None:
    found = find_idle_at_peak(Replay(profile(*QUEUED, (92, 4, 6, 7, ALIVE)), two_names("batch")))

    assert [s.holder.name for s in found] == ["batch"]
    # 4 + 4 + 5 + 4 MiB and the weights at operation 7, where the next one is used; without what waits 8 less.
    assert (found[0].peak_bytes, found[0].peak_drop_bytes) == (19 * MIB, 8 * MIB)


def test_so_is_one_that_was_there_before_both_steps_and_that_the_first_one_prepared() -> None:
    """As of three batches in a queue: one is read, one is prepared, and of one the prepared part alone is in use."""
    prepared = (LOGITS, 4, BEFORE, 1, ALIVE)

    found = find_idle_at_peak(Replay(profile(prepared, *QUEUED[1:], (92, 4, 6, 7, ALIVE)), two_names("batch")))

    assert [(s.holder.name, s.peak_drop_bytes) for s in found] == [("batch", 8 * MIB)]


@pytest.mark.parametrize(
    "before",
    [
        ((88, 4, BEFORE, BEFORE, 4), (89, 4, BEFORE, 6, 8)),
        ((88, 4, BEFORE, BEFORE, 4), (89, 4, BEFORE, BEFORE, ALIVE)),
        ((88, 4, BEFORE, BEFORE, 4), (89, 1, BEFORE, BEFORE, 8)),
    ],
    ids=["was used", "stays", "is a small thing"],
)
def test_what_is_handed_on_to_later_steps_may_be_used_there(before: tuple[tuple[int, ...], ...]) -> None:
    steps = (QUEUED[0], *before, QUEUED[3], (92, 4, 6, 7, ALIVE))

    assert find_idle_at_peak(Replay(profile(*steps), two_names("batch"))) == ()


def test_what_is_handed_on_in_a_graph_goes_with_the_collector_perhaps() -> None:
    in_graph = seen(
        f"{FRAME}.loss -> tensor 4B -> .grad_fn Sin#sin -> .saved tensor 4MiB activation",
        f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter",
        addresses=(7, LOGITS, WEIGHTS),
    )

    assert find_idle_at_peak(Replay(profile(*QUEUED, (92, 4, 6, 7, ALIVE)), in_graph)) == ()


@pytest.mark.parametrize(("weights", "told"), [(80, True), (100, False)])
def test_less_than_a_thirtieth_of_the_peak_is_no_news(weights: int, told: bool) -> None:
    mostly_weights = (*IN_BOTH[:4], (WEIGHTS, weights, BEFORE, 9, ALIVE))

    found = find_idle_at_peak(Replay(profile(*mostly_weights), two_names()))

    assert [each.peak_drop_bytes for each in found] == [3 * MIB] * told


@pytest.mark.parametrize(("size", "told"), [(6, True), (16, False)])
def test_names_that_were_seen_near_the_peak_tell_what_idles_at_it(size: int, told: bool) -> None:
    """Where the second step's batch is larger, its peak may be at another operation than the first one's."""
    higher = profile(*IN_BOTH, (400, size, 8, 8, 8))

    found = find_idle_at_peak(Replay(higher, two_names()))

    assert [(each.holder.name, each.peak_bytes, each.peak_drop_bytes) for each in found] == [
        ("logits", 12 * MIB, 4 * MIB)
    ] * told
    assert all(each.facts[PEAK_NOT_MET] for each in found)
    assert [each.facts["peak_at"]["line"] for each in found] == [13] * told


def test_a_peak_that_was_not_met_says_nothing() -> None:
    elsewhere = profile(*IN_BOTH, (400, 9, 9, 9, 9))

    assert find_idle_at_peak(Replay(elsewhere, two_names())) == ()
    assert find_idle_at_peak(Replay(profile(*IN_BOTH, census_op=-1), two_names())) == ()


def test_what_is_small_counts_with_what_goes_by_the_same_name() -> None:
    """Each of forty images is less than a hundredth of the peak."""
    images = [(1000 + n, 1, 5, 6, 8) for n in range(40)]
    before = [(2000 + n, 1, 0, 1, 3) for n in range(40)]
    heap = seen(
        *(f"{FRAME}.stages -> list length=40 -> [{n}] tensor 1MiB" for n in range(40)),
        addresses=tuple(1000 + n for n in range(40)),
    )

    found = find_idle_at_peak(Replay(profile(*before, *images, (90, 160, 2, 2, 2), (91, 160, 7, 7, 7)), heap))

    assert [(s.holder.name, s.retained_bytes, s.peak_bytes, s.peak_drop_bytes) for s in found] == [
        ("stages", 40 * MIB, 200 * MIB, 40 * MIB)
    ]


@pytest.mark.parametrize(
    "function",
    [FRAME, f"{FRAME}.feed -> generator name=frames file=shards.py:9 ->"],
    ids=["running", "suspended"],
)
def test_several_names_of_one_function_are_one_suspect(function: str) -> None:
    both = (
        (90, 4, 0, 1, 3),
        (LOGITS, 4, 5, 6, 8),
        (91, 3, 0, 1, 3),
        (OTHER, 3, 5, 6, 8),
        (92, 5, 2, 2, 2),
        (93, 5, 7, 7, 7),
    )
    named = "{}.{} ->" if function == FRAME else "{} <local {}>"
    heap = seen(
        f"{named.format(function, 'logits')} tensor 4MiB activation",
        f"{named.format(function, 'hidden')} tensor 3MiB activation",
        addresses=(LOGITS, OTHER),
    )

    found = find_idle_at_peak(Replay(profile(*both), heap))

    assert [(sorted(c.name for c in s.cut), s.retained_bytes, s.peak_drop_bytes) for s in found] == [
        (["hidden", "logits"], 7 * MIB, 5 * MIB)
    ]


PIPELINE = f"{FRAME}.self -> Pipeline#p"
IN_SLOT = f"{PIPELINE} -> .slots list#l -> [0]"
IN_CONTEXT = f"{PIPELINE} -> .context Context#c -> .batch"


@pytest.mark.parametrize(
    ("way", "others", "expected"),
    [
        (IN_CONTEXT, (IN_CONTEXT,) * 3, "self.context.batch"),
        (IN_CONTEXT, (IN_CONTEXT,) * 2, "self.context"),
        (IN_CONTEXT, (IN_CONTEXT.replace("#c", "#d"), *(IN_CONTEXT,) * 3), "self.context.batch"),
        (IN_CONTEXT, (IN_CONTEXT, IN_CONTEXT.replace("#c", "#d"), *(IN_CONTEXT,) * 2), "self.context"),
        (IN_SLOT, (IN_SLOT,) * 3, "self.slots[*]"),
        (IN_SLOT, (), "self.slots"),
    ],
)
def test_of_what_lives_on_from_step_to_step_a_field_or_an_entry_is_to_be_dropped(
    way: str, others: tuple[str, ...], expected: str
) -> None:
    between = [
        census(f"{each} tensor 4MiB activation", step=step, moment="step-end") for step, each in enumerate(others, 1)
    ]

    model = f"{PIPELINE} -> .net Net -> .weight tensor 2MiB parameter"
    peak = seen(f"{way} tensor 4MiB activation", model, addresses=(LOGITS, WEIGHTS))

    (found,) = find_idle_at_peak(Replay(profile(*IN_BOTH, (WEIGHTS, 2, -1, 9, ALIVE)), peak), between)

    assert found.holder.expression == expected


METER = """def fit(model, batches):
    meter = Meter()
    for batch in batches:
        {binds}
        with meter:
            loss = model(batch)
        loss.backward()
        meter.write()
"""


@pytest.mark.parametrize(
    ("binds", "drops_it"),
    [("batch = batch.float()", False), ("meter = Meter()", True), ("other = meter", False)],
    ids=["made before the loop", "made in each turn", "another name in each turn"],
)
def test_what_a_variable_has_since_before_the_loop_is_no_record_to_drop(binds: str, drops_it: bool) -> None:
    """A meter that each step fills and empties leads to nothing when no step is under way."""
    sources = {"t.py": SourceFile("t.py", METER.format(binds=binds), origin="yours")}
    peak = Replay(
        profile(*IN_BOTH),
        seen("fit(t.py:7).meter -> Meter#m -> .seen tensor 4MiB activation", addresses=(LOGITS,)),
    )

    spent = find_owners(peak, [IN_BOTH.index((LOGITS, 4, 5, 6, 8))], (), sources).spent

    assert ("Meter" in {peak.view.graph.type_names[node] for node in spent}) is drops_it


RECORD = (
    f"{FRAME}.output -> Output#o -> .masks tensor 4MiB activation",
    f"{FRAME}.output -> Output#o -> .features tensor 2MiB activation",
)
USES = (0, 0, 0, 0, 0, 1, 1, 1, 2, 2)


def test_of_a_record_that_only_a_graph_still_uses_the_variable_is_to_be_dropped() -> None:
    """The features are used after the peak, by backward, whose graph saved them; in the other case by a statement."""
    record = (*IN_BOTH[:4], (WEIGHTS, 2, 5, 8, 8), (92, 2, 0, 3, 3))
    heap = seen(*RECORD, addresses=(LOGITS, WEIGHTS))

    def cut(phases: tuple[int, ...]) -> list[list[str]]:
        found = find_idle_at_peak(Replay(profile(*record, phases=phases), heap))
        return [[reference.expression for reference in suspect.cut] for suspect in found]

    assert cut(USES) == [["output"]]
    assert cut((1,) * 10) == [["output.masks"]]


def test_of_a_record_that_waits_in_a_queue_as_well_the_idle_field_is_to_be_dropped() -> None:
    waiting = f"{FRAME}.self -> Pipeline -> .waiting list length=1 -> [0] Output#o"
    heap = seen(*RECORD, waiting, addresses=(LOGITS, WEIGHTS))
    record = (*IN_BOTH[:4], (WEIGHTS, 2, 5, 8, 8), (92, 2, 0, 3, 3))

    (found,) = find_idle_at_peak(Replay(profile(*record, phases=USES), heap))

    assert [reference.expression for reference in found.cut] == ["output.masks"]


@pytest.mark.parametrize(("kept", "meant"), [("collections.deque bound=4", True), ("list", False)])
def test_entries_of_a_container_that_keeps_a_bound_are_said_to_be_so(kept: str, meant: bool) -> None:
    window = f"{FRAME}.self -> Evaluation -> .predictions {kept} -> [0] tensor 4MiB activation"
    net = f"{FRAME}.self -> Evaluation -> .net Net -> .weight tensor 2MiB parameter"
    heap = seen(window, net, addresses=(LOGITS, WEIGHTS))

    found = find_idle_at_peak(Replay(profile(*IN_BOTH, (WEIGHTS, 2, -1, 9, ALIVE)), heap))

    assert [IN_WINDOW in suspect.facts for suspect in found] == [meant]


def test_of_a_record_that_is_dropped_whole_its_fields_are_known() -> None:
    kept = f"{FRAME}.self -> Cascade#c -> .scratch Scratch#s -> .masks tensor 4MiB activation"
    net = f"{FRAME}.self -> Cascade#c -> .net Net -> .weight tensor 2MiB parameter"
    heap = seen(kept, net, addresses=(LOGITS, WEIGHTS))
    (found,) = find_idle_at_peak(Replay(profile(*IN_BOTH, (WEIGHTS, 2, -1, 9, ALIVE)), heap))

    assert (found.holder.expression, [[field.expression for field in level] for level in found.holder.fields]) == (
        "self.scratch",
        [["self.scratch.masks"]],
    )


def test_of_a_record_that_both_steps_use_its_idle_part_is_to_be_dropped() -> None:
    """Two passes over one rollout: its masks are idle in both, its features were used in the first step as well."""
    rollout = ((LOGITS, 4, 0, 1, 9), (WEIGHTS, 2, 0, 8, 9), (90, 3, 2, 2, 2), (OTHER, 3, 7, 7, 7))
    (found,) = find_idle_at_peak(Replay(profile(*rollout, phases=USES), seen(*RECORD, addresses=(LOGITS, WEIGHTS))))

    assert [reference.expression for reference in found.cut] == ["output.masks"]


def test_a_record_that_another_thread_made_is_dropped_whole() -> None:
    """Nobody saw its parts being made: what stands where they do in the other step was used by the same operation."""
    heap = seen(
        f"{FRAME}.self -> Trainer#t -> .active Future -> ._result Slice#s -> .user tensor 4MiB",
        f"{FRAME}.self -> Trainer#t -> .active Future -> ._result Slice#s -> .item tensor 3MiB",
        f"{FRAME}.self -> Trainer#t -> .net Net -> .weight tensor 2MiB parameter",
        addresses=(LOGITS, 101, WEIGHTS),
    )
    here, coming = (
        ((LOGITS, 4, BEFORE, 3, 8), (101, 3, BEFORE, 4, 8)),
        ((88, 4, BEFORE, 8, ALIVE), (89, 3, BEFORE, 9, ALIVE)),
    )

    (found,) = find_idle_at_peak(Replay(profile(*here, *coming, (OTHER, 5, 7, 7, 7), (WEIGHTS, 2, -1, 9, ALIVE)), heap))

    assert [reference.expression for reference in found.cut] == ["self.active"]


def test_a_batch_is_told_apart_from_what_the_step_made() -> None:
    both = (
        (89, 4, BEFORE, 0, 3),
        (LOGITS, 4, 4, 5, ALIVE),
        (90, 3, 0, 1, 3),
        (OTHER, 3, 5, 6, 8),
        (91, 5, 2, 2, 2),
        (92, 5, 7, 7, 7),
    )
    heap = seen(
        f"{FRAME}.batch -> tensor 4MiB activation",
        f"{FRAME}.hidden -> tensor 3MiB activation",
        addresses=(LOGITS, OTHER),
    )

    found = find_idle_at_peak(Replay(profile(*both), heap))

    assert [([c.name for c in s.cut], s.facts.get("made_before_step", False)) for s in found] == [
        (["batch"], True),
        (["hidden"], False),
    ]


def test_a_comprehension_s_own_variable_is_told_by_the_one_that_it_goes_through() -> None:
    heap = seen(
        "main(train.py:20).memories -> list#l -> [0] tensor#t 4MiB activation",
        "reorder.<locals>.<listcomp>(train.py:9).memory -> tensor#t",
        f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter",
        addresses=(LOGITS, WEIGHTS),
    )

    found = find_idle_at_peak(Replay(profile(*IN_BOTH), heap))

    assert [(s.holder.name, sorted(c.name for c in s.cut)) for s in found] == [("memories", ["memories", "memory"])]


def test_memory_that_no_operation_touched_counts_for_the_peak() -> None:
    heap = seen(
        f"{FRAME}.logits -> tensor 4MiB activation",
        f"{FRAME}.kept -> tensor 2MiB",
        addresses=(LOGITS, 999),
    )

    assert Replay(profile(*IN_BOTH[:4]), heap).alive.tolist() == [size * MIB for size in (6, 6, 9, 6, 2)]


def test_bytes_alive_counts_each_storage_from_its_birth_to_its_death() -> None:
    made = profile((1, 1, BEFORE, 2, ALIVE), (2, 2, 1, 1, 3), (3, 4, 9, 9, ALIVE))

    assert (made.bytes_alive("cpu") // MIB).tolist() == [1, 3, 3, 3, 1, 1, 1, 1, 1, 5]
    freed = made.bytes_alive("cpu", freed_after=np.array([2, 1, 9]))
    assert (freed // MIB).tolist() == [1, 3, 1, 0, 0, 0, 0, 0, 0, 4]
    assert made.bytes_alive("cuda:0").tolist() == [0] * 10


def test_a_graph_goes_whole_after_the_last_use_of_any_of_its_memory() -> None:
    """Both steps' graphs are alive at the peak; only the first's can be gone by then, the second's is being made."""
    graphs = ((90, 4, 0, 1, 8), (91, 3, 2, 3, 8), (LOGITS, 4, 5, 6, ALIVE), (OTHER, 3, 7, 8, ALIVE))
    heap = seen(
        "main.scores -> tensor#s -> .grad_fn Mul#m -> .saved storage 4MiB",
        addresses=(90,),
    )
    made = profile(*graphs)

    replay = Replay(made, heap)

    assert (replay.alive // MIB).tolist() == [11, 11, 14, 14, 7]
    assert replay.drop_without([0, 1]) // MIB == 10
    assert replay.drop_without([0, 1], together=[{0, 1}]) // MIB == 7
    assert replay.drop_without([0, 1], together=[{0}, {1}]) // MIB == 10


def test_a_cache_that_is_copied_to_grow_costs_its_old_copy_while_it_is_copied() -> None:
    copied = profile((90, 4, 2, 7, 7), (LOGITS, 5, 7, 9, ALIVE), (WEIGHTS, 2, BEFORE, 9, ALIVE))
    copied = replace(copied, strings=("aten.cat.default", *copied.strings[1:]))
    heap = seen(
        "main.cache -> tensor 4MiB",
        "main.weight -> tensor 2MiB parameter",
        addresses=(90, WEIGHTS),
    )

    (found,) = find_idle_at_peak(Replay(copied, heap))

    assert (found.holder.name, found.facts["copied_to_grow"]) == ("cache", ("/p/train.py", 12))
    assert found.peak_basis == BASIS_OF_COPIES
    assert (found.peak_bytes, found.peak_drop_bytes) == (11 * MIB, 4 * MIB)


@pytest.mark.parametrize(("layers", "name"), [(3, "cache"), (2, "keys")])
def test_of_copies_in_turn_the_container_is_told_where_it_has_more_than_the_variable_of_the_turn(
    layers: int, name: str
) -> None:
    old = [(90 + n, 4, 2 + n, 8 + n, ALIVE) for n in range(layers)]
    new = [(70 + n, 5, 8 + n, 11, ALIVE) for n in range(layers)]
    copied = profile(*old, *new, operations=12, second=6, census_op=7 + layers)
    sites = np.where(copied.operations.site >= 2, 2, copied.operations.site)
    copied = replace(
        copied,
        strings=("aten.cat.default", *copied.strings[1:]),
        operations=replace(copied.operations, site=sites),
    )
    shared = [f"main.cache -> list#c -> [{n}] tensor#t{n} 4MiB" for n in range(layers)]
    heap = seen(*shared, f"{FRAME}.keys -> tensor#t0 4MiB", addresses=tuple(90 + n for n in range(layers)))

    (found,) = find_idle_at_peak(Replay(copied, heap))

    assert (found.holder.name, found.retained_bytes) == (name, 4 * layers * MIB)


def test_what_is_carried_under_the_same_name_gets_the_figures_of_the_peak() -> None:
    idle = find_idle_at_peak(Replay(profile(*IN_BOTH), two_names()))
    same, other = carried(cut=idle[0].cut), carried()

    assert give_peak_figures((same, other), idle) == (
        replace(same, peak_bytes=9 * MIB, peak_drop_bytes=3 * MIB, peak_basis=BASIS),
        other,
    )


STAGED = HoldingReference("attribute", "batch", "queue[*].batch", owner_type="train.Stage")


@pytest.mark.parametrize(
    ("hops", "inside"),
    [
        ((("INDEX", "1", "list"), ("ATTRIBUTE", "batch", "train.Stage"), ("ATTRIBUTE", "rows", "train.Batch")), True),
        ((("DICT", "__dict__", "train.Stage"), ("ITEM", "'batch'", "dict"), ("ITEM", "'rows'", "dict")), True),
        ((("ATTRIBUTE", "inputs", "train.Stage"), ("ATTRIBUTE", "batch", "train.Inputs")), False),
        ((("DICT", "__dict__", "train.Inputs"), ("ITEM", "'batch'", "dict")), False),
    ],
)
def test_what_is_carried_inside_of_what_idles_by_another_way_is_known_to_be(
    hops: tuple[tuple[str, str, str], ...], inside: bool
) -> None:
    path = tuple(hop(kind, label, owner, "object") for kind, label, owner in hops)
    idle = [replace(carried(), cut=(STAGED,))]

    (told,) = give_peak_figures([carried(path=path)], idle)

    assert told.facts == ({INSIDE_OF_IDLE: True} if inside else {})
    assert give_peak_figures([carried(path=path, symptom="growth")], idle)[0].facts == {}


def resting(*storages: tuple[int, int], symptom: str = "survivor") -> list[tuple[int | None, int | None]]:
    """Peak and its fall as told of a suspect with these storages, beside a model that the step uses."""
    rests = (OTHER, 3, BEFORE, BEFORE, ALIVE)
    made = seen(
        f"{FRAME}.logits -> tensor 4MiB activation",
        f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter",
        f"{FRAME}.teacher -> Net -> .weight tensor 3MiB parameter",
        addresses=(LOGITS, WEIGHTS, OTHER),
    )
    found = carried(symptom=symptom, storages=frozenset(storages))
    used = (*IN_BOTH[:3], (92, 3, 7, 7, 7), IN_BOTH[4], rests)
    (told,) = give_figures_of_what_rests([found], Replay(profile(*used), made))
    return [(told.peak_bytes, told.peak_drop_bytes)]


def test_the_peak_falls_by_all_of_what_no_operation_touched() -> None:
    assert resting((OTHER, 3 * MIB)) == [(12 * MIB, 3 * MIB)]


def test_what_is_used_or_is_no_survivor_gets_no_such_figures() -> None:
    assert resting((WEIGHTS, 2 * MIB)) == [(None, None)]
    assert resting((OTHER, 3 * MIB), (WEIGHTS, 2 * MIB)) == [(None, None)]
    assert resting() == [(None, None)]
    assert resting((OTHER, 3 * MIB), symptom="growth") == [(None, None)]


OUTPUT = f"{FRAME}.outputs -> __main__.Output"


def records_of(*lines: str, addresses: tuple[int, ...]) -> list[str | None]:
    rows = (*IN_BOTH, (80, 1, 0, 4, 4), (OTHER, 1, 5, 9, 9), (WEIGHTS, 2, -1, 9, ALIVE))
    found = find_idle_at_peak(Replay(profile(*rows), seen(*lines, addresses=addresses)))
    return [suspect.holder.record.expression if suspect.holder.record else None for suspect in found]


def test_where_another_phase_has_a_higher_peak_on_the_device_it_is_told() -> None:
    here = Replay(profile(*IN_BOTH, (WEIGHTS, 2, -1, 9, ALIVE)), two_names())
    higher = Replay(profile(*IN_BOTH, (WEIGHTS, 2, -1, 9, ALIVE), (OTHER, 9, -1, 9, ALIVE)), two_names())
    found = find_idle_at_peak(here)

    assert [each.facts.get("higher_peak_bytes") for each in with_higher_peaks(found, [here, higher])] == [
        higher.peak_bytes
    ]
    assert higher.peak_bytes > here.peak_bytes
    assert with_higher_peaks(found, [here, here]) == with_higher_peaks(found, [here]) == found


def test_a_field_of_a_record_made_in_the_step_is_told_with_what_the_record_goes_by() -> None:
    logits, used = f"{OUTPUT} -> .logits tensor 4MiB activation", f"{OUTPUT} -> .entropy tensor 1MiB"
    lasting = f"{OUTPUT} -> .model Net -> .weight tensor 2MiB parameter"

    assert records_of(logits, used, addresses=(LOGITS, OTHER)) == ["outputs"]
    assert records_of(logits, used, lasting, addresses=(LOGITS, OTHER, WEIGHTS)) == [None]


def test_of_a_suspended_function_its_own_variable_is_told_not_the_generator() -> None:
    feed = (
        f"{FRAME}.feed -> generator name=frames file=shards.py:9 -> <local batch> __main__.Batch -> .rows tensor 4MiB"
    )
    made = seen(feed, f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter", addresses=(LOGITS, WEIGHTS))

    (found,) = find_idle_at_peak(Replay(profile(*IN_BOTH), made))

    assert [(each.kind, each.name) for each in found.cut] == [("local", "batch")]


def test_what_might_be_used_up_before_the_peak_is_told_apart_from_what_idles() -> None:
    # 4 MiB wait from 0 (5) for 4 (9), which makes nothing large of them; at 2 (7) the step peaks.
    waits = ((90, 4, 0, 4, 4), (LOGITS, 4, 5, 9, 9), *IN_BOTH[2:])
    made = profile(*waits, uses=[(9, 1)])

    found = find_idle_at_peak(Replay(made, two_names("judged")))

    assert [(each.holder.name, each.peak_drop_bytes) for each in found] == [("judged", 3 * MIB)]
    assert found[0].facts[WAITS] == {
        "operation": "aten.mm.default",
        "phase": "forward",
        "file": "/p/train.py",
        "line": 14,
    }
    assert find_idle_at_peak(Replay(replace(made, uses=NO_USES), two_names("judged"))) == ()


def test_what_several_operations_at_the_peak_use_up_in_turn_might_have_been_used_before_the_first_of_them() -> None:
    """Two models' outputs, each reduced on its way by 3 MiB more, the second one at the census: 13 MiB at 9 and 11.

    One after the other is 9 MiB: weights, one of the outputs, and what it is reduced by.
    """
    outputs = [(90, 4, 0, 2, 6), (91, 4, 1, 4, 6), (LOGITS, 4, 7, 9, 13), (OTHER, 4, 8, 11, 13)]
    on_the_way = [(92, 3, 2, 3, 3), (93, 3, 4, 5, 5), (94, 3, 9, 10, 10), (95, 3, 11, 12, 12)]
    weights = (WEIGHTS, 2, BEFORE, 8, ALIVE)
    uses = [(9, 2), (10, 6), (11, 3), (12, 7)]
    made = profile(*outputs, *on_the_way, weights, operations=14, second=7, census_op=11, uses=uses)
    alive = seen(
        f"{FRAME}.outs -> dict#outs -> ['policy'] tensor 4MiB",
        f"{FRAME}.outs -> dict#outs -> ['reference'] tensor 4MiB",
        f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter",
        addresses=(LOGITS, OTHER, WEIGHTS),
    )

    (found,) = find_idle_at_peak(Replay(made, alive))

    assert (found.holder.name, found.retained_bytes, found.peak_drop_bytes) == ("outs", 8 * MIB, 4 * MIB)
    assert WAITS in found.facts
    assert find_idle_at_peak(Replay(replace(made, uses=NO_USES), alive)) == ()


@pytest.mark.parametrize(
    ("changes", "adds"),
    [
        ({}, True),
        ({"retained_bytes": 7 * MIB}, True),
        ({"retained_bytes": 9 * MIB}, False),
        ({"retained_bytes": 9 * MIB, "facts": {OUTLASTS_A_STEP: True}}, True),
        ({"retained_bytes": 9 * MIB, "device": "cuda:0"}, True),
        ({"retained_bytes": 9 * MIB, "first_step": 7}, True),
        ({"retained_bytes": 9 * MIB, "symptom": "growth"}, True),
        ({"retained_bytes": 8 << 10}, False),
    ],
)
def test_what_a_step_hands_to_the_next_ones_forward_adds_to_no_peak_where_it_is_gone_by_then(
    changes: dict[str, object], adds: bool
) -> None:
    """Of what the first step made 4 MiB are there at the second one's peak of 10 MiB."""
    handed_on, passing, made_here = (LOGITS, 4, 4, 8, 8), (90, 2, 2, 3, 4), (OTHER, 6, 7, 7, 7)
    profiled = Replay(profile(handed_on, passing, made_here, census_op=7), two_names())
    given = carried(**{"retained_bytes": 4 * MIB, "series": series(MIB, MIB, moment="forward-entry")} | changes)

    (found,) = told_where_they_add_to_no_peak([given], [profiled])

    assert found == (given if adds else replace(given, facts=given.facts | {ADDS_TO_NO_PEAK: True}))
    assert told_where_they_add_to_no_peak([given], []) == (given,)


def test_a_table_that_hooks_fill_by_name_is_told_as_one() -> None:
    """Two outputs of 4 and 3 MiB that nobody asks for before the peak: by themselves neither is what to drop."""
    noted = ((90, 4, 0, 1, 5), (91, 3, 1, 1, 6), (LOGITS, 4, 5, 6, ALIVE), (OTHER, 3, 6, 6, ALIVE))
    made = profile(*noted, (92, 6, 2, 2, 2), (93, 6, 7, 7, 7), (WEIGHTS, 2, BEFORE, 9, ALIVE))
    monitor = f"{FRAME}.monitor -> __main__.Monitor#monitor -> .latest dict#latest"
    alive = seen(
        f"{monitor} -> ['stem'] tensor 4MiB",
        f"{monitor} -> ['head'] tensor 3MiB",
        "main.MONITORS -> list -> [0] __main__.Monitor#monitor",
        f"{FRAME}.model -> Net -> .weight tensor 2MiB parameter",
        addresses=(LOGITS, OTHER, WEIGHTS),
    )

    (found,) = find_idle_at_peak(Replay(made, alive))

    assert (found.holder.expression, found.retained_bytes) == ("monitor.latest", 7 * MIB)


def test_what_the_step_before_made_waits_for_its_own_step() -> None:
    staged = profile((90, 4, BEFORE, 4, 4), (LOGITS, 4, 4, 9, 9), *IN_BOTH[2:], uses=[(9, 1)])

    assert find_idle_at_peak(Replay(staged, two_names("staged"))) == ()
