# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

FIT = "fit(t.py:9).model -> __main__.Model#model -> ._modules dict#layers"
OLD = "__main__.Lora#old -> ._parameters dict#own -> ['a'] parameter#a 4MiB"
BASE = "__main__.Lora#old -> ._modules dict#inner -> ['base'] torch.nn.Linear#base -> ._parameters dict#w -> ['weight'] parameter#weight 4MiB"
NEW = f"{FIT} -> ['proj'] torch.nn.Linear#new -> ._parameters dict#n -> ['weight'] parameter#merged 4MiB\n"
BEFORE = f"{FIT} -> ['proj'] {OLD}\n{FIT} -> ['proj'] {BASE}\n"


def kept_by(path: str) -> str:
    return f"{path} {OLD}\n{path} {BASE}\n"


def cuts_of(after: str, *, later: tuple[int, ...] = (4, 6, 8), before: str = BEFORE) -> list[tuple[list[str], int]]:
    censuses = [census(before, step=step) for step in (1, 2, 3)]
    censuses += [census(NEW + after, step=step) for step in later]
    return [
        ([reference.expression for reference in suspect.cut], suspect.retained_bytes >> 20)
        for suspect in find_suspects(censuses)
        if suspect.symptom == "survivor"
    ]


@pytest.mark.parametrize(
    ("keeper", "cut"),
    [
        ("fit(t.py:9).undo -> functools.partial#undo -> [0]", "undo"),
        ("main(t.py:30).replaced -> list -> [0]", "replaced"),
        ("surgery.HISTORY -> dict -> ['proj']", "HISTORY"),
        ("fit(t.py:9).undo -> function name=undo -> <cell previous> cell -> [0]", "previous"),
    ],
)
def test_a_layer_that_gave_way_is_kept_by_whoever_can_put_it_back(keeper: str, cut: str) -> None:
    (found,) = cuts_of(kept_by(keeper))

    assert (found[0][0].partition("[")[0].rpartition(".")[2], found[1]) == (cut, 8)


@pytest.mark.parametrize(
    "after",
    [
        "",
        kept_by("main(t.py:30).replaced -> list -> [0]").replace("#old", "#old called"),
        kept_by("main(t.py:30).replaced -> list -> [0]").replace("#old", "#old inside"),
        kept_by(f"{FIT} -> ['wrapper'] __main__.Wrapper#wrapper -> ._modules dict#in -> ['inner']"),
        kept_by("main(t.py:30).spare ->"),
        kept_by("main(t.py:30).replaced -> list -> [0]")
        + "main.optimizer -> torch.optim.SGD#sgd -> .param_groups list -> [0] parameter#a\n",
        kept_by("main(t.py:30).replaced -> list -> [0]").replace("4MiB", "4KiB"),
    ],
)
def test_what_is_freed_called_wrapped_named_or_trained_is_in_use(after: str) -> None:
    assert cuts_of(after) == []


def test_a_layer_that_its_model_called_until_it_gave_way_is_not_in_use() -> None:
    kept = kept_by("main(t.py:30).replaced -> list -> [0]")
    censuses = [census(BEFORE, step=step) for step in (1, 2, 3)]
    censuses += [
        census(NEW + kept.replace("#old", "#old inside" * (step == 4) or "#old"), step=step) for step in (4, 6, 8)
    ]

    assert len([suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]) == 1


def test_a_layer_that_comes_back_was_only_swapped() -> None:
    kept = kept_by("main(t.py:30).replaced -> list -> [0]")
    censuses = [census(BEFORE, step=1), census(BEFORE, step=2)]
    censuses += [census((NEW + kept) if step in (4, 5) else BEFORE + kept, step=step) for step in (4, 5, 6, 7, 8)]

    assert [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"] == []


@pytest.mark.parametrize("at", [4, 6])
def test_other_tensors_at_the_addresses_of_a_layer_that_gave_way_are_not_it(at: int) -> None:
    layer = kept_by("main(t.py:30).replaced -> list -> [0]")
    numbered = layer.replace("#a 4MiB", "#a 4MiB serial=1").replace("#weight 4MiB", "#weight 4MiB serial=2")
    rows = numbered.replace("serial=1", "serial=3").replace("serial=2", "serial=4")
    before = BEFORE.replace("#a 4MiB", "#a 4MiB serial=1").replace("#weight 4MiB", "#weight 4MiB serial=2")

    def found(after: str) -> list[str]:
        censuses = [census(before, step=step) for step in (1, 2, 3)]
        censuses += [census(NEW + (numbered if step < at else after), step=step) for step in (4, 6, 8)]
        return [suspect.holder.name for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]

    assert found(rows) == []
    assert found(numbered) == ["replaced"]


def test_two_censuses_are_too_few() -> None:
    assert cuts_of(kept_by("main(t.py:30).replaced -> list -> [0]"), later=(4, 6)) == []


SLOT = "fit(t.py:9).bay -> __main__.Bay#bay -> .slots dict#slots -> ['coarse'] __main__.Coarse#coarse"
WHOLE = f"{SLOT} -> ._parameters dict#p -> ['w'] parameter#w 4MiB\n"
ON_META = f"{SLOT} -> ._parameters dict#p -> ['w'] parameter#m\n"
METER = "fit(t.py:9).meter -> __main__.Meter#meter -> .watched list#watched -> [0] parameter#w 4MiB\n"


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        (METER, [(["meter.watched"], 4)]),
        ("", []),
        (METER + "fit(t.py:9).prototypes -> parameter#w 4MiB\n", []),
        (METER + "fit(t.py:9).clerk -> __main__.Clerk -> ._parameters dict -> ['w'] parameter#w 4MiB\n", []),
        (METER + "main.optimizer -> torch.optim.SGD#sgd -> .param_groups list -> [0] parameter#w\n", []),
    ],
)
def test_what_a_module_on_meta_had_is_kept_by_a_list_and_not_used(
    kept: str, found: list[tuple[list[str], int]]
) -> None:
    assert cuts_of_what_went_to_meta(ON_META + kept) == found


def test_a_module_that_is_called_with_the_parameters_it_had_before_meta_is_in_use() -> None:
    assert cuts_of_what_went_to_meta(ON_META.replace("#coarse", "#coarse called") + METER) == []


def test_an_attribute_of_a_module_that_is_no_parameter_stays_behind_when_it_goes_to_meta() -> None:
    """As the `weight` that `weight_norm` computes."""
    normed = f"{SLOT} -> .weight tensor#computed 2MiB\n"

    assert cuts_of_what_went_to_meta(ON_META + normed, kept=normed) == [(["bay.slots['coarse'].weight"], 2)]
    assert cuts_of_what_went_to_meta(ON_META.replace("#coarse", "#coarse called") + normed, kept=normed) == []
    assert cuts_of_what_went_to_meta(WHOLE + normed, kept=normed) == []


THETA = "fit(t.py:9).planner -> __main__.Planner#planner -> .theta dict#theta -> ['w'] tensor#t storage=w\n"
AT_ITS_ADDRESS = "fit(t.py:9).policy -> __main__.Policy -> ._parameters dict -> ['v'] parameter#v 4MiB at=w storage=v\n"
THETA_ALONE = THETA.replace("storage=w", "4MiB storage=w")


@pytest.mark.parametrize("others", ["", AT_ITS_ADDRESS])
def test_tensors_with_the_memory_that_a_module_had_before_meta_keep_it(others: str) -> None:
    found = cuts_of_what_went_to_meta(ON_META + THETA_ALONE + others, kept=THETA)

    assert found == [(["planner.theta['w']"], 4)]


@pytest.mark.parametrize(
    "after",
    [
        ON_META.replace("#coarse", "#coarse called") + THETA_ALONE,  # called with them, as by functional_call
        ON_META + THETA_ALONE + "fit(t.py:9).prototypes -> tensor#t\n",
        ON_META + THETA_ALONE + "main.optimizer -> torch.optim.SGD#sgd -> .param_groups list -> [0] tensor#t\n",
    ],
)
def test_memory_that_a_module_had_before_meta_and_that_is_used_otherwise_is_in_use(after: str) -> None:
    assert cuts_of_what_went_to_meta(after, kept=THETA) == []


def test_what_a_call_puts_into_a_module_for_its_time_is_not_what_went_to_meta() -> None:
    shaken = WHOLE.replace("parameter#w", "tensor#shaken") + THETA_ALONE
    censuses = [census(REST + WHOLE + THETA, step=step) for step in (1, 2)]
    censuses += [census(REST + ON_META + THETA_ALONE, step=step) for step in (4, 6, 8)]
    censuses.insert(2, census(REST + shaken, step=2, moment="forward-entry"))

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]
    assert [(each.holder.expression, each.facts["released_step"]) for each in found] == [("planner.theta['w']", 4)]


OTHER = "fit(t.py:9).other -> __main__.Other#other -> ._parameters dict -> ['w'] parameter#o storage=w\n"


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (THETA_ALONE, [(["planner.theta['w']"], 4)]),
        ("", []),
        (THETA_ALONE + OTHER, []),
        (THETA_ALONE + "fit(t.py:9).prototypes -> tensor#t\n", []),
        (THETA_ALONE + "main.optimizer -> torch.optim.SGD#sgd -> .param_groups list -> [0] tensor#t\n", []),
    ],
    ids=["kept by a dict", "kept by nobody", "another module's", "a variable's", "an optimizer's"],
)
def test_memory_of_a_module_that_ended_whole_is_told_where_other_tensors_have_it_and_nobody_uses_them(
    after: str, found: list[tuple[list[str], int]]
) -> None:
    assert cuts_of_what_went_to_meta(after, kept=THETA) == found


PHASE = "fit(t.py:9).phase -> __main__.Denoise#phase_1 -> .net __main__.Net#net -> ._parameters dict -> ['w'] parameter#w 4MiB\n"
NEXT = "fit(t.py:9).phase -> __main__.Pick#phase_2 -> .net __main__.Other#other -> ._parameters dict -> ['w'] parameter#o 1MiB\n"
TRACKS = "fit(t.py:9).monitor -> __main__.Monitor#monitor -> .tracks list -> [0] parameter#w 4MiB\n"


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (TRACKS, [(["monitor.tracks"], 4)]),
        (TRACKS + "main.optimizer -> torch.optim.SGD#sgd -> .param_groups list -> [0] parameter#w\n", []),
        (TRACKS + "fit(t.py:9).theta -> parameter#w\n", []),
        (TRACKS + "fit(t.py:9).loss -> tensor 4B -> .grad_fn Mm#m -> .saved parameter#w\n", []),
        ("", []),
    ],
    ids=["a list's", "an optimizer's", "a variable's", "a graph's", "nobody's"],
)
def test_parameters_of_a_module_that_went_with_its_owner_are_told_where_no_name_or_optimizer_has_them(
    after: str, found: list[tuple[list[str], int]]
) -> None:
    censuses = [census(PHASE + TRACKS, step=step) for step in (1, 2, 3)]
    censuses += [census(NEXT + after, step=step) for step in (4, 6, 8)]

    survivors = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]

    assert [([each.expression for each in told.cut], told.retained_bytes >> 20) for told in survivors] == found


REST = f"{FIT} -> ['proj'] torch.nn.Linear#new -> ._parameters dict#n -> ['weight'] parameter#own 4MiB\n"


def cuts_of_what_went_to_meta(after: str, *, kept: str = METER) -> list[tuple[list[str], int]]:
    censuses = [census(REST + WHOLE + kept, step=step) for step in (1, 2, 3)]
    censuses += [census(REST + after, step=step) for step in (4, 6, 8)]
    return [
        ([reference.expression for reference in suspect.cut], suspect.retained_bytes >> 20)
        for suspect in find_suspects(censuses)
        if suspect.symptom == "survivor"
    ]
