# ruff: noqa: E501  (a drawn path is one line)
from __future__ import annotations

import pytest

from heaps import census
from tenure.analysis.suspects import find_suspects

ENCODER = "._parameters dict -> ['w'] parameter#w 8MiB"
TRAINER = "Trainer.fit(t.py:9).self -> __main__.Trainer#trainer"
STUDENT = f"{TRAINER} -> .student __main__.Student -> ._parameters dict -> ['s'] parameter 1MiB\n"
PIPELINE = f"__main__.Pipeline#pipe -> .model __main__.Encoder#enc -> {ENCODER}"


def cuts_of(before: str, after: str) -> list[list[str]]:
    censuses = [census(STUDENT + before, step=step) for step in (1, 2, 3)]
    censuses += [census(STUDENT + after, step=step) for step in (4, 6, 8)]
    return [[reference.expression for reference in suspect.cut] for suspect in find_suspects(censuses)]


def test_a_pipeline_set_to_none_while_a_thread_still_names_it() -> None:
    """The name that went was the pipeline's; what keeps it is dropped whole."""
    thread = f"Loader.work(l.py:17).made -> {PIPELINE}\n"

    assert cuts_of(f"{TRAINER} -> .pipe {PIPELINE}\n{thread}", thread) == [["made"]]


def test_a_session_of_a_thread_is_dropped_by_the_threads_attribute() -> None:
    session = f"runtime._local -> _thread._local#local -> .session {PIPELINE}\n"
    encoder = f"{TRAINER} -> .encoder __main__.Encoder#enc -> {ENCODER}\n"

    assert cuts_of(encoder + session, session) == [["_local.session"]]


def test_a_pipeline_that_only_a_method_of_its_own_leads_to_goes_with_whatever_keeps_the_callback() -> None:
    callback = f"main.bar -> __main__.Bar#bar -> .sources dict#sources -> ['sketch'] method#m -> <self> {PIPELINE}\n"

    assert cuts_of(f"{TRAINER} -> .pipe {PIPELINE}\n{callback}", callback) == [["bar.sources['sketch']"]]


@pytest.mark.parametrize(
    "kept",
    [
        f"Loader.work(l.py:17).made -> {PIPELINE}\nLoader.work(l.py:17).made -> __main__.Pipeline#pipe -> .cache tensor 4B\n",
        f"Loader.work(l.py:17).self -> {PIPELINE}\n",
        f"{TRAINER} -> .other {PIPELINE}\n",
    ],
)
def test_an_object_with_other_duties_only_lets_go_of_its_module(kept: str) -> None:
    encoder = f"{TRAINER} -> .encoder __main__.Encoder#enc -> {ENCODER}\n"

    (cut,) = cuts_of(encoder + kept, kept)

    assert [name.rpartition(".")[2] for name in cut] == ["model"]


def test_a_member_of_an_enumeration_stays_and_lets_go_of_its_module() -> None:
    member = f"__main__.Stage#first -> .scorer __main__.Encoder#enc -> {ENCODER}"
    tables = (".first", "._member_map_ dict -> ['first']", "._value2member_map_ dict -> ['f']")
    kept = "".join(f"class Stage(s.py:3){table.replace(' dict', ' -> dict', 1)} {member}\n" if " " in table
                   else f"class Stage(s.py:3){table} -> {member}\n" for table in tables)  # fmt: skip

    assert cuts_of(f"{TRAINER} -> .stage {member}\n{kept}", kept) == [["Stage.first.scorer"]]


def test_a_pipeline_that_moved_or_is_trained_is_in_use() -> None:
    moved = f"{TRAINER} -> .current {PIPELINE}\n"
    trained = "main.optimizer -> torch.optim.adam.Adam -> .param_groups list -> [0] parameter#w\n"
    thread = f"Loader.work(l.py:17).made -> {PIPELINE}\n"

    assert cuts_of(f"{TRAINER} -> .pipe {PIPELINE}\n", moved) == []
    assert cuts_of(f"{TRAINER} -> .pipe {PIPELINE}\n{thread}{trained}", thread + trained) == []
