# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from heaps import address_of, census
from tenure.analysis.idle.idle_modules import without_told_unread, without_used
from tenure.analysis.suspects import find_suspects
from tenure.model.profile import ALIVE, BEFORE, Operations, ProfiledStorages, Sites, StepProfile
from tenure.model.suspect import STILL_USED, UNREAD_MODULE

WEIGHT = "._parameters dict -> ['w'] parameter#w 8MiB"
TRAINER = "Trainer.fit(t.py:9).self -> __main__.Trainer#trainer"
STUDENT = f"""
{TRAINER} -> .student __main__.Student#student called -> ._parameters dict -> ['s'] parameter#s 1MiB
{TRAINER} -> .optimizer torch.optim.sgd.SGD#sgd -> .param_groups list -> [0] parameter#s
"""
TEACHER = f"{TRAINER} -> .teacher __main__.Teacher#teacher -> {WEIGHT}\n"
USED = TEACHER.replace("#teacher", "#teacher called")
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24)


def idle_of(
    *,
    used_at: tuple[int, ...],
    idle: str = TEACHER,
    used: str = USED,
    before: str = "",
    before_use: str | None = None,
    others: str = STUDENT,
) -> list[tuple[list[str], object, object]]:
    """Cut, step of the last call and doubt, of what rests in a run that uses a module in some steps."""
    rests = [idle if before_use is None or step > min(used_at, default=0) else before_use for step in STEPS]
    drawn = zip(STEPS, rests, strict=True)
    censuses = [census(others + (used if step in used_at else rest), step=step) for step, rest in drawn]
    if before:
        censuses.insert(0, census(others.replace(" called", "") + before, step=0, moment="first-call-1"))
    return [
        ([reference.expression for reference in suspect.cut], suspect.facts["last_called_step"], suspect.facts["doubt"])
        for suspect in find_suspects(censuses)
        if suspect.symptom == "survivor"
    ]


def test_a_teacher_of_the_first_steps() -> None:
    assert idle_of(used_at=(1, 2, 3, 4, 6, 8)) == [(["self.teacher"], 7, "")]


def test_a_teacher_in_a_partial_is_told_by_what_has_that() -> None:
    mapped = f"{TRAINER} -> .map __main__.Map -> .fn functools.partial -> ..args tuple -> [0] __main__.Teacher#teacher -> {WEIGHT}\n"

    assert idle_of(used_at=(1, 2, 3, 4, 6, 8), idle=mapped, used=mapped.replace("#teacher", "#teacher called")) == [
        (["self.map.fn"], 7, "")
    ]


def test_a_teacher_that_is_told_by_what_carries_it_is_known_as_a_part_of_that() -> None:
    """A program that still reads the carrier drops the part."""
    carried = f"main(t.py:17).encoder -> __main__.Encoder -> .vae __main__.Teacher#teacher -> {WEIGHT}\n"
    used = carried.replace("#teacher", "#teacher called")
    censuses = [census(STUDENT + (used if step < 9 else carried), step=step) for step in STEPS]

    (suspect,) = (each for each in find_suspects(censuses) if each.symptom == "survivor")

    fields = [[field.expression for field in level] for level in suspect.holder.fields]
    assert (suspect.holder.expression, fields, suspect.cut) == ("encoder", [["encoder.vae"]], (suspect.holder,))


def test_a_teacher_that_a_library_noted_in_a_table_of_its_own_is_told_by_that() -> None:
    keeper = "main(t.py:17).keeper -> torch.hub.Keeper#keeper"
    noted = f"{keeper} -> .models list -> [0] __main__.Teacher#teacher -> {WEIGHT}\n"
    beside = noted + f"main(t.py:17).teacher -> __main__.Teacher#teacher -> {WEIGHT}\n"
    used = noted.replace("#teacher", "#teacher called")

    assert idle_of(idle=noted, used=used, used_at=(1, 2, 3, 4, 6, 8)) == [(["keeper.models[0]"], 7, "")]
    assert idle_of(idle=beside, used=used, used_at=(1, 2, 3, 4, 6, 8)) == [(["keeper.models[0]", "teacher"], 7, "")]


@pytest.mark.parametrize(("trained", "told"), [((97, 98, 100, 104, 112, 120), True), ((97, 98, 99), False)])
def test_steps_before_training_are_left_out_of_the_share_that_a_teacher_of_the_data_must_rest(
    trained: tuple[int, ...], told: bool
) -> None:
    """Calls that prepare the data count as steps until an optimizer steps."""
    untrained = STUDENT.replace(" called", "")
    prepared = [census(untrained + USED, step=step, moment="forward-entry") for step in (1, 16, 64, 95, 96)]
    censuses = [*prepared, *(census(STUDENT + TEACHER, step=step) for step in trained)]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]

    assert [[reference.expression for reference in suspect.cut] for suspect in found] == [["self.teacher"]] * told


def test_a_teacher_that_only_the_running_loop_leads_to() -> None:
    phases = TEACHER.replace(f"{TRAINER} -> .teacher", "unseen -> generator name=phases -> <local teacher>")

    assert idle_of(used_at=(1, 2, 3, 4, 6, 8), idle=phases, used=phases.replace("#teacher", "#teacher called")) == [
        (["teacher"], 7, "")
    ]


@pytest.mark.parametrize(("last", "told"), [(32, True), (24, False)])
def test_a_guide_that_steers_for_half_of_a_run_and_rests_in_two_long_windows_is_told_with_doubt(
    last: int, told: bool
) -> None:
    steps = [step for step in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32) if step <= last]
    until = 16 if last == 32 else 12
    censuses = [census(STUDENT + (USED if step <= until else TEACHER), step=step) for step in steps]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]

    assert [suspect.facts["last_called_step"] for suspect in found] == [13] * told
    assert [suspect.facts["doubt"] for suspect in found] == ["few censuses were taken since it was last called"] * told


def test_an_encoder_that_was_used_before_the_first_step_only() -> None:
    assert idle_of(used_at=(), before=USED) == [(["self.teacher"], 0, "")]


def test_encoders_that_take_turns_before_an_optimizer_steps() -> None:
    both = [TEACHER, TEACHER.replace("eacher", "okenizer").replace("#w", "#v").replace("8MiB", "4MiB")]
    used = [text.replace("#teacher", "#teacher called").replace("#tokenizer", "#tokenizer called") for text in both]
    untrained = STUDENT.strip().splitlines()[0].replace(" called", "") + "\n"
    turns = [used[0] + both[1], both[0] + used[1]] * 3
    censuses = [census(untrained + text, step=at, moment="forward-entry") for at, text in enumerate(turns, start=1)]
    censuses += [census(STUDENT + both[0] + both[1], step=step) for step in (8, 12, 16, 24, 32)]

    found = [
        (suspect.holder.expression, suspect.facts["last_called_step"], suspect.facts["doubt"])
        for suspect in find_suspects(censuses)
        if suspect.symptom == "survivor"
    ]
    assert found == [("self.teacher", 5, ""), ("self.tokenizer", 6, "")]


def test_all_names_are_to_be_dropped_and_the_table_keeps_what_is_in_use() -> None:
    table = f"main(t.py:30).models -> dict -> ['teacher'] __main__.Teacher#teacher -> {WEIGHT}\nmain(t.py:30).models -> dict -> ['student'] __main__.Student#student\n"

    found = idle_of(used_at=(1, 2, 3), used=USED + table, idle=TEACHER + table)

    assert found == [(["self.teacher", "models['teacher']"], 3, "")]


def test_a_part_that_is_called_by_itself_stands_for_its_module() -> None:
    coder = f"{TRAINER} -> .vae __main__.Vae -> ._modules dict -> ['encoder'] __main__.Encoder#e -> {WEIGHT}\n"

    assert idle_of(used_at=(1, 2), used=coder.replace("#e", "#e called"), idle=coder) == [(["self.vae"], 2, "")]


def test_a_part_of_a_module_that_is_never_called_as_a_whole() -> None:
    whole = "main(t.py:9).system -> __main__.System#system -> ._modules dict"
    others = f"""
{whole} -> ['student'] __main__.Student#student called -> ._parameters dict -> ['s'] parameter#s 1MiB
main(t.py:9).optimizer -> torch.optim.sgd.SGD#sgd -> .param_groups list -> [0] parameter#s
"""
    teacher = f"{whole} -> ['teacher'] __main__.Teacher#teacher -> {WEIGHT}\n"
    used = teacher.replace("#teacher", "#teacher called")

    assert [found[1:] for found in idle_of(used_at=(1, 2, 3), used=used, idle=teacher, others=others)] == [(3, "")]


STAGES = """
Trainer.fit(t.py:9).self -> __main__.Trainer#trainer -> .adam torch.optim.adam.Adam#adam
unseen -> torch.optim.adam.Adam#adam -> .param_groups list#groups -> [0] parameter#s
unseen -> torch.optim.adam.Adam#adam -> .param_groups list#groups -> [1] parameter#w
unseen -> torch.optim.adam.Adam#adam -> .state dict#state -> [0] dict -> ['exp_avg'] tensor#m 8MiB state
unseen -> dict#state -> <member> parameter#w
"""
GRADIENT = "unseen -> parameter#{} -> .grad tensor#{}g 1MiB gradient\n"


@pytest.mark.parametrize(
    ("trained", "moment", "told"),
    [
        ("s", "step-end", True),
        ("sw", "step-end", False),
        ("", "step-end", False),
        ("s", "forward-entry", False),
    ],
)
def test_a_first_stage_that_the_optimizer_of_all_stages_passes_by_is_told_with_doubt_and_its_state(
    trained: str, moment: str, told: bool
) -> None:
    """Of a step's end gradients tell what was trained; those that are left zeroed, or dropped before, tell nothing."""
    student = STUDENT.strip().splitlines()[0] + "\n"
    later = student + "".join(GRADIENT.format(each, each) for each in trained)
    drawn = [student + USED + STAGES if step < 9 else later + TEACHER + STAGES for step in STEPS]
    censuses = [census(text, step=step, moment=moment) for step, text in zip(STEPS, drawn, strict=True)]

    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]

    assert [
        (suspect.holder.expression, [cut.name for cut in suspect.cut], suspect.retained_bytes >> 20, suspect.drops)
        for suspect in found
    ] == [("self.teacher", ["teacher"], 16, ())] * told
    assert [suspect.facts["doubt"] for suspect in found] == [
        "an optimizer that goes on has its parameters: the program may come back to it"
    ] * told


BY_HAND = STUDENT.replace("torch.optim.sgd.SGD#sgd", "__main__.Steps").replace(".param_groups list", ".tensors list")
COPY = TEACHER.replace("Teacher#", "Student#").replace("8MiB", "2MiB")
LARGE_STUDENT = STUDENT.replace("1MiB", "2MiB")


LITTLE = TEACHER.replace("8MiB", "300KiB")
LATE = "its use began late and ended: such a phase may come again"


@pytest.mark.parametrize(
    ("used_at", "options", "doubt"),
    [
        ((1,), {}, "it was seen in use only once"),
        ((1, 2, 3, 4), {"others": BY_HAND}, "no optimizer exists: the program may come back to it"),
        ((3, 4, 6), {}, ""),
        ((4, 6, 8), {}, ""),
        ((3, 4), {}, LATE),
        ((8, 12, 16), {}, LATE),
        ((6, 8, 12), {}, "few censuses were taken since it was last called"),
        ((6, 8, 12), {"before_use": ""}, "few censuses were taken since it was last called"),
        (
            (1, 2, 3),
            {"idle": LITTLE, "used": LITTLE.replace("#teacher", "#teacher called")},
            "it is little: of what the program is to be it may be next to nothing",
        ),
        (
            (1, 2),
            {"others": LARGE_STUDENT, "idle": COPY, "used": COPY.replace("#teacher", "#teacher called")},
            "a module in use is made like it: it may be its copy or average, updated without a call",
        ),
    ],
)
def test_a_module_that_may_be_used_again_or_unseen_is_told_with_the_doubt(
    used_at: tuple[int, ...], options: dict[str, str], doubt: str
) -> None:
    assert [found[2] for found in idle_of(used_at=used_at, **options)] == [doubt]


LIGHT = TEACHER.replace("8MiB", "100KiB")
IN_STUDENT = f"{TRAINER} -> .student __main__.Student#student -> .helpers list -> [0] __main__.Teacher#teacher\n"
TRAINED = f"{TRAINER} -> .optimizer torch.optim.sgd.SGD#sgd -> .param_groups list -> [1] parameter#w\n"
TIED = (
    f"{TRAINER} -> .student __main__.Student#student -> ._parameters dict -> ['tied'] parameter#tied 8MiB storage=w\n"
)
IN_GRAPH = "step(t.py:3).loss -> tensor 4B -> .grad_fn MmBackward0 -> .saved parameter#w\n"
COMPILED = f"{TRAINER} -> .fast torch._dynamo.eval_frame.OptimizedModule -> ._modules dict -> ['m'] __main__.Teacher#teacher -> {WEIGHT}\n"


@pytest.mark.parametrize(
    ("used_at", "options"),
    [
        ((), {}),  # never called: perhaps updated in place
        (STEPS, {}),  # in use
        ((1, 2, 3, 4, 6, 8, 12), {}),  # idle in too few watched steps
        ((1, 2, 4), {}),  # called now and then
        ((4, 8, 12), {}),
        ((8, 12), {}),  # twice, and idle in too few watched steps
        ((12, 16, 24), {}),  # in use to the end
        ((1, 2, 24), {}),  # comes back
        ((1, 2, 3), {"idle": LIGHT, "used": LIGHT.replace("#teacher", "#teacher called")}),
        ((1, 2, 3), {"idle": "", "used": USED}),  # gone
        ((1, 2, 3), {"others": STUDENT + IN_STUDENT}),  # called from inside a module in use
        ((1, 2, 3), {"others": STUDENT + TIED, "idle": TEACHER.replace("8MiB", "8MiB storage=w")}),
        ((1, 2, 3), {"idle": TEACHER + TRAINED}),
        ((1, 2, 3), {"idle": TEACHER + IN_GRAPH}),
        ((1, 2, 3), {"others": STUDENT + COMPILED}),
        ((1, 2, 3), {"others": STUDENT.replace(" called", "")}),  # nothing was watched any more
        ((1, 2, 3), {"others": STUDENT.replace("1MiB", "1MiB cuda")}),  # moved away from the device
    ],
)
def test_modules_that_are_used_or_may_be_or_weigh_nothing_are_not_told(
    used_at: tuple[int, ...], options: dict[str, str]
) -> None:
    assert idle_of(used_at=used_at, **options) == []


NET = "main(t.py:9).net -> __main__.Net#net called inside -> ._modules dict#parts"
BODY = f"""
{NET} -> ['body'] __main__.Body#body inside -> ._parameters dict -> ['s'] parameter#s 1MiB
main(t.py:9).optimizer -> torch.optim.sgd.SGD#sgd -> .param_groups list -> [0] parameter#s
"""
PART = f"{NET} -> ['stem'] __main__.Stem#stem -> {WEIGHT}\n"
PART_USED = PART.replace("#stem", "#stem inside")
INNER = f"{NET} -> ['stem'] __main__.Stem#stem -> ._modules dict -> ['conv'] __main__.Conv#conv -> {WEIGHT}\n"


@pytest.mark.parametrize(
    ("used", "idle"),
    [
        (PART_USED, PART),
        (PART.replace("#stem", "#stem called"), PART),  # by the program itself
        (INNER.replace("#conv", "#conv inside"), INNER),  # through a method of the part
    ],
)
def test_a_part_of_a_module_in_use_that_is_not_called_any_more_is_told_by_its_place(used: str, idle: str) -> None:
    assert idle_of(used_at=(1, 2, 3), used=used, idle=idle, others=BODY) == [(["net.stem"], 3, "")]


def test_where_calls_by_other_modules_were_not_watched_a_part_of_a_module_in_use_is_in_use() -> None:
    old = {"used": PART_USED, "idle": PART, "others": BODY}
    old = {name: text.replace(" inside", "") for name, text in old.items()}
    old["used"] = old["used"].replace("#stem", "#stem called")

    assert idle_of(used_at=(1, 2, 3), **old) == []


@pytest.mark.parametrize(
    ("type_name", "told"),
    [
        ("torch.nn.parallel.distributed.DistributedDataParallel", 1),
        ("torch.nn.modules.container.Sequential", 1),
        ("torch.nn.parallel.data_parallel.DataParallel", 0),
        ("torch.nn.modules.transformer.TransformerEncoderLayer", 0),
        ("torch.jit._script.RecursiveScriptModule", 0),
    ],
)
def test_a_part_is_told_where_the_module_around_it_would_call_it(type_name: str, told: int) -> None:
    used, idle, others = (text.replace("__main__.Net", type_name) for text in (PART_USED, PART, BODY))

    assert len(idle_of(used_at=(1, 2, 3), used=used, idle=idle, others=others)) == told


BLOCKS = f"{NET} -> ['blocks'] torch.nn.modules.container.ModuleList -> ._modules dict"
EXPERT = f"{BLOCKS} -> ['0'] __main__.Expert#one -> {WEIGHT}\n"
OTHER_EXPERT = f"{BLOCKS} -> ['1'] __main__.Expert inside -> ._parameters dict -> ['v'] parameter#v 8MiB\n"
KEPT = "main(t.py:9).net -> __main__.Net#net -> .helpers list -> [0] __main__.Stem#stem\n"
TIED_TO_BODY = f"{NET} -> ['body'] __main__.Body#body -> .table parameter#w\n"


@pytest.mark.parametrize(
    ("used_at", "options"),
    [
        ((1, 2, 3, 12), {}),
        ((1, 2, 3), {"used": EXPERT.replace("#one", "#one inside"), "idle": EXPERT, "others": BODY + OTHER_EXPERT}),
        ((1, 2, 3), {"others": BODY + KEPT}),
        ((1, 2, 3), {"others": BODY + TIED_TO_BODY}),
        (
            (1, 2, 3),
            {"idle": PART + "main(t.py:9).optimizer -> torch.optim.sgd.SGD#sgd -> .state list -> [0] parameter#w\n"},
        ),
    ],
)
def test_parts_that_are_or_may_be_used_are_not_told(used_at: tuple[int, ...], options: dict[str, str]) -> None:
    assert idle_of(used_at=used_at, **{"used": PART_USED, "idle": PART, "others": BODY, **options}) == []


def profiled(step: int, last_use: int, *, of: str = "w", size: int = 8 << 20) -> StepProfile:
    """A profile that saw the weight there before its first operation, and `last_use` of it."""
    columns = {
        "address": address_of(f"storage of {of}"),
        "bytes": size,
        "birth": BEFORE,
        "last_use": last_use,
        "death": ALIVE,
    }
    return StepProfile(
        step=step,
        second=5,
        census_op=-1,
        seconds=0,
        strings=(),
        operations=Operations(*(np.zeros(9, dtype=np.int64),) * 3),
        sites=Sites(*(np.zeros(0, dtype=np.int64),) * 3),
        storages=ProfiledStorages(
            **{each.name: np.array([columns.get(each.name, 0)]) for each in fields(ProfiledStorages)}
        ),
    )


@pytest.mark.parametrize("serial", ["", " serial=5"])
@pytest.mark.parametrize(("step", "last_use", "told"), [(12, 3, 0), (12, BEFORE, 1), (4, 3, 1)])
def test_what_an_operation_of_later_steps_used_is_not_idle(step: int, last_use: int, told: int, serial: str) -> None:
    """A profile knows storages by their addresses, a census by numbers of their own as well."""
    used, idle = (text.replace("8MiB", f"8MiB{serial}") for text in (USED, TEACHER))
    censuses = [census(STUDENT + (used if at in (1, 2, 3) else idle), step=at) for at in STEPS]
    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]

    assert len(without_used(found, [profiled(step, last_use)])) == told


@pytest.mark.parametrize(("size", "still_used"), [(64, [64 << 10]), (512, [])], ids=["a scale", "a table"])
def test_a_module_of_which_operations_use_a_small_part_alone_rests_all_the_same(
    size: int, still_used: list[int]
) -> None:
    """As the buffers that a method of an autoencoder reads, which nobody calls any more."""
    table = f"{TRAINER} -> .teacher __main__.Teacher#teacher -> ._buffers dict -> ['scale'] buffer#b {size}KiB\n"
    used, idle = (text + table for text in (USED, TEACHER))
    censuses = [census(STUDENT + (used if at in (1, 2, 3) else idle), step=at) for at in STEPS]
    found = [suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]

    told = without_used(found, [profiled(12, 3, of="b", size=size << 10)])

    assert [suspect.facts[STILL_USED] for suspect in told] == still_used


@pytest.mark.parametrize(
    ("profiles", "parts"),
    [([profiled(6, BEFORE)], ["net.stem"]), ([profiled(6, 3)], []), ([], [])],
    ids=["untouched", "used by the function around it", "not watched"],
)
def test_a_part_that_was_never_called_is_told_with_doubt_where_no_operation_used_it(
    profiles: list[StepProfile], parts: list[str]
) -> None:
    found = find_suspects([census(BODY + PART, step=step) for step in STEPS])
    told = [suspect for suspect in without_used(found, profiles) if suspect.symptom == "survivor"]

    assert [suspect.holder.expression for suspect in told] == parts
    assert all(suspect.facts["doubt"] and suspect.facts["never_called"] for suspect in told)


CRITIC = TEACHER.replace("teacher", "critic").replace("Teacher", "Critic")


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (BODY + CRITIC, [["self.critic"]]),
        (BODY.replace(" -> .param_groups", " -> .names") + CRITIC, []),
        (BODY.replace(" inside", "") + CRITIC, []),
        (BODY + CRITIC + CRITIC.replace("critic", "other").replace("#w", "#v"), []),
        (
            BODY + CRITIC + "main(t.py:9).optimizer -> torch.optim.sgd.SGD#sgd -> .state list -> [0] parameter#w\n",
            [],
        ),
    ],
    ids=["alone", "nothing is trained", "calls inside were not watched", "made like another", "an optimizer steps it"],
)
def test_a_whole_module_that_was_never_called_is_told_with_doubt_unless_it_is_made_like_another(
    others: str, told: list[list[str]]
) -> None:
    """As a network whose weights plain functions used before the first step."""
    found = find_suspects([census(others, step=step) for step in STEPS])
    rests = [suspect for suspect in found if suspect.symptom == "survivor"]

    assert [[each.expression for each in suspect.cut] for suspect in rests] == told
    assert all(suspect.facts["doubt"] and suspect.facts["never_called"] for suspect in rests)
    unread = tuple(replace(suspect, facts={UNREAD_MODULE: "__main__.Critic"}) for suspect in rests)
    assert without_told_unread(rests, unread) == ()
    assert without_told_unread(rests, rests) == tuple(rests)


def test_parts_that_were_never_called_are_told_together_where_modules_of_one_type_have_them_by_one_name() -> None:
    """As adapters in attention and in a feed-forward layer, each of which keeps the layer that it stands for."""
    layer = f"{NET} -> ['{{at}}'] __main__.Adapter#{{at}} inside -> ._modules dict -> ['base'] torch.nn.Linear -> "
    adapters = "".join(
        layer.format(at=at) + f"._parameters dict -> ['weight'] parameter#{at}w 8MiB\n" for at in ("qkv", "up")
    )
    found = find_suspects([census(BODY + adapters, step=step) for step in STEPS])
    (together,) = (suspect for suspect in found if suspect.symptom == "survivor")

    assert [each.expression for each in together.cut] == ["net.qkv.base", "net.up.base"]
    assert together.retained_bytes == 16 << 20


@pytest.mark.parametrize(
    "others",
    [
        BODY + "main(t.py:9).optimizer -> torch.optim.sgd.SGD#sgd -> .state list -> [0] parameter#w\n",
        BODY.replace(" inside", "").replace(" called", ""),
    ],
    ids=["an optimizer steps it", "nor was the model around it"],
)
def test_a_part_that_was_never_called_is_in_use_with_an_optimizer_or_a_model_that_rests(others: str) -> None:
    found = find_suspects([census(others + PART, step=step) for step in STEPS])

    assert [suspect for suspect in found if suspect.symptom == "survivor"] == []


def test_where_the_program_compiles_a_module_may_be_called_unseen() -> None:
    censuses = [census(STUDENT + (USED if at in (1, 2, 3) else TEACHER), step=at) for at in STEPS]
    growing = [census(f"main.rows -> list -> [*{at}] tensor 1MiB", step=at) for at in STEPS]
    idle, other = find_suspects(censuses), find_suspects(growing)

    assert [without_used((*idle, *other), (), compiles=each) for each in (False, True)] == [(*idle, *other), other]


def test_what_was_found_to_be_released_is_not_told_again() -> None:
    others = STUDENT + "main.step -> list -> [0] tensor 4B\n"
    named = f"main.teacher -> __main__.Teacher#teacher -> {WEIGHT}\n"
    cached = f"{TRAINER} -> .cache __main__.Cache -> .teacher __main__.Teacher#teacher -> {WEIGHT}\n"
    used = (named + cached).replace("#teacher", "#teacher called")
    censuses = [census(others + (used if step < 4 else cached), step=step) for step in STEPS]

    found = [suspect.facts for suspect in find_suspects(censuses) if suspect.symptom == "survivor"]
    assert [facts.get("released") for facts in found] == ["teacher"]


@pytest.mark.parametrize(("called_in", "told"), [("", []), (" called_in=13", []), (" called_in=9", [9])])
def test_when_a_module_was_called_last_says_how_long_it_rests(called_in: str, told: list[int]) -> None:
    """A window of steps 9 to 16, of which the last call came early or late; the next one ends the run."""
    used = USED.replace("#teacher called", "#teacher called inside{}")
    drawn = [(step, used.format("")) for step in (1, 2, 3, 4, 6, 8)] + [(16, used.format(called_in)), (28, TEACHER)]
    censuses = [census(STUDENT.replace(" called", " called inside") + text, step=step) for step, text in drawn]

    found = [suspect for suspect in find_suspects(censuses) if "last_called_step" in suspect.facts]
    assert [suspect.facts["last_called_step"] for suspect in found] == told


def test_series_and_device_of_an_idle_module() -> None:
    censuses = [census(STUDENT + (USED if step < 4 else TEACHER), step=step) for step in STEPS]

    found = next(suspect for suspect in find_suspects(censuses) if suspect.symptom == "survivor")
    assert (found.retained_bytes, found.device, found.series.steps, set(found.series.bytes)) == (
        8 << 20,
        "cpu",
        STEPS,
        {8 << 20},
    )
    assert (found.facts["module"], found.facts["windows_called"], found.facts["windows_idle"]) == (
        "__main__.Teacher",
        3,
        6,
    )


def test_a_module_that_only_a_hooks_closure_still_has_was_released_by_the_object_that_named_it() -> None:
    """The object is in no census once it leads to no memory: whether it lives does not matter."""
    hook = (
        "Trainer.fit(t.py:9).self -> __main__.Trainer#trainer -> .student __main__.Student#student called inside"
        " -> ._forward_hooks collections.OrderedDict -> [3] function#listen file=distil.py:17 name=listen"
        " -> <cell teacher> __main__.Teacher#teacher{called} -> " + WEIGHT + "\n"
    )
    guide = "Trainer.fit(t.py:9).guide -> __main__.Guide#guide -> .teacher __main__.Teacher#teacher\n"
    censuses = [
        census(
            STUDENT.replace(" called", " called inside")
            + hook.format(called=" called" if step <= 8 else "")
            + (guide if step <= 8 else ""),
            step=step,
        )
        for step in STEPS
    ]

    (found,) = (each for each in find_suspects(censuses) if each.symptom == "survivor")

    assert (found.facts["released"], found.facts["last_called_step"], [cut.name for cut in found.cut]) == (
        "teacher",
        7,
        ["teacher"],
    )


@pytest.mark.parametrize(
    ("named", "until", "last", "told"),
    [(False, 6, 13, True), (False, 6, 9, False), (True, 6, 13, False), (False, 8, 13, False)],
    ids=["rests", "rests too short", "its object still names it", "is called in training"],
)
def test_what_only_prepared_data_and_lost_its_name_is_told_with_doubt_after_a_short_rest(
    named: bool, until: int, last: int, told: bool
) -> None:
    """Censuses of a large process are few: an encoder that a registered function closes over, unloaded before step 1."""
    encode = (
        "encoders._encode_fns -> dict -> ['train'] function#encode file=encoders.py:38 name=encode"
        " -> <cell vae> __main__.Vae#vae{called} -> " + WEIGHT + "\n"
    )
    owner = "Trainer.fit(t.py:9).encoders -> __main__.Encoders#encoders -> .vae __main__.Vae#vae\n"
    moments = [(step, "forward-entry") for step in range(1, 7)] + [(step, "step-end") for step in (8, 9, 10, 13)]
    censuses = [
        census(
            (STUDENT if moment == "step-end" else STUDENT.replace(" called", ""))
            + encode.format(called=" called" if at <= until else "")
            + (owner if named or at <= until else ""),
            step=step,
            moment=moment,
        )
        for at, (step, moment) in enumerate(moments, start=1)
        if step <= last
    ]

    found = [each for each in find_suspects(censuses) if each.symptom == "survivor"]

    doubt = "it has rested for a few steps only"
    assert [(each.facts["released"], each.facts["doubt"]) for each in found] == [("vae", doubt)] * told


def test_a_module_that_an_optimizer_was_given_and_never_stepped_is_told_by_its_own_name() -> None:
    """What an optimizer has steps for keeps state for it; without any state nobody knows."""
    sgd = f"{TRAINER} -> .optimizer torch.optim.sgd.SGD#sgd"
    given = f"{sgd} -> .param_groups list#groups -> [1] parameter#w 8MiB\n"
    given += f"{sgd} -> .param_groups list#groups -> [0] parameter#s\n"
    stepped = f"{sgd} -> .state dict#state -> <member> parameter#s\n"
    both = stepped + f"{sgd} -> .state dict#state -> <member> parameter#w\n"

    student = STUDENT.strip().splitlines()[0] + "\n"
    found = [idle_of(used_at=(1, 2, 3, 4, 6, 8), others=student + given + state) for state in (stepped, both, "")]

    assert [[(cut[-1], last) for cut, last, _ in each] for each in found] == [[("self.teacher", 7)], [], []]


OWN_OPTIMIZER = f"""
{TRAINER} -> .optim torch.optim.adam.Adam#own -> .param_groups list -> [0] dict -> ['params'] list -> [0] parameter#w
{TRAINER} -> .optim torch.optim.adam.Adam#own -> .state collections.defaultdict -> ['<Parameter>'] dict -> ['exp_avg'] tensor 8MiB state
{TRAINER} -> .optim torch.optim.adam.Adam#own -> .state collections.defaultdict -> <member> parameter#w
"""


def test_a_module_whose_own_optimizer_has_stopped_with_it_is_told_with_doubt_and_its_state() -> None:
    censuses = [census(STUDENT + (USED if step < 9 else TEACHER) + OWN_OPTIMIZER, step=step) for step in STEPS]

    (suspect,) = (each for each in find_suspects(censuses) if each.symptom == "survivor")

    assert (suspect.holder.expression, suspect.retained_bytes >> 20) == ("self.teacher", 16)
    assert sorted(each.expression for each in suspect.cut) == ["self.optim", "self.teacher"]
    assert (
        suspect.facts["doubt"]
        == "an optimizer has it that trains nothing else or has stopped: the program may come back to both"
    )


WATCHED = """
main(t.py:20).encoder -> __main__.Encoder#encoder called inside -> ._parameters dict -> ['e'] parameter#e 1MiB
main(t.py:20).encoder -> __main__.Encoder#encoder -> ._forward_pre_hooks collections.OrderedDict -> [5] method -> <self> __main__.Masked#masked{called} -> ._modules dict -> ['decoder'] __main__.Decoder#decoder{called} -> ._parameters dict -> ['w'] parameter#w 8MiB
main(t.py:20).second -> torch.optim.adam.Adam#second
main.h -> parameter#h 1MiB
"""


def state_of(optimizer: str, *keys: str, version: int) -> str:
    """The parameters that an optimizer has, with their state."""
    optimizer = f"main.o{optimizer} -> torch.optim.adam.Adam#{optimizer} -> "
    return "".join(
        f"{optimizer}.param_groups list -> [{at}] parameter#{key}\n"
        f"{optimizer}.state collections.defaultdict -> ['<Parameter {at}>'] dict -> ['exp_avg'] tensor 2MiB state"
        f" serial={ord(key)} version={version}\n"
        f"{optimizer}.state collections.defaultdict -> <member> parameter#{key}\n"
        for at, key in enumerate(keys)
    )


@pytest.mark.parametrize(
    ("stopped", "others_go_on", "told"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_a_model_whose_optimizer_steps_no_more_rests_though_that_has_others_in_use_too(
    stopped: bool, others_go_on: bool, told: bool
) -> None:
    """By version counters of the optimizers' state: the first one has the encoder's parameters as well."""
    censuses = [
        census(
            WATCHED.format(called=" called inside" if step <= 8 else "")
            + state_of("first", "w", "e", version=min(step, 8) if stopped else step)
            + state_of("second", "h", version=step if others_go_on else 1),
            step=step,
        )
        for step in STEPS
    ]

    found = [each for each in find_suspects(censuses) if each.symptom == "survivor" and "module" in each.facts]

    told_by = [(each.facts["module"], each.holder.kind, each.holder.expression) for each in found]
    assert told_by == [("__main__.Masked", "hook", "encoder._forward_pre_hooks[5]")] * told


def test_an_optimizer_that_is_all_there_is_keeps_its_modules_in_use() -> None:
    alone = STUDENT.replace("torch.optim.sgd.SGD#sgd -> .param_groups list -> [0] parameter#s", "__main__.Plan#plan")

    assert idle_of(used_at=(1, 2, 3), others=alone + OWN_OPTIMIZER) == []


@pytest.mark.parametrize(("last", "told"), [(64, True), (24, False)])
def test_a_module_that_was_left_out_of_a_few_steps_of_its_use_rests_where_that_is_much_longer_than_the_breaks(
    last: int, told: bool
) -> None:
    """A discriminator's turn comes every other step, so that a window of one step may be without it."""
    steps = [step for step in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64) if step <= last]
    used = [step for step in steps if step <= 12 and step != 3]
    censuses = [census(STUDENT + (USED if step in used else TEACHER), step=step) for step in steps]

    found = [each.facts["doubt"] for each in find_suspects(censuses) if each.symptom == "survivor"]

    assert found == ["it was used now and then: it may be used again"] * told


def test_a_part_of_what_a_bound_method_alone_leads_to_is_told_by_who_has_the_method() -> None:
    """`Probe(vae.encode)`: the decoder came with it. What would go is the decoder all the same."""
    probe = f"{TRAINER} -> .probe __main__.Probe#probe called"
    given = f"{probe} -> .embed method -> <self> __main__.Vae#vae"
    parts = (
        f"{given} -> ._modules dict -> ['encoder'] __main__.Encoder#enc called inside\n"
        f"{given} -> ._modules dict -> ['encoder'] __main__.Encoder#enc -> ._parameters dict -> ['e'] parameter#e 1MiB\n"
    )
    decoder = f"{given} -> ._modules dict -> ['decoder'] __main__.Decoder#dec"
    rests = f"{parts}{decoder} -> {WEIGHT}\n"
    used = rests.replace("Decoder#dec", "Decoder#dec called inside")
    censuses = [census(STUDENT + (used if step <= 8 else rests), step=step) for step in STEPS]

    (suspect,) = (each for each in find_suspects(censuses) if each.symptom == "survivor")

    assert (suspect.holder.expression, suspect.facts["module"]) == ("self.probe.embed", "__main__.Decoder")
    assert [each.expression for each in suspect.cut] == ["self.probe.embed.__self__.decoder"]
