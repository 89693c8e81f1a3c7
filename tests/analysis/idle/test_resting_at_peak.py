from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from profiles import MIB, profile
from resting import (
    ALIVE,
    BATCH,
    BEFORE,
    FRAME,
    INCOMING,
    KEPT,
    LOGITS,
    MODEL,
    OTHER,
    RESULT,
    SLOT,
    STORAGES,
    TOUCHED,
    WEIGHTS,
    seen,
)
from suspects import suspect
from tenure.analysis.idle.peak_figures import BASIS_OF_RESTING
from tenure.analysis.idle.resting_at_peak import find_resting_at_peak
from tenure.analysis.idle.step_replay import Replay
from tenure.model.profile import StepProfile
from tenure.model.source import SourceFile
from tenure.model.suspect import READ_BEFORE, UNREAD_FIELD, Suspect


def found(
    *paths: tuple[str, int],
    later: tuple[tuple[str, int], ...] | None = None,
    at_start: tuple[tuple[str, int], ...] = (),
    told: tuple[Suspect, ...] = (),
    made: StepProfile = TOUCHED,
    used_before: frozenset[tuple[int, int]] = frozenset(),
    sources: Mapping[str, SourceFile] = MappingProxyType({}),
) -> tuple[Suspect, ...]:
    """What rests of `paths`, that the peak of step 6 saw beside a model; the run ends with `later` (the same)."""
    between = [
        seen(MODEL, *at_start, step=1),
        seen(MODEL, *paths, step=4),
        seen(MODEL, *(paths if later is None else later), step=8),
    ]
    peak = seen(MODEL, RESULT, *paths, step=6, moment="peak")
    return find_resting_at_peak(Replay(made, peak), between, told, sources, used_before=used_before)


def expressions(suspects: tuple[Suspect, ...]) -> list[list[str]]:
    return [[each.expression for each in found.cut] for found in suspects]


def test_memory_that_no_operation_of_either_step_touched_is_told_with_its_holder_and_the_fall_of_the_peak() -> None:
    (rests,) = found((INCOMING, KEPT))

    assert (rests.symptom, rests.holder.kind, rests.holder.expression) == ("peak", "attribute", SLOT)
    # 4 + 3 + 2 + 1 MiB in the profile, and the 3 that it does not know.
    assert (rests.peak_bytes, rests.peak_drop_bytes, rests.retained_bytes) == (13 * MIB, 3 * MIB, 3 * MIB)
    assert (rests.peak_basis, rests.storages) == (BASIS_OF_RESTING, frozenset({(KEPT, 3 * MIB)}))
    assert (rests.series.steps, rests.series.bytes) == ((1, 4, 8), (0, 3 * MIB, 3 * MIB))
    assert rests.facts == {"idle_at_peak": True, "rests": True, "last_seen_step": 8, "times_replaced": 0}


def test_other_memory_in_its_place_is_counted_and_memory_that_went_is_not_told() -> None:
    (rests,) = found((INCOMING, KEPT), later=((INCOMING, OTHER),))

    assert (rests.facts["times_replaced"], rests.series.bytes) == (1, (0, 3 * MIB, 3 * MIB))
    assert found((INCOMING, KEPT), later=()) == ()


def test_what_was_there_before_the_first_step_is_the_programs_data() -> None:
    assert found((INCOMING, KEPT), at_start=((INCOMING, KEPT),)) == ()
    assert expressions(found((INCOMING, KEPT), at_start=((INCOMING, OTHER),))) == [[SLOT]]


def test_what_a_module_has_beside_its_tables_is_no_data() -> None:
    """As a model's cache for generation, filled once before the first step."""
    cache = (f"{FRAME}.model -> __main__.Net#n -> ._cache __main__.Cache -> .buffer tensor 3MiB", KEPT)
    told = found(cache, at_start=(cache,))

    assert expressions(told) == [["model._cache"]]


def test_what_other_memory_took_the_place_of_since_is_no_data() -> None:
    rests = found((INCOMING, KEPT), at_start=((INCOMING, KEPT),), later=((INCOMING, OTHER),))

    assert expressions(rests) == [[SLOT]]


PARTS = (("model", KEPT), ("critic", OTHER))


def test_of_a_table_of_tables_the_one_that_rests_is_told_though_another_is_in_use() -> None:
    """As of a checkpoint whose optimizer's state became the optimizer's own."""
    checkpoint = f"{FRAME}.self -> __main__.Slot#s -> .checkpoint dict#c -> "
    model, state = checkpoint + "['model'] dict -> ['w'] tensor 3MiB", checkpoint + "['state'] dict -> [0] tensor 4MiB"

    assert expressions(found((model, KEPT), (state, LOGITS))) == [["self.checkpoint['model']"]]
    alone = checkpoint + "['w'] tensor 3MiB"
    assert found((alone, KEPT), (state, LOGITS)) == ()


def test_tables_of_one_table_that_rest_are_told_and_weighed_together() -> None:
    """As a checkpoint's two models, each of which is a twelfth of the peak, less than is news by itself."""
    checkpoint = f"{FRAME}.self -> __main__.Slot#s -> .checkpoint dict#c -> "
    state = (checkpoint + "['state'] dict -> [0] tensor 4MiB", LOGITS)
    models = [(checkpoint + f"['{name}'] dict -> ['w'] tensor 832KiB", place) for name, place in PARTS]

    (together,) = found(*models, state)

    assert expressions((together,)) == [["self.checkpoint['model']", "self.checkpoint['critic']"]]
    assert together.peak_drop_bytes == 2 * 832 << 10
    assert "rests_in_each_entry" not in together.facts
    assert found(models[0], state) == ()


def test_what_an_earlier_phase_was_seen_to_use_is_no_data_but_its_cache() -> None:
    paths = (INCOMING, KEPT)

    assert expressions(found(paths, at_start=(paths,), used_before=frozenset({(KEPT, 3 * MIB)}))) == [[SLOT]]
    assert found(paths, at_start=(paths,), used_before=frozenset({(OTHER, 3 * MIB)})) == ()


def test_a_profile_says_of_the_census_what_it_used_and_what_not() -> None:
    replay = Replay(TOUCHED, seen(MODEL, RESULT, (INCOMING, KEPT), step=6, moment="peak"))

    assert (KEPT, 3 * MIB) in replay.untouched()
    assert replay.used()
    assert not replay.used() & replay.untouched()


def test_a_container_or_an_object_of_which_one_tensor_is_touched_is_in_use_whole() -> None:
    ring = f"{FRAME}.self -> __main__.Replay#r -> .kept list#l -> "
    in_list = ((f"{ring}[0] tensor 3MiB", KEPT), (f"{ring}[1] tensor 1MiB", BATCH))
    in_object = ((f"{FRAME}.self -> __main__.Replay#r -> .old tensor 3MiB", KEPT),
                 (f"{FRAME}.self -> __main__.Replay#r -> .new tensor 1MiB", BATCH))  # fmt: skip
    archive = (f"{FRAME}.self -> __main__.Slot#s -> .archive __main__.Archive -> .rows tensor 1MiB", BATCH)
    in_another = ((INCOMING, KEPT), archive)

    assert found(*in_list) == ()
    assert found(*in_object) == ()
    assert expressions(found(*in_another)) == [[SLOT]]


def test_a_field_that_an_object_in_use_got_in_the_middle_of_the_run_is_told() -> None:
    """As the weights that an average has put aside for an evaluation, and put back."""
    average = f"{FRAME}.self -> __main__.Average#a -> "
    shadow = (f"{average}.shadow tensor 1MiB", BATCH)
    aside = (f"{average}.aside list -> [0] tensor 3MiB", KEPT)

    def told(*steps: int) -> list[list[str]]:
        between = [seen(MODEL, shadow, *((aside,) if step > 4 else ()), step=step) for step in steps]
        peak = seen(MODEL, RESULT, shadow, aside, step=6, moment="peak")
        return expressions(find_resting_at_peak(Replay(TOUCHED, peak), between, ()))

    assert told(1, 2, 3, 4, 8) == [["self.aside"]]
    assert told(1, 2, 8) == []


@pytest.mark.parametrize(
    ("carried", "told"),
    [((("__main__.Scores", "logits"),), [["self.logits"]]), ((("__main__.Other", "logits"),), []), ((), [])],
    ids=["by this field", "by another class's", "by none"],
)
def test_a_field_that_carries_memory_over_forwards_is_told_though_the_object_is_in_use(
    carried: tuple[tuple[str, str], ...], told: list[list[str]]
) -> None:
    """As the logits of a rollout, of whose log-probabilities alone the updates make use."""
    paths = [(f"{FRAME}.self -> __main__.Scores#s -> .logits tensor 3MiB", KEPT),
             (f"{FRAME}.self -> __main__.Scores#s -> .picked tensor 1MiB", BATCH)]  # fmt: skip
    between = [seen(MODEL, step=1), seen(MODEL, *paths, step=4), seen(MODEL, *paths, step=8)]
    peak = Replay(TOUCHED, seen(MODEL, RESULT, *paths, step=6, moment="peak"))

    assert expressions(find_resting_at_peak(peak, between, (), carried=carried)) == told


def test_of_an_object_that_was_there_before_it_is_the_attribute_that_got_the_memory() -> None:
    """As the forecasts of an evaluator that lives as long as the program."""
    evaluator = f"{FRAME}.self -> __main__.Trainer#t -> .evaluator __main__.Evaluator#e -> .last "
    (rests,) = found((f"{evaluator} list#l -> [0] tensor 3MiB", KEPT), at_start=((f"{evaluator} tensor 1MiB", OTHER),))

    assert expressions((rests,)) == [["self.evaluator.last"]]
    (made_anew,) = found((f"{evaluator} list#l -> [0] tensor 3MiB", KEPT))
    assert expressions((made_anew,)) == [["self.evaluator"]]


ROLLOUT = """class Replay:
    def __init__(self, old, new):
        self.old, self.new = old, new

def score(replay):
    return replay.new.mean()
"""


@pytest.mark.parametrize(
    ("text", "origin", "told"),
    [
        (ROLLOUT, "yours", [["self.old"]]),
        (ROLLOUT + "\ndef look(replay):\n    return replay.old\n", "yours", []),
        (ROLLOUT, "library", []),
        (ROLLOUT.replace("class Replay:", "class Replay(made_by(Base)):"), "yours", []),
        (ROLLOUT.replace("class Replay:", "from lib import Base\n\nclass Replay(Base):"), "yours", []),
        (ROLLOUT.replace("class Replay:", "from abc import ABC\n\nclass Replay(ABC):"), "yours", [["self.old"]]),
        (ROLLOUT.replace("Replay", "Other"), "yours", []),
    ],
    ids=[
        "unread",
        "read",
        "of a library",
        "of a base that a call makes",
        "of a base that is not known",
        "of one that reads nothing",
        "of another class",
    ],
)
def test_a_field_that_no_statement_reads_is_told_though_the_object_is_in_use(
    text: str, origin: str, told: list[list[str]]
) -> None:
    paths = ((f"{FRAME}.self -> __main__.Replay#r -> .old tensor 3MiB", KEPT),
             (f"{FRAME}.self -> __main__.Replay#r -> .new tensor 1MiB", BATCH))  # fmt: skip

    rests = found(*paths, sources={"__main__.py": SourceFile("__main__.py", text, origin=origin)})

    assert expressions(rests) == told
    assert all(each.facts[UNREAD_FIELD] for each in rests)


LOADED = ROLLOUT.replace("old, new\n", "old, new\n        load(self.old)\n", 1)


@pytest.mark.parametrize("text", [ROLLOUT, LOADED], ids=["never read", "read while the object is made"])
def test_a_field_that_is_read_no_more_is_no_data_though_it_was_there_before_the_first_step(text: str) -> None:
    """As weights that were loaded into the model and kept."""
    paths = ((f"{FRAME}.self -> __main__.Replay#r -> .old tensor 3MiB", KEPT),
             (f"{FRAME}.self -> __main__.Replay#r -> .new tensor 1MiB", BATCH))  # fmt: skip
    sources = {"__main__.py": SourceFile("__main__.py", text, origin="yours")}

    assert expressions(found(*paths, at_start=paths, sources=sources)) == [["self.old"]]
    held_too = (
        f"{FRAME}.self -> __main__.Replay#r -> .old tensor#k 3MiB\n{FRAME}.rows -> __main__.Rows#d -> .all tensor#k"
    )
    also = ((held_too, KEPT), paths[1])
    assert found(*also, at_start=also, sources=sources) == ()


TOKENS = """from torch.utils.data import Dataset

class Clips(Dataset):
    def __init__(self, old):
        self.old = old

    def tokenize(self, codec):
        self.new = codec(self.old)

    def __len__(self):
        return len(self.old)

def main():
    clips = Clips(synth())
    clips.tokenize(codec)
    for step in range(40):
        update(clips)

def update(clips):
    model(clips.new).backward()  # here

main()
"""
UPDATE = TOKENS[: TOKENS.index("  # here")].count("\n") + 1
UPDATING = f"update(__main__.py:{UPDATE})"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TOKENS, [["clips.old"]]),
        (TOKENS.replace("        update(clips)", "        update(clips)\n        clips.tokenize(codec)"), []),
        (TOKENS.replace("main()\n", "main()\nprint(clips.old)\n", 2), []),
        (TOKENS.replace("Dataset)", "Library)"), []),
        (TOKENS.replace("torch.utils.data", "torch_geometric.data"), []),
        (TOKENS.replace("main()\n", "main()\nglobals()[kind](clips)\n", 2), []),
    ],
    ids=["before", "in each turn", "at the end", "a library's base may", "another library's may", "by its text"],
)
def test_a_field_that_was_read_before_the_loop_alone_is_told_though_the_object_is_in_use(
    text: str, told: list[list[str]]
) -> None:
    """As the recordings of a data set, once it has their tokens; the library's loader goes by the data set."""
    held = (f"{UPDATING}.clips -> __main__.Clips#c -> .old tensor 3MiB", KEPT)
    used = (f"{UPDATING}.clips -> __main__.Clips#c -> .new tensor 1MiB", BATCH)
    loader = f"{UPDATING}.loader -> torch.utils.data.dataloader.DataLoader#l -> .dataset "
    of_loader = (held[0].replace(f"{UPDATING}.clips -> ", loader).replace("3MiB", "3MiB input"), KEPT)
    sources = {"__main__.py": SourceFile("__main__.py", text, origin="yours")}

    rests, loaded = (found(*paths, at_start=paths, sources=sources) for paths in ((held, used), (of_loader, used)))

    assert expressions(rests) == told
    assert [each.facts[READ_BEFORE] for each in rests] == [("Clips.tokenize",)] * len(told)
    assert len(loaded) == len(told)


def test_the_next_cell_of_a_notebook_may_read_any_field() -> None:
    updating = UPDATING.replace("__main__.py", "<cell 1>")
    paths = tuple((f"{updating}.clips -> __main__.Clips#c -> {field}", address)
                  for field, address in ((".old tensor 3MiB", KEPT), (".new tensor 1MiB", BATCH)))  # fmt: skip
    sources = {name: SourceFile(name, TOKENS, origin="yours") for name in ("__main__.py", "<cell 1>")}

    assert found(*paths, at_start=paths, sources=sources) == ()


def test_what_has_a_role_hangs_in_a_graph_or_below_a_loader_or_on_a_variable_or_in_a_bound_is_left_out() -> None:
    own = f"{FRAME}.self -> __main__.Slot#s -> "

    assert found((f"{own}.kept tensor 3MiB buffer", KEPT)) == ()
    assert found((f"{own}.loss tensor#t -> .grad_fn MulBackward0#m -> .saved storage 3MiB", KEPT)) == ()
    assert (
        found((f"{own}.loader torch.utils.data.dataloader.DataLoader#d -> .dataset Rows -> .rows tensor 3MiB", KEPT))
        == ()
    )
    assert found((f"{FRAME}.kept -> tensor 3MiB", KEPT)) == ()
    assert found((f"{own}.kept collections.deque#q bound=8 length=1 -> [0] tensor 3MiB", KEPT)) == ()
    assert expressions(found((f"{own}.kept tensor 3MiB", KEPT))) == [["self.kept"]]


@pytest.mark.parametrize(("more", "told"), [(47, True), (48, False)])
def test_a_twentieth_of_the_peak_is_worth_a_word(more: int, told: bool) -> None:
    assert len(found((INCOMING, KEPT), made=profile(*STORAGES, (700, more, BEFORE, 6, ALIVE)))) == told


def test_little_is_no_news_and_what_is_told_already_is_not_told_again() -> None:
    small = INCOMING.replace("3MiB", "1000KiB")
    same = suspect(storages=frozenset({(KEPT, 3 * MIB)}))
    (rests,) = found((INCOMING, KEPT))

    assert found((small, KEPT)) == ()
    assert found((INCOMING, KEPT), told=(same,)) == ()
    assert found((INCOMING, KEPT), told=(suspect(cut=rests.cut),)) == ()


def test_of_an_object_of_which_nothing_is_used_the_reference_to_it_is_dropped() -> None:
    cache = f"{FRAME}.model -> __main__.Net#n -> .cache lib.Cache#c -> .layers list#l -> [*2] lib.Layer#y* -> "
    layers = tuple(
        (f"{cache.replace('[*2]', f'[{at}]').replace('y*', f'y{at}')}.{name} tensor 1MiB", KEPT + 2 * at + odd)
        for at in range(2)
        for odd, name in enumerate(("keys", "values"))
    )

    (rests,) = found(*layers)

    assert (expressions((rests,)), rests.peak_drop_bytes, rests.num_objects) == ([["model.cache"]], 4 * MIB, 4)


def test_where_the_second_step_goes_another_way_the_first_ones_peak_is_met() -> None:
    """In the second step more is alive later on: what the census saw is as much as the first step's peak."""
    met = profile((91, 6, 2, 2, 2), (92, 6, 7, 7, 7), (WEIGHTS, 2, BEFORE, 9, ALIVE), (93, 9, 9, 9, 9))
    heap = seen(MODEL, (INCOMING, KEPT), step=6, moment="peak")

    assert not Replay(met, heap).meets_peak()
    assert Replay(met, heap).met_bytes() == 11 * MIB
    assert Replay(replace(met, census_op=8), heap).met_bytes() is None
    assert Replay(replace(met, census_op=-1), heap).met_bytes() is None


SERVICE = """
class Service:
    def run(self, batch):
        kept, table = self.look_up(batch)
        {between}
        return [
            self.model(each)
            for each in batch{also}
        ]
"""


def unread(*paths: tuple[str, int], between: str = "pass", also: str = "", line: int = 7) -> tuple[Suspect, ...]:
    """As `found`, with the text of the function that is executing `line`."""
    at_line = f"Service.run(serve.py:{line})"
    told = [(path.replace(FRAME, at_line), address) for path, address in (MODEL, RESULT, *paths)]
    sources = {"serve.py": SourceFile("serve.py", SERVICE.format(between=between, also=also))}
    return find_resting_at_peak(Replay(TOUCHED, seen(*told, step=6, moment="peak")), (), (), sources)


HELD = (f"{FRAME}.kept -> tensor 3MiB", KEPT)


def test_what_a_variable_holds_at_the_peak_is_told_where_no_statement_reads_it_any_more() -> None:
    (rests,) = unread(HELD)

    assert [(each.kind, each.expression) for each in rests.cut] == [("local", "kept")]
    assert (rests.peak_bytes, rests.peak_drop_bytes) == (13 * MIB, 3 * MIB)
    assert (rests.series.moment, rests.series.steps, rests.series.bytes) == ("peak", (6,), (3 * MIB,))
    assert rests.facts == {"idle_at_peak": True, "never_read_again": True}


def test_what_a_variable_holds_that_may_yet_be_read_is_not_told() -> None:
    assert unread(HELD, also=" if kept") == ()
    assert unread(HELD, between="again = lambda: kept") == ()
    assert found(HELD) == ()
