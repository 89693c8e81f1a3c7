# ruff: noqa: E501  (a drawn path is one line)
"""What grows by design stays silent, and what grows in one phase only is told with that phase's rate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from heaps import census, growing
from tenure.analysis.suspects import find_suspects
from tenure.model.heap import Census
from tenure.model.suspect import Suspect

STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
SEEDS = range(20)
NET = "Trainer.fit(trainer.py:9).self -> __main__.Trainer#trainer -> .model __main__.Net#net -> ._modules dict -> ['layers'] torch.nn.ModuleList#layers -> ._modules dict#in_list -> "
TRAINED = "Trainer.fit(trainer.py:9).self -> __main__.Trainer#trainer -> .optimizer torch.optim.Adam#adam -> "
MODEL = f"""
{NET}[*{{n}}] torch.nn.Linear#l* -> ._parameters dict#p* -> ['weight'] parameter#w* 64KiB
{TRAINED}.param_groups list -> [0] dict -> ['params'] list -> [*{{n}}] parameter#w* 64KiB
{TRAINED}.state collections.defaultdict -> ['p*'] dict -> ['exp_avg'] tensor 64KiB state
"""


def drawn(text: str, number: Callable[[int], int]) -> tuple[Census, ...]:
    return growing(text, STEPS, n=number)


def told(suspects: tuple[Suspect, ...]) -> list[tuple[str, str]]:
    return [(suspect.symptom, suspect.holder.expression) for suspect in suspects]


def lengths(seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, 9, STEPS[-1]).tolist()


@pytest.mark.parametrize(
    "kept",
    [
        "main.cache -> collections.OrderedDict length=8 -> [*{n}] tensor 64KiB",
        "main.rows -> list -> [*{n}] tensor 64KiB",
    ],
)
def test_a_cache_that_drops_its_oldest_and_a_list_that_is_cut_to_length_are_silent(kept: str) -> None:
    assert find_suspects(drawn(kept, lambda step: min(step, 8))) == ()


def test_links_that_keep_what_went_out_of_a_deque_are_no_entries_of_it() -> None:
    """A deque of the three newest, each of which refers to the one before."""
    chain = "main.window -> collections.deque#q bound=3 length=3 -> [0] __main__.Ticket#t{step}" + "{links}"

    def links(step: int) -> str:
        each = (f" -> .after __main__.Ticket#t{n} -> .payload tensor#p{n} 64KiB" for n in range(step - 1, 0, -1))
        lines, path = [], ""
        for text in each:
            after, payload = text.split(" -> .payload")
            path += after
            lines.append(f"{path} -> .payload{payload}")
        return "\n".join(chain.format(step=step, links=line) for line in lines)

    found = find_suspects([census(links(step), step=step) for step in (2, 3, 4, 6, 8, 13, 16, 22)])

    assert [suspect.symptom for suspect in found] == ["growth"]
    assert "chain_of" in found[0].facts


def test_a_replay_buffer_that_is_full_only_after_the_run_is_silent() -> None:
    kept = "main.replay -> __main__.Replay bound=10000 -> .memory list -> [*{n}] tensor 64KiB"

    assert find_suspects(drawn(kept, lambda step: step)) == ()


@pytest.mark.parametrize(("history_size", "silent"), [(100, True), (20, False), (2000, False)])
def test_the_history_of_an_optimizer_that_states_its_size_is_silent_while_it_fills(
    history_size: int, silent: bool
) -> None:
    optimizer = f"Trainer.fit(trainer.py:9).optimizer -> torch.optim.lbfgs.LBFGS bound={history_size} -> "
    kept = f"{optimizer}.state collections.defaultdict -> ['p'] dict -> ['old_dirs'] list length={{n}} -> [*{{n}}] tensor 64KiB"

    assert (find_suspects(drawn(kept, lambda step: step)) == ()) is silent


@pytest.mark.parametrize(("capacity", "silent"), [(1000, False), (100, True)])
def test_a_handlers_capacity_of_records_does_not_excuse_tensors_in_them_until_it_is_half_reached(
    capacity: int, silent: bool
) -> None:
    handler = f"main.held -> logging.handlers.MemoryHandler bound={capacity} -> .buffer list length={{n}} -> "
    kept = f"{handler}[*{{n}}] logging.LogRecord#r* -> .args tuple#a* -> [1] tensor 64KiB"

    assert (find_suspects(drawn(kept, lambda step: step)) == ()) is silent


@pytest.mark.parametrize(
    ("behind", "through_graph"),
    [
        ("tensor#t* 4B -> .grad_fn MeanBackward0#m* -> .saved tensor#s* 64KiB activation", True),
        (
            "ValueError#e* -> .__traceback__ traceback#b* -> .tb_frame frame#f* file=t.py:3 name=fit -> <local x> tensor#t* 64KiB",
            False,
        ),
        ("tensor 64KiB view=1024", False),
    ],
    ids=["graphs", "frames", "storages of small views"],
)
def test_what_elements_of_a_bounded_container_drag_along_was_not_meant(behind: str, through_graph: bool) -> None:
    kept = "main.log -> __main__.Log bound=10000 -> .rows list -> [*{n}] "

    (suspect,) = find_suspects(drawn(kept + behind, lambda step: step))

    assert told((suspect,)) == [("growth", "log.rows[*]")]
    assert suspect.through_graph is through_graph


def test_a_cache_by_length_is_silent_once_all_lengths_have_come() -> None:
    kept = "main.masks -> dict -> [*{n}] tensor 64KiB"
    loud = [seed for seed in SEEDS if find_suspects(drawn(kept, lambda step, s=seed: len(set(lengths(s)[:step]))))]

    assert loud == []


def test_a_buffer_as_long_as_the_longest_batch_is_silent() -> None:
    kept = "main.model -> __main__.Net -> .positions tensor {n}KiB"
    loud = [seed for seed in SEEDS if find_suspects(drawn(kept, lambda step, s=seed: 16 + max(lengths(s)[:step])))]

    assert loud == []


def test_a_model_that_gets_new_layers_and_gives_them_to_its_optimizer_is_silent() -> None:
    assert find_suspects(drawn(MODEL, lambda step: 1 + step // 8)) == ()


@pytest.mark.parametrize(("held", "found"), [(True, []), (False, [("growth", "self.optimizer")])])
def test_gradients_of_layers_that_take_part_later_are_silent_where_a_model_has_the_layers(
    held: bool, found: list[tuple[str, str]]
) -> None:
    layers = f"{NET}[*5] torch.nn.Linear#l* -> ._parameters dict#p* -> ['weight'] parameter#w* 64KiB\n"
    groups = f"{TRAINED}.param_groups list -> [0] dict -> ['params'] list -> [*5] parameter#w* 64KiB\n"
    keys = f"{TRAINED}.state collections.defaultdict -> [*{{n}}] parameter#w* 64KiB -> .grad tensor#g* 64KiB gradient"

    assert told(find_suspects(drawn((layers if held else "") + groups + keys, lambda step: 1 + step // 16))) == found


def test_layers_that_only_the_optimizer_still_has_are_told() -> None:
    lost = f"{TRAINED}.param_groups list -> [0] dict -> ['params'] list -> [*{{n}}] parameter#w* 64KiB"

    assert told(find_suspects(drawn(lost, lambda step: 1 + step // 2))) == [("growth", "self.optimizer")]


@pytest.mark.parametrize("begin", [17, 20, 30])
def test_a_leak_of_a_later_phase_has_that_phases_rate(begin: int) -> None:
    kept = "main.kept -> list -> [*{n}] tensor 4KiB"
    (suspect,) = find_suspects(drawn(kept, lambda step: max(0, step - begin)))

    assert (suspect.symptom, suspect.holder.expression) == ("growth", "kept[*]")
    assert (suspect.growth_objects_per_step, suspect.growth_bytes_per_step) == (1.0, 4096.0)
    assert suspect.facts["grows_since_step"] == max(step for step in STEPS if step <= begin)


def test_a_leak_in_every_tenth_steps_validation_has_the_rate_over_all_steps() -> None:
    kept = "main.kept -> list -> [*{n}] tensor 4KiB"
    (suspect,) = find_suspects(drawn(kept, lambda step: 3 * (step // 10)))

    assert suspect.growth_objects_per_step == pytest.approx(0.3, rel=0.2)


def test_what_a_later_phase_begins_behind_an_unseen_owner_is_not_told() -> None:
    kept = "unseen -> list#kept -> [*{n}] tensor 4KiB"

    assert find_suspects(drawn(kept, lambda step: max(0, step - 20))) == ()


@pytest.mark.parametrize(("made_later", "found"), [(False, []), (True, ["ensemble.members[*]"])])
def test_members_that_lose_their_names_one_after_another_are_no_growth(made_later: bool, found: list[str]) -> None:
    steps = (1, 2, 3, 4, 6, 8, 12, 16, 24)
    censuses = []
    for done, step in enumerate(steps):
        lines = []
        for number in range(len(steps)):
            member = f"__main__.Net#m{number} -> ._parameters dict#p{number} -> ['w'] parameter#w{number} 1MiB\n"
            if number <= done or not made_later:
                lines.append(f"main.ensemble -> __main__.Ensemble -> .members list -> [{number}] {member}")
            if number >= done and (number == done or not made_later):
                lines.append(f"main.pending{number} -> {member}")
        censuses.append(census("".join(lines), step=step))

    assert [each.holder.expression for each in find_suspects(censuses) if each.symptom == "growth"] == found


BEST = "main.best -> __main__.Keeper -> .weights list#w{v} at=w{v} -> [*{n}] tensor#t{v}p* at=t{v}p* {size}KiB"


@pytest.mark.parametrize(
    ("version", "count", "size", "silent"),
    [
        (lambda step: step // 8, lambda step: step // 8 + 1, 64, True),
        (lambda step: 0, lambda step: step // 8 + 1, 64, False),
        (lambda step: step // 4, lambda step: 3, lambda step: 64 * step, False),
    ],
    ids=["copied anew", "one table that gains entries", "copied anew, each entry larger"],
)
def test_a_copy_of_a_model_that_gets_layers_is_silent_and_a_table_that_gains_them_is_not(
    version: Callable[[int], int], count: Callable[[int], int], size: object, silent: bool
) -> None:
    censuses = growing(BEST, STEPS, n=count, v=version, size=size)

    assert (find_suspects(censuses) == ()) is silent
