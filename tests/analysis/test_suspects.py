# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

from collections.abc import Callable

import pytest

from heaps import census, growing
from tenure.analysis.growth.growing import find_growing_out_of_sight
from tenure.analysis.heap.groups import Shapes, view_census
from tenure.analysis.heap.holders import Droppable, holding_reference
from tenure.analysis.sites.located import locate
from tenure.analysis.suspects import find_suspects
from tenure.model.source import SourceFile
from tenure.model.suspect import GRAPH_GOES_ON, Suspect

STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
MODEL = """
Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .model __main__.Net#net -> ._modules dict -> ['fc'] torch.nn.Linear#fc -> ._parameters dict -> ['weight'] parameter#weight 1MiB
Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .optimizer torch.optim.Adam -> .state collections.defaultdict -> ['p'] dict -> ['exp_avg'] tensor 1MiB state
Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .data list -> [*4] tensor 2MiB
"""


def told(suspect: Suspect) -> tuple[str, str, list[str]]:
    return suspect.symptom, suspect.holder.expression, [reference.expression for reference in suspect.cut]


def at_both_moments(text: str, **named: Callable[[int], object]) -> list[object]:
    return [
        made
        for step in STEPS
        for moment in ("step-end", "forward-entry")
        for made in growing(MODEL + text, (step,), moment=moment, **named)
    ]


def test_a_list_of_losses_grows_and_is_told_with_its_container() -> None:
    (suspect,) = find_suspects(
        growing(
            MODEL
            + "Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .losses list -> [*{step}] tensor 4B",
            STEPS,
        )
    )

    assert told(suspect) == ("growth", "self.losses[*]", ["self.losses[*]"])
    assert (suspect.holder.kind, suspect.holder.name, suspect.holder.owner_type, suspect.holder.element) == (
        "attribute",
        "losses",
        "__main__.Trainer",
        True,
    )
    assert (suspect.growth_bytes_per_step, suspect.growth_objects_per_step) == (4.0, 1.0)
    assert (suspect.scalars, suspect.through_graph, suspect.num_objects) == (True, False, 32)
    assert suspect.retained_bytes == 32 * 4
    assert suspect.series.steps == STEPS


def test_a_sawtooth_is_told_at_its_highest_and_tried_with_what_it_holds_last() -> None:
    text = "Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .losses list -> [*{held}] tensor 4B"

    (suspect,) = find_suspects(growing(MODEL + text, STEPS, held=lambda step: (step - 1) % 12 + 1))

    assert (suspect.symptom, suspect.period_steps, suspect.retained_bytes) == ("sawtooth", 12, 12 * 4)
    assert (suspect.storages_at, sum(size for _, size in suspect.storages)) == (32, 8 * 4)


@pytest.mark.parametrize(("goes_on", "rises"), [(False, 2), (True, None)], ids=["stays", "goes on to grow"])
def test_what_hangs_on_two_that_came_counts_as_two_rises_unless_it_grew_between(goes_on: bool, rises: int) -> None:
    def at(step: int) -> str:
        held = [(n, step - since if goes_on else 4) for n, since in ((1, 25), (2, 50)) if step > since]
        kept = "Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .seen list#seen -> [{n}] list#l{n}"
        return MODEL + "\n".join(kept.format(n=n) + f" -> [*{many}] tensor 1MiB" for n, many in held)

    (suspect,) = find_suspects([census(at(step), step=step) for step in (*STEPS[:-2], 22, 32, 44, 64, 67)])

    assert (told(suspect), suspect.facts.get("rises_seen")) == (("growth", "self.seen[*]", ["self.seen[*]"]), rises)


def running_total(step: int, *, cut_short: bool) -> str:
    """A total with one more term per step; a census that cannot follow its graph sees old nodes alone."""
    total = f"main(t.py:9).total -> tensor#total{step} 4B"
    terms = [
        f"AddBackward0#a{step} -> .next MulBackward0#m{n} -> .saved tensor#s{n} 1MiB activation" for n in range(step)
    ]
    if cut_short:
        return MODEL + total + "\nunseen -> MulBackward0#m0 continues -> .saved tensor#s0 1MiB activation"
    return MODEL + "\n".join(f"{total} -> .grad_fn {term}" for term in terms)


def test_a_graph_that_grew_out_of_sight_is_told_by_what_was_seen_of_it() -> None:
    cut_short = {24, 32}
    runs = [census(running_total(step, cut_short=step in cut_short), step=step) for step in STEPS]

    (suspect,) = find_suspects(runs)

    assert told(suspect) == ("growth", "total", ["total"])
    assert (suspect.growth_bytes_per_step, suspect.last_step, suspect.through_graph) == (float(1 << 20), 16, True)
    assert suspect.facts[GRAPH_GOES_ON] is True


@pytest.mark.parametrize("cut_short", [(), (4, 24), STEPS, STEPS[2:]])
def test_graphs_that_are_seen_again_or_never_were_do_not_grow_out_of_sight(cut_short: tuple[int, ...]) -> None:
    shapes = Shapes()
    runs = [census(running_total(step, cut_short=step in cut_short), step=step) for step in STEPS]

    assert find_growing_out_of_sight([view_census(made, shapes) for made in runs], shapes) == ((), frozenset())


def sum_of_an_epoch(step: int, *, cut_short: bool) -> str:
    """A sum that keeps two nodes of each step and begins anew every 25; a census cut short sees eight of them."""
    terms = (step - 1) % 25 + 1
    nodes = 8 if cut_short else 2 * terms
    flag = " continues" if cut_short else ""
    lines = [f"main(t.py:9).total -> tensor#total{step} 4B -> .grad_fn AddBackward0#n{step // 26} -> .next"
             f" MulBackward0#n{step // 26}-{n}{flag}" for n in range(nodes)]  # fmt: skip
    return MODEL + "\n".join(lines)


def test_a_graph_that_begins_anew_is_told_with_its_period_though_some_censuses_see_a_part_of_it() -> None:
    steps, cut_short = (1, 2, 3, 4, 6, 8, 13, 16, 32, 44), {13, 16, 44}
    runs = [census(sum_of_an_epoch(step, cut_short=step in cut_short), step=step) for step in steps]

    (suspect,) = find_suspects(runs)

    assert (suspect.symptom, suspect.holder.name, suspect.period_steps) == ("sawtooth", "total", 25)
    assert suspect.series.steps == (1, 2, 3, 4, 6, 8, 32)


def two_levels(step: int, *, cut_short: bool) -> str:
    """Two running levels that each keep a node of each step; a census cut short has no nodes left for the second."""
    lines = []
    for name, nodes in (("claims", step), ("leaves", 0 if cut_short else step)):
        of = f"main(t.py:9).{name} -> tensor#{name}{step} 4B -> .grad_fn AddBackward0#{name} -> .next"
        lines += [f"{of} MulBackward0#{name}-{n}{' continues' * cut_short} -> .saved tensor#{name}s{n} 8B activation"
                  for n in range(nodes)]  # fmt: skip
    return MODEL + "\n".join(lines)


@pytest.mark.parametrize("cut_short", [(), (44,)])
def test_a_graph_that_is_gone_where_a_census_was_cut_short_has_not_fallen(cut_short: tuple[int, ...]) -> None:
    steps = (1, 2, 3, 4, 6, 8, 13, 16, 32, 44)
    runs = [census(two_levels(step, cut_short=step in cut_short), step=step) for step in steps]

    found = [(suspect.symptom, suspect.holder.name) for suspect in find_suspects(runs)]
    assert sorted(found) == [("growth", "claims"), ("growth", "leaves")]


def test_a_loss_list_with_its_graphs_holds_activations() -> None:
    (suspect,) = find_suspects(
        growing(
            MODEL
            + "main.losses -> list -> [*{step}] tensor 4B -> .grad_fn MseLossBackward0 -> .saved tensor 1MiB activation",
            STEPS,
        )
    )

    assert told(suspect) == ("growth", "losses[*]", ["losses[*]"])
    assert (suspect.through_graph, suspect.graph_freed, suspect.scalars) == (True, False, False)
    assert suspect.growth_bytes_per_step == 1024**2 + 4
    assert suspect.retained_bytes == 32 * (1024**2 + 4)


def chain(step: int) -> str:
    """`total = total + loss`: one node more per step, and nothing saved."""
    lines = [f"Trainer.fit(trainer.py:598).total -> tensor#total 4B at=t{step} -> .grad_fn AddBackward0#n{step} freed"]
    lines += [f"island -> AddBackward0#n{n} -> .next AddBackward0#n{n - 1} freed" for n in range(step, 1, -1)]
    return "\n".join(lines)


def test_a_sum_of_losses_after_backward_holds_nodes_only() -> None:
    (suspect,) = find_suspects(growing(MODEL + "{chain}", STEPS, chain=chain))

    assert told(suspect) == ("growth", "total", ["total"])
    assert (suspect.through_graph, suspect.graph_freed, suspect.num_graph_nodes) == (True, True, 32)
    assert suspect.series.graph_nodes == STEPS
    assert suspect.growth_bytes_per_step == 0.0


def weighted_chain(step: int) -> str:
    """An average of losses with its graph, one end of which is a weight."""
    lines = [f"main.ema -> tensor#ema 4B at=t{step} -> .grad_fn AddBackward0#n{step} freed"]
    lines += [f"island -> AddBackward0#n{n} -> .next AddBackward0#n{n - 1} freed" for n in range(step, 1, -1)]
    return "\n".join([*lines, f"island -> AddBackward0#n{step} -> .next AccumulateGrad -> .next parameter#h 64KiB"])


def test_a_weight_that_is_in_use_is_neither_the_end_of_a_graphs_path_nor_held_by_it() -> None:
    model = """
main.net -> __main__.Deep -> ._modules dict -> ['a'] torch.nn.Sequential -> ._modules dict -> ['0'] torch.nn.Linear#a -> ._parameters dict -> ['weight'] parameter#h 64KiB -> .grad tensor 64KiB gradient
"""
    (suspect,) = find_suspects(growing(model + "{chain}", STEPS, chain=weighted_chain))

    assert told(suspect) == ("growth", "ema", ["ema"])
    assert (suspect.retained_bytes, suspect.path_text[-1]) == (4, ".grad_fn")


def test_a_weight_that_only_the_graph_keeps_is_held_by_it() -> None:
    (suspect,) = find_suspects(growing("{chain}", STEPS, chain=weighted_chain))

    assert suspect.retained_bytes == 64 * 1024 + 4


def test_small_views_that_pin_large_storages_are_named() -> None:
    (suspect,) = find_suspects(growing(MODEL + "main.log -> list -> [*{step}] tensor 4MiB view=4", STEPS))

    assert (suspect.scalars, suspect.pinned_bytes) == (True, 32 * (4 * 1024**2 - 4))


def test_a_list_cleared_at_every_log_is_a_sawtooth() -> None:
    (suspect,) = find_suspects(
        growing(MODEL + "main.losses -> list -> [*{n}] tensor 4B", STEPS, n=lambda step: (step - 1) % 10 + 1)
    )

    assert told(suspect) == ("sawtooth", "losses[*]", ["losses[*]"])
    assert (suspect.period_steps, suspect.growth_bytes_per_step, suspect.growth_objects_per_step) == (10, 4.0, 1.0)


def test_model_copies_are_named_by_their_class() -> None:
    (suspect,) = find_suspects(
        growing(
            MODEL + "main.best -> list -> [*{step}] __main__.Net -> ._parameters dict -> ['w'] parameter 1MiB", STEPS
        )
    )

    assert (told(suspect), suspect.copies_of) == (("growth", "best[*]", ["best[*]"]), "__main__.Net")


def test_models_that_lines_of_a_report_keep_by_their_closures_are_copies_too() -> None:
    line = "main.rows -> list -> [*{step}] tuple#t* -> [1] function#f* file=r.py:3 name=text -> <cell model> torch.nn.Sequential#n*"
    layer = " -> ._modules dict#m* -> ['0'] torch.nn.Linear#l* -> ._parameters dict#p* -> ['weight'] parameter#w* 1MiB parameter"

    (suspect,) = find_suspects(growing(MODEL + line + layer, STEPS))

    assert (suspect.holder.expression, suspect.copies_of) == ("rows[*]", "torch.nn.Sequential")


def test_objects_of_a_users_class_are_no_copies_even_if_the_program_has_more_of_them() -> None:
    (suspect,) = find_suspects(
        growing(
            MODEL
            + "main.tracker -> __main__.Tracker -> .first __main__.Track -> .embedding tensor 4KiB\n"
            + "class Track(tracks.py:4).all_tracks -> list -> [*{step}] __main__.Track#track* -> .embedding tensor 64KiB",
            STEPS,
        )
    )

    assert (told(suspect), suspect.copies_of) == (
        ("growth", "Track.all_tracks[*]", ["Track.all_tracks[*]"]),
        "",
    )


@pytest.mark.parametrize(
    ("drawn", "copies_of"),
    [
        ("torchmetrics.ConfusionMatrix#c* -> .counts tensor 64KiB", "torchmetrics.ConfusionMatrix"),
        ("collections.OrderedDict#d* -> ['fc.weight'] tensor 64KiB", "collections.OrderedDict"),
        ("dict#d* -> ['loss'] tensor 64KiB", ""),
        ("dict#d* -> ['fc.weight'] tensor#w* 64KiB -> .grad_fn SubBackward0#n*", ""),
        ("tuple#t* -> [1] __main__.Net#m* -> ._parameters dict -> ['w'] parameter#w* 64KiB", "__main__.Net"),
        ("tuple#t* -> [1] __main__.Track#k* -> .embedding tensor#e* 64KiB", ""),
        (
            "__main__.Loader#l* -> .collate method#c* -> <self> __main__.Net#m* -> ._parameters dict "
            "-> ['w'] parameter#w* 64KiB",
            "",
        ),
        (
            "__main__.Best#l* -> .models list#c* -> [0] __main__.Net#m* -> ._parameters dict -> ['w'] parameter#w* 64KiB",
            "__main__.Best",
        ),
    ],
)
def test_metrics_tell_by_their_name_and_state_dicts_by_their_keys(drawn: str, copies_of: str) -> None:
    (suspect,) = find_suspects(growing(MODEL + "main.kept -> list -> [*{step}] " + drawn, STEPS))

    assert suspect.copies_of == copies_of


def test_what_another_holder_lets_go_of_late_does_not_lower_the_slope() -> None:
    (suspect,) = find_suspects(
        growing(MODEL + "main.kept -> list -> [*{n}] tensor 1MiB", STEPS, n=lambda step: max(0, step - 4))
    )

    assert (suspect.growth_bytes_per_step, suspect.growth_objects_per_step) == (1024**2, 1.0)


def test_a_cached_function_is_told_by_its_name_and_where_it_is_defined() -> None:
    (suspect,) = find_suspects(
        growing(
            MODEL
            + "class FeatureStore(features.py:5).lookup -> functools._lru_cache_wrapper#cached file=features.py:11 "
            + "name=FeatureStore.lookup -> <cached cache> dict -> [*{step}] tensor 64KiB",
            STEPS,
        )
    )

    assert told(suspect) == ("growth", "FeatureStore.lookup[*]", ["FeatureStore.lookup[*]"])
    assert (suspect.holder.kind, suspect.holder.name, suspect.holder.element) == ("cache", "lookup", True)
    assert (suspect.holder.scope_file, suspect.holder.scope_line) == ("features.py", 11)


def buffer_chain(step: int) -> str:
    """`self.usage = 0.9 * self.usage + used`, where `usage` is a buffer: its graph reaches back to the first step."""
    start = "Trainer.fit(trainer.py:598).self -> __main__.Trainer#trainer -> .model __main__.Net#net"
    lines = [
        f"{start} -> ._buffers dict#buffers -> ['usage'] tensor#u 4B at=u{step} buffer -> .grad_fn AddBackward0#n{step}"
    ]
    for n in range(step, 0, -1):
        lines.append(f"island -> AddBackward0#n{n} -> .saved tensor#s{n} 64KiB activation")
        lines += [f"island -> AddBackward0#n{n} -> .next AddBackward0#n{n - 1}"] * (n > 1)
    return "\n".join(lines)


def test_a_graph_that_hangs_on_a_buffer_is_told_by_the_buffer_not_by_the_model() -> None:
    (suspect,) = find_suspects(growing(MODEL + "{chain}", STEPS, chain=buffer_chain))

    assert told(suspect) == ("growth", "self.model.usage", ["self.model.usage"])
    assert (suspect.holder.kind, suspect.holder.name, suspect.holder.owner_type) == (
        "attribute",
        "usage",
        "__main__.Net",
    )
    assert (suspect.through_graph, suspect.growth_bytes_per_step) == (True, 65536.0)


def test_a_hook_that_appends_to_a_closure_list() -> None:
    (suspect,) = find_suspects(
        growing(
            MODEL
            + "island -> __main__.Net#net -> ._forward_hooks collections.OrderedDict -> [7] function#hook file=train.py:12 "
            "name=hook -> <cell seen> list -> [*{step}] tensor 64KiB",
            STEPS,
        )
    )

    assert told(suspect) == ("growth", "seen[*]", ["seen[*]"])
    assert (suspect.holder.kind, suspect.holder.scope_function, suspect.holder.scope_line) == ("closure", "hook", 12)


def test_the_other_names_of_a_growing_list_are_told_nearest_first() -> None:
    (suspect,) = find_suspects(
        growing(
            MODEL
            + "Trainer.fit(trainer.py:598).features -> list#outputs -> [*{step}] tensor 64KiB\n"
            + "island -> __main__.Net#net -> ._forward_hooks collections.OrderedDict -> [7] function#hook "
            + "file=train.py:12 name=keep -> <cell outputs> list#outputs\n"
            + "main.log -> __main__.Log -> .kept list#outputs",
            STEPS,
        )
    )

    assert told(suspect) == ("growth", "features[*]", ["features[*]"])
    aliases = [(alias.kind, alias.name, alias.expression, alias.element) for alias in suspect.holder.aliases]
    assert aliases == [
        ("attribute", "kept", "log.kept[*]", True),
        ("closure", "outputs", "outputs[*]", True),
    ]


ROW = "main.rows -> list -> [{number}] collections.ChainMap -> .maps list#maps{number} -> [0] dict#row{number} -> "
"""Of each row one output lies in it, and beside it a value whose graph saves two of a little less."""


def test_a_list_that_a_librarys_object_keeps_by_itself_is_told_with_that_objects_type() -> None:
    drawn = MODEL + "main(train.py:18).batches -> itertools.cycle -> <other> list -> [*{step}] tensor 64KiB"

    (suspect,) = find_suspects(growing(drawn, STEPS))

    assert told(suspect) == ("growth", "batches[*]", ["batches[*]"])
    assert (suspect.holder.name, suspect.holder.inside) == ("batches", "itertools.cycle")


def rows_of_two_kinds(step: int, saved: str) -> str:
    lines = []
    for number in range(step):
        start = ROW.format(number=number)
        graph = f"{start}['iou'] tensor#i{number} 4B -> .grad_fn Mean#m{number} -> .saved tensor"
        lines.append(f"{start}['map'] tensor#p{number} 64KiB activation")
        lines += [f"{graph}#s{number}_{n} {saved} activation" for n in range(2)]
    return "\n".join(lines)


@pytest.mark.parametrize(("saved", "through_graph"), [("48KiB", True), ("16KiB", False)])
def test_a_path_runs_through_the_graphs_where_they_are_most_of_what_grows(saved: str, through_graph: bool) -> None:
    grown = growing(MODEL + "{rows}", STEPS, rows=lambda step: rows_of_two_kinds(step, saved))

    (suspect,) = find_suspects(grown)

    assert told(suspect) == ("growth", "rows[*]", ["rows[*]"])
    assert suspect.through_graph is through_graph


NEWEST = """
main.rows -> list -> [*{step}] dict -> ['output'] tensor#o* 1MiB activation
loop.train(loop.py:9).output -> tensor#o{last}
"""


def newest(text: str) -> tuple[Suspect, ...]:
    return find_suspects(at_both_moments(text, last=lambda step: step - 1))


def test_a_variable_for_the_newest_element_of_what_grows_carries_nothing() -> None:
    assert [told(suspect) for suspect in newest(NEWEST)] == [("growth", "rows[*]", ["rows[*]"])]


def test_nor_does_it_where_the_container_was_emptied_just_before() -> None:
    """A metric's results, which it computes and forgets after every fourth step: at the last entry there is one."""
    rows = (
        "main.metric -> __main__.Metric -> .rows list -> [{n}] dict -> ['output'] tensor#o{element} 1MiB activation\n"
    )
    text = "{rows}loop.train(loop.py:9).output -> tensor#o{last}"
    since = range(1, 14)
    drawn = [
        made
        for step in since
        for moment in ("step-end", "forward-entry")
        for made in growing(
            MODEL + text,
            (step,),
            moment=moment,
            last=lambda step: step - 1,
            rows=lambda step: "".join(
                rows.format(n=n, element=element) for n, element in enumerate(range((step - 1) // 4 * 4, step))
            ),
        )
    ]

    assert [told(suspect)[:2] for suspect in find_suspects(drawn)] == [("sawtooth", "metric.rows[*]")]


def test_what_a_variable_carries_beside_the_newest_element_is_told_without_the_others() -> None:
    text = NEWEST.replace(".output -> tensor#o", ".output -> dict#d{step} -> [0] tensor#o")
    beside = "loop.train(loop.py:9).output -> dict#d{step} -> [1] tensor#p{step} 3MiB activation"

    carried, grown = sorted(newest(text + beside), key=lambda suspect: suspect.symptom, reverse=True)

    assert told(grown) == ("growth", "rows[*]", ["rows[*]"])
    assert (carried.symptom, carried.holder.expression, carried.retained_bytes) == ("peak", "output", 4 << 20)


def moving_average(step: int) -> str:
    """A mean of losses, with the graph of each step, and a variable for the newest loss."""
    lines = [
        f"loop.train(loop.py:9).mean -> tensor#m{step} 4B -> .grad_fn AddBackward0#a{step}",
        f"loop.train(loop.py:9).loss -> tensor#l{step} 4B -> .grad_fn LossBackward0#n{step}",
    ]
    for n in range(1, step + 1):
        lines.append(f"island -> AddBackward0#a{n} -> .next LossBackward0#n{n} -> .saved tensor#s{n} 1MiB activation")
        lines += [f"island -> AddBackward0#a{n} -> .next AddBackward0#a{n - 1}"] * (n > 1)
    return "\n".join(lines)


def test_a_variable_for_the_newest_value_of_a_moving_average_that_grows_carries_nothing() -> None:
    drawn = at_both_moments("{rows}", rows=moving_average)

    assert [told(suspect) for suspect in find_suspects(drawn)] == [("growth", "mean", ["mean"])]


def test_what_a_variable_carries_beside_a_moving_average_is_told() -> None:
    drawn = at_both_moments(
        "{rows}\nloop.train(loop.py:9).features -> tensor#f{step} 3MiB activation", rows=moving_average
    )

    assert sorted(told(suspect) for suspect in find_suspects(drawn)) == [
        ("growth", "mean", ["mean"]),
        ("peak", "features", ["features"]),
    ]


def means_that_share_a_trunk(step: int) -> str:
    lines = []
    for name in ("depth", "labels"):
        mean = f"main.balancer -> Balancer -> .means dict -> ['{name}'] Smoothed#{name} -> .value tensor#value_{name}{step} 4B"
        lines.append(f"{mean} -> .grad_fn AddBackward0#{name}{step}")
        for n in range(step, 0, -1):
            lines.append(f"island -> AddBackward0#{name}{n} -> .next ReluBackward0#trunk{n} -> .saved tensor#t{n} 8KiB")
            lines += [f"island -> AddBackward0#{name}{n} -> .next AddBackward0#{name}{n - 1}"] * (n > 1)
    return "\n".join(lines)


def test_values_whose_graphs_share_layers_are_told_by_what_binds_them_and_dropped_together() -> None:
    found = find_suspects(growing(MODEL + "{means}", STEPS, means=means_that_share_a_trunk))

    holders = {(suspect.holder.name, suspect.holder.owner_type) for suspect in found}
    assert holders == {("value", "Smoothed")}
    assert {tuple(told(suspect)[2]) for suspect in found} >= {("balancer.means",)}


def test_lists_in_a_dict_that_keep_graphs_of_one_layer_are_told_as_lists() -> None:
    page = "main.book -> Book -> .pages collections.defaultdict length=2 -> "
    pages = page + "['S1'] list -> [*{step}] tensor 4KiB -> .grad_fn Mean -> .saved tensor 64KiB activation\n"
    pages += page + "['S2'] list -> [*{step}] tensor 4KiB -> .grad_fn Mean -> .saved tensor 64KiB activation"

    (suspect,) = find_suspects(growing(MODEL + pages, STEPS))

    assert told(suspect)[1:] == ("book.pages['S1'][*]", ["book.pages"])
    assert (suspect.holder.element, suspect.through_graph) == (True, True)


def test_a_tensor_that_swells_is_growth_of_one_object() -> None:
    (suspect,) = find_suspects(growing(MODEL + "main.buffer -> tensor {step}KiB at=b{step}", STEPS))

    assert told(suspect) == ("growth", "buffer", ["buffer"])
    assert suspect.growth_bytes_per_step == 1024.0


@pytest.mark.parametrize(("role", "told_of"), [("input", 0), ("", 1)])
def test_a_batch_that_gets_larger_and_goes_into_the_model_is_no_growth(role: str, told_of: int) -> None:
    text = "main.images -> tensor {step}KiB at=b{step} "
    roles = {"step-end": "", "forward-entry": role}
    censuses = [
        made
        for step in STEPS
        for moment, role_then in roles.items()
        for made in growing(MODEL + text + role_then, (step,), moment=moment)
    ]

    assert [told(each)[1] for each in find_suspects(censuses)] == ["images"] * told_of


@pytest.mark.parametrize(("batch", "told_of"), [("{step}", []), ("64", ["out"])])
def test_results_that_get_larger_as_the_batches_do_are_no_growth(batch: str, told_of: list[str]) -> None:
    text = f"main.images -> tensor {batch}KiB at=b{{step}} input\nmain.out -> tensor {{out}}KiB at=o{{step}}"

    found = find_suspects(at_both_moments(text, out=lambda step: 3 * step + 1))

    assert [told(each)[1] for each in found if each.symptom == "growth"] == told_of


ESPNET = """
Trainer.fit(trainer.py:598).retval -> dict at=r{step} -> ['loss'] tensor#loss at=l{step} 4B activation -> .grad_fn LossBackward#node at=n{step} freed -> .grads tensor#grads at=g{step} 64MiB
Trainer.fit(trainer.py:598).retval -> dict -> ['weight'] tensor at=w{step} 4B
Trainer.fit(trainer.py:598).loss -> tensor#loss
Trainer.fit(trainer.py:598).stats -> dict -> ['loss'] tensor at=s{step} 4B
"""


def test_aliases_of_what_is_carried_into_the_forward_are_one_suspect() -> None:
    (suspect,) = find_suspects(at_both_moments(ESPNET))

    assert suspect.symptom == "peak"
    assert [reference.expression for reference in suspect.cut] == ["retval", "loss"]
    assert suspect.holder.expression in ("retval", "loss")
    assert suspect.retained_bytes == 64 * 1024**2 + 8
    assert (suspect.through_graph, suspect.graph_freed) == (True, True)
    assert (suspect.facts["ctx_attribute"], suspect.facts["ctx_type"]) == ("grads", "LossBackward")
    assert (suspect.first_step, suspect.last_step) == (1, 32)


def test_a_buffer_of_the_last_losses_is_told_before_the_variable_of_the_newest() -> None:
    """The newest is held by both; that of the step before, and the one before that, by the buffer alone."""
    kept = "tensor at=l{s} 4B -> .grad_fn Mul#mul{s} at=mul{s} -> .saved tensor at=a{s} 4MiB activation\n"
    lines = "".join(
        f"main.smoothed -> __main__.Smoothed#m -> .recent collections.deque#recent bound=3 length=3 -> [{at}] "
        + kept.replace("{s}", "{step" + (str(at) if at else "") + "}")
        for at in range(3)
    )
    newest = "main.train(train.py:9).loss -> " + kept.replace("{s}", "{step2}")
    names = {"step1": lambda step: step + 1, "step2": lambda step: step + 2}
    (suspect,) = find_suspects(at_both_moments(lines + newest, **names))

    assert (suspect.symptom, suspect.holder.name) == ("peak", "recent")
    assert [reference.name for reference in suspect.cut] == ["recent", "loss"]
    assert ".recent" in suspect.path_text


def test_what_a_context_variable_carries_hangs_on_the_running_threads_context() -> None:
    """Nothing in a census refers to the context of a running thread, and it is alive all the same."""
    kept = "Fitting#f{step} -> .drawn tensor#x{step} at=x{step} 4MiB activation"
    (suspect,) = find_suspects(
        at_both_moments(f"unseen -> Context -> <other > hamt -> <other > hamt_bitmap_node -> [current] {kept}")
    )

    assert (suspect.symptom, suspect.holder.expression, suspect.retained_bytes) == ("peak", "current.drawn", 4 << 20)
    assert find_suspects(at_both_moments(f"unseen -> list -> [0] {kept}")) == ()


def test_a_scalar_at_the_address_of_the_one_before_does_not_make_what_is_carried_lasting() -> None:
    scalar_in_place = ESPNET.replace("at=s{step} 4B", "at=s 4B storage=loss")
    scalar_in_place = scalar_in_place.replace("at=l{step} 4B", "at=l{step} 4B storage=loss")

    (suspect,) = find_suspects(at_both_moments(scalar_in_place))

    assert (suspect.symptom, [reference.expression for reference in suspect.cut]) == ("peak", ["retval", "loss"])


def test_what_each_step_makes_anew_at_the_address_of_the_one_before_is_carried() -> None:
    """A step mostly gets the memory that the one before gave back; only the serial tells that it is another."""
    kept = "loop.train(loop.py:9).masks -> tensor at=same 4MiB activation serial="

    assert find_suspects(at_both_moments(MODEL + kept + "1")) == ()
    (suspect,) = find_suspects(at_both_moments(MODEL + kept + "{step}"))
    assert (suspect.symptom, suspect.holder.expression, suspect.retained_bytes) == ("peak", "masks", 4 << 20)


LOGITS = """
loop.train(loop.py:9).outputs -> Output#o{step} -> .logits tensor#l{step} 3MiB activation
loop.train(loop.py:9).logits -> tensor#l{step}
loop.train(loop.py:9).shifted -> tensor#s{step} 2MiB activation
"""


def test_an_object_made_each_step_is_dropped_by_its_variable_and_variables_of_one_function_are_told_together() -> None:
    (suspect,) = find_suspects(at_both_moments(MODEL + LOGITS))

    assert sorted(reference.expression for reference in suspect.cut) == ["logits", "outputs", "shifted"]
    assert suspect.retained_bytes == 5 * 1024**2


def test_an_object_that_a_later_stage_makes_each_step_is_dropped_by_its_variable_too() -> None:
    """After steps 8, 16, 24, 32, no two of which follow each other."""
    warm_up = growing("main.net -> Net#early -> .w tensor#e 1KiB parameter", (1, 2, 3, 4), moment="forward-entry")
    later = [
        made
        for step in (8, 16, 24, 32)
        for moment in ("step-end", "forward-entry")
        for made in growing(MODEL + LOGITS, (step,), moment=moment)
    ]

    (suspect,) = (found for found in find_suspects([*warm_up, *later]) if found.symptom == "peak")

    assert sorted(reference.expression for reference in suspect.cut) == ["logits", "outputs", "shifted"]


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        (
            "tensor#o* 4B at=o{v}* -> .grad_fn SumBackward0#s* at=s{v}* -> .saved tensor#a* at=a{v}* 1MiB activation",
            ["counts"],
        ),
        ("tensor#o* 4B at=o{v}* -> .grad_fn SumBackward0#s* at=s{v}* freed", []),
        ("tensor#o* 1MiB at=o{v}* activation", []),
    ],
    ids=["with-graphs", "spent", "without"],
)
def test_what_an_evaluation_of_a_later_step_keeps_with_its_graphs_until_the_next_one_is_told(
    kept: str, told: list[str]
) -> None:
    """After steps 14, 21, 28: at less than half of all entries, at all since it began."""
    text = "main.counts -> list#c length=6 -> [*{n}] " + kept
    censuses = at_both_moments(text, n=lambda step: 6 if step >= 14 else 0, v=lambda step: f"{step // 7}x")

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "peak"]

    assert [reference.expression for suspect in found for reference in suspect.cut] == told


@pytest.mark.parametrize(
    ("layer", "told"),
    [
        ("main.net -> __main__.Net#n -> ._modules dict -> ['front'] __main__.Layer#l -> .output", ["net.front.output"]),
        ("main.table -> __main__.Table#t -> .output", []),
    ],
)
def test_what_an_explanation_every_few_steps_leaves_on_layers_counts_since_it_began(
    layer: str, told: list[str]
) -> None:
    """After steps 14, 21, 28: at less than half of all entries, at all since it began."""
    kept = [(step, f"{layer} tensor#o{step // 7} at=o{step // 7} 1MiB\n" if step >= 14 else "") for step in STEPS]
    censuses = [
        made
        for step, text in kept
        for moment in ("step-end", "forward-entry")
        for made in growing(MODEL + text, (step,), moment=moment)
    ]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "peak"]

    assert [reference.expression for suspect in found for reference in suspect.cut] == told


@pytest.mark.parametrize(("model", "told"), [("late", ["fit.out"]), ("", [])])
def test_what_is_carried_counts_in_the_entries_of_the_model_that_is_trained_at_last(
    model: str, told: list[str]
) -> None:
    """After steps 12, 16, 24, 32: at less than half of all entries, at all of the second model's."""
    text = f"""
    main.net -> Net#{model}{{v}} -> .w tensor#w{model}{{v}} 1MiB parameter
    main.fit -> Fit#f -> .out list#o length=1 -> [*{{n}}] tensor#l{{step}}x* 3MiB activation
    """
    begun = {"n": lambda step: int(step >= 12), "v": lambda step: int(step >= 12) if model else 0}
    censuses = [
        made
        for step in STEPS
        for moment in ("step-end", "forward-entry")
        for made in growing(text, (step,), moment=moment, **begun)
    ]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "peak"]

    assert [reference.expression for suspect in found for reference in suspect.cut] == told


def test_an_object_that_stays_gives_up_its_attribute() -> None:
    lasting = "main.trainer -> Trainer#t -> .last tensor#l{step} 3MiB activation"

    (suspect,) = find_suspects(at_both_moments(MODEL + lasting))

    assert [reference.expression for reference in suspect.cut] == ["trainer.last"]


@pytest.mark.parametrize(("size", "told"), [("512KiB", 0), ("4MiB", 1)])
def test_a_last_batch_below_a_kept_graph_is_told_only_where_it_weighs(size: str, told: int) -> None:
    batch = f"loop.train(loop.py:9).loss -> tensor#l{{step}} 4B -> .grad_fn Mean#m{{step}} -> .next AccumulateGrad#a{{step}} -> .next tensor#x{{step}} {size}"

    found = find_suspects(at_both_moments("main.model -> Net#n -> .w tensor#w 20MiB parameter\n" + batch))

    assert [suspect.symptom for suspect in found] == ["peak"] * told


def test_a_nested_function_that_calls_itself_is_a_ring_that_its_definition_closes() -> None:
    """And not a statement of a library's that binds the same name."""
    function = "island -> function#f{step} file=tree.py:3 name=forward.<locals>.state"
    ring = f"{function} -> <cell state> function#f{{step}}\n{function} -> <cell known> dict#d{{step}} -> [0] tensor#t{{step}} 4KiB\n"
    text = "def forward(batch):\n    known = {}\n    def state(node):\n        return known.get(node) or state(node.left)\n    return state(batch)\n"
    library = "class Optimizer:\n    def step(self):\n        state = self.state[0]\n"
    sources = {"tree.py": SourceFile("tree.py", text), "adam.py": SourceFile("adam.py", library, origin="library")}

    (found,) = find_suspects(growing(MODEL + ring, STEPS))
    (site,) = locate(found, sources).holder.sites

    assert (found.symptom, found.holder.kind, found.holder.name) == ("cycle", "closure", "state")
    assert (site.file, site.line) == ("tree.py", 3)


def test_a_ring_seen_in_several_censuses_is_a_cycle() -> None:
    ring = """
    island -> __main__.Metric#m{step} -> .update function#w{step} file=metric.py:9 name=wrapped -> <cell self> __main__.Metric#m{step}
    island -> __main__.Metric#m{step} -> .matrix tensor#t{step} 4KiB
    """
    (suspect,) = find_suspects(growing(MODEL + ring, STEPS))

    assert (suspect.symptom, suspect.cyclic, suspect.holder.kind, suspect.holder.name) == (
        "cycle",
        True,
        "cycle",
        "update",
    )
    assert suspect.holder.owner_type == "__main__.Metric"
    assert (
        suspect.path_text
        == (
            "a ring that nothing else holds: Metric",
            "closure variable `self` of wrapped (metric.py:9)",
        )
        or suspect.path_text[0] == "a ring that nothing else holds: Metric"
    )
    assert suspect.retained_bytes == 4096


HEALTHY = {
    "a bounded deque that fills": "main.recent -> collections.deque bound=100 -> [*{step}] tensor 64KiB",
    "actions of records in a full replay buffer, ever more of them views": "main.replay -> __main__.Replay bound=40 -> .items list length=40 -> [*{step}] Transition length=4 -> [1] tensor 8B -> ._base tensor 8B",
    "a replay buffer with a capacity": "main.replay -> __main__.Replay bound=1000 -> .items list -> [*{step}] tensor 64KiB",
    "a running loss": "Trainer.fit(trainer.py:598).loss -> tensor at=l{step} 4B activation -> .grad_fn LossBackward at=n{step} freed",
    "small outputs": "Trainer.fit(trainer.py:598).out -> tensor at=o{step} 40KiB activation -> .grad_fn MmBackward0 at=n{step} freed",
    "a precomputed table": "main.table -> tensor 64MiB",
    "a batch of varying length": "Trainer.fit(trainer.py:598).batch -> tensor at=b{step} {size}KiB input",
}


@pytest.mark.parametrize("name", sorted(HEALTHY))
def test_healthy_programs_give_no_suspect(name: str) -> None:
    censuses = at_both_moments(HEALTHY[name], size=lambda step: 700 + (step * 37) % 11 * 10)

    assert find_suspects(censuses) == ()


HEALTHY_SERIES: dict[str, Callable[[int], int]] = {
    "lazy state": lambda step: min(step, 2),
    "a cache at its bound": lambda step: min(step, 9),
    "layers added once": lambda step: 1 if step < 6 else 5,
    "sequences of random length": lambda step: (step * 7919) % 13 + 1,
}


@pytest.mark.parametrize("name", sorted(HEALTHY_SERIES))
def test_counts_that_stop_or_waver_give_no_suspect(name: str) -> None:
    text = "main.kept -> list -> [*{n}] tensor 64KiB"

    assert find_suspects(growing(MODEL + text, STEPS, n=HEALTHY_SERIES[name])) == ()


def test_an_average_of_the_weights_made_once_gives_no_suspect() -> None:
    early = [c for c in at_both_moments("") if c.step < 6]  # type: ignore[attr-defined]
    late = [c for c in at_both_moments("main.ema -> __main__.Net -> .w tensor 1MiB") if c.step >= 6]  # type: ignore[attr-defined]

    assert find_suspects([*early, *late]) == ()  # type: ignore[list-item]


def test_what_a_loader_has_waiting_is_not_carried() -> None:
    text = "Trainer.fit(trainer.py:598).it -> torch.utils.data.dataloader._Iter -> ._queue list -> [*2] tensor at=q{step}-* 1MiB"

    assert find_suspects(at_both_moments(text)) == ()


@pytest.mark.parametrize(
    ("held", "told_of"),
    [
        ("collections.deque bound=1 length=1 -> [0] tensor#last 1MiB at=last{step}", 0),
        ("collections.deque bound=1 length=1 -> [0] tensor#last 4B at=last{step} -> .grad_fn AddBackward0#a at=a{step} "
         "-> .saved tensor#s 1MiB activation at=s{step}", 1),
        ("list length=1 -> [0] tensor#last 1MiB at=last{step}", 1),
        ("list length=1 -> [0] tensor#last 4KiB at=last{step}", 0),
    ],
    ids=["a stated bound", "a stated bound around a graph", "a list overwritten", "a list overwritten, of little"],
)  # fmt: skip
def test_the_last_output_is_told_where_it_weighs_and_no_bound_is_stated(held: str, told_of: int) -> None:
    censuses = at_both_moments("\nmain.outputs -> " + held)

    assert len(find_suspects(censuses)) == told_of


def test_labels_of_the_batch_that_is_entering_are_not_carried() -> None:
    """The batch is made between the end of the last step and the forward: nothing of it was there before."""
    text = "Trainer.fit(trainer.py:598).labels -> tensor at=y{step}{moment} 1MiB"
    censuses = [
        made
        for step in STEPS
        for moment in ("step-end", "forward-entry")
        for made in growing(MODEL + text.replace("{moment}", moment), (step,), moment=moment)
    ]

    assert find_suspects(censuses) == ()


def test_no_censuses_no_suspects() -> None:
    assert find_suspects([]) == ()
    assert find_suspects([census("main.x -> list")]) == ()


def test_the_same_holder_has_the_same_fingerprint_whatever_lines_and_addresses() -> None:
    text = "Trainer.fit(trainer.py:{line}).losses -> list -> [*{step}] tensor 4B"
    (first,) = find_suspects(growing(text, STEPS, line=lambda step: 10))
    (second,) = find_suspects(growing(text, STEPS, line=lambda step: 99))

    assert first.fingerprint == second.fingerprint


def test_a_callers_variable_for_the_same_object_is_known() -> None:
    inner = "forward(m.py:4).past -> tuple#past -> [0] tensor#kept 4MiB activation"
    outer = "stream(s.py:19).past -> tuple#past"
    made = view_census(census(MODEL + inner + "\n" + outer), Shapes())
    variables = [at for at, label in enumerate(made.graph.labels) if label == "past"]

    found = holding_reference(made.graph, made.paths, Droppable(variables[0]))

    assert (found.scope_function, [each.scope_function for each in found.aliases]) == ("forward", ["stream"])


def test_an_item_of_a_variable_is_known_by_a_callers_variable_too() -> None:
    inner = "forward(m.py:4).levels -> dict#levels -> ['c1'] tensor#kept 4MiB activation"
    outer = "stream(s.py:19).pyramid -> dict#levels"
    made = view_census(census(MODEL + inner + "\n" + outer), Shapes())
    (item,) = (at for at, label in enumerate(made.graph.labels) if label == "'c1'")

    found = holding_reference(made.graph, made.paths, Droppable(item))

    assert (found.kind, found.name) == ("item", "levels['c1']")
    assert [(each.kind, each.name, each.scope_function) for each in found.aliases] == [
        ("item", "pyramid['c1']", "stream")
    ]


WORDS = [first + second for first in "bcdfg" for second in "aeiou"]


@pytest.mark.parametrize(
    ("line", "expected", "gains_names"),
    [
        ("main.cache -> dict#d -> ['{word}'] tensor#t{n} 64KiB", "cache[*]", None),
        ("main.cache -> dict#d -> ['{word}'] list -> [0] tensor#t{n} 64KiB", "cache[*]", None),
        ("main.space -> Space#s -> .kept{n} tensor#t{n} 64KiB", "space", True),
    ],
)
@pytest.mark.parametrize("steps", [(1, 2, 3, 4, 6, 8), (1, 2, 3, 4, 6, 8, 12, 16, 20, 24)], ids=["few", "many"])
def test_a_dict_or_object_that_gets_another_name_with_every_step_grows(
    line: str, expected: str, gains_names: bool | None, steps: tuple[int, ...]
) -> None:
    def after(num_names: int) -> str:
        return MODEL + "\n".join(line.format(word=WORDS[n], n=n) for n in range(num_names))

    (found,) = find_suspects([census(after(step), step=step) for step in steps])
    lazily = find_suspects([census(after(min(step, 4)), step=step) for step in steps])

    assert [reference.expression for reference in found.cut] == [expected]
    assert (found.symptom, found.growth_bytes_per_step) == ("growth", 64 * 1024)
    assert found.facts.get("gains_names") is gains_names
    assert lazily == ()


def test_lists_under_keys_are_elements_of_one_dict() -> None:
    text = "\n".join(
        f"main.table -> dict#d length=3 -> [{key}] list#l{key} -> [*{{step}}] tensor#t{key}x* 64KiB" for key in range(3)
    )

    (found,) = find_suspects(growing(MODEL + text, STEPS))

    assert told(found)[1:] == ("table[0][*]", ["table"])
    assert (found.holder.name, found.holder.element) == ("table[0]", True)


@pytest.mark.parametrize(
    ("line", "fills_running"),
    [
        ("main.coro -> coroutine#c file=q.py:3 name=check -> <local replies> list#l -> [*{step}] tensor 64KiB", True),
        ("main.streams -> list#l -> [*{step}] generator#g* file=q.py:3 name=stream -> <local x> tensor 64KiB", None),
    ],
)
def test_what_a_suspended_function_fills_is_told_apart_from_functions_that_pile_up(
    line: str, fills_running: bool | None
) -> None:
    (found,) = find_suspects([census(MODEL + line.format(step=step), step=step) for step in STEPS])

    assert found.facts.get("fills_running") is fills_running


@pytest.mark.parametrize(("num_trained", "found"), [(3, [("growth", "log.kept[*]")]), (2, [])])
def test_a_training_after_many_calls_without_one_is_judged_by_its_own_steps(
    num_trained: int, found: list[tuple[str, str]]
) -> None:
    """A policy acts a thousand times to fill a replay memory before the first update: each call counted as a step."""
    kept = "main.log -> __main__.Log -> .kept list -> [*{n}] tensor 16KiB\n"
    acting = [made for step in (1, 2, 3, 4, 6, 8, 16, 32, 64) for made in
              growing(MODEL + kept, (step,), moment="forward-entry", n=lambda step: 1)]  # fmt: skip
    training = [made for step in (100, 101, 102, 104, 108, 116)[-num_trained:] for made in
                growing(MODEL + kept, (step,), moment="step-end", n=lambda step: step - 98)]  # fmt: skip

    assert [told(suspect)[:2] for suspect in find_suspects([*acting, *training])] == found
