import json
from dataclasses import replace
from pathlib import Path

import pytest

from heaps import census
from suspects import HISTORY, MIB, SPECIMENS, carried, finding, series, suspect
from tenure.diagnose import diagnose, diagnose_process, explain, merge, retell
from tenure.errors import RecordingError
from tenure.model.finding import Diagnosis, Finding
from tenure.model.recording import EVALUATION, CensusEntry, Recording, Step
from tenure.model.suspect import Suspect
from tenure.parts import Parts
from tenure.rules import all_rules
from tenure.store.census_file import write_census


def found(fingerprint: str, **changes: object) -> Finding:
    values = {"rule": "TN900", "name": "unexplained-growth", "message": "m", "fingerprint": fingerprint}
    return finding("r", **{**values, **changes})


def rank(number: int, *findings: Finding, steps: int = 10, growth: float = 0.0, **changes: object) -> Diagnosis:
    return Diagnosis(f"run/rank-{number:05}", steps, findings, growth, **changes)


def test_each_suspect_is_explained_once_by_its_own_rule() -> None:
    findings = explain(SPECIMENS.values(), all_rules())

    assert sorted(each.rule for each in findings) == sorted(SPECIMENS)


def test_a_suspect_that_no_rule_knows_is_left_out_where_the_last_rule_is_missing() -> None:
    known = [rule for rule in all_rules() if rule.code != "TN900"]

    assert explain([SPECIMENS["TN900"]], known) == ()


def test_no_suspects_no_findings() -> None:
    assert explain([], all_rules()) == ()


def test_what_holds_most_bytes_comes_first_and_a_hundred_steps_of_growth_count_as_held() -> None:
    held = carried(key=1, fingerprint="held", retained_bytes=50 * MIB)
    growing = suspect(key=2, fingerprint="growing", retained_bytes=3 * MIB, growth_bytes_per_step=float(MIB))
    small = carried(key=3, fingerprint="small", retained_bytes=MIB)

    assert [each.fingerprint for each in explain([small, held, growing], all_rules())] == ["growing", "held", "small"]


def test_a_mere_possibility_comes_last_however_large() -> None:
    unsure = suspect(
        path=(), series=replace(suspect().series, steps=(1,)), retained_bytes=900 * MIB, fingerprint="unsure"
    )
    sure = suspect(fingerprint="sure")

    findings = explain([unsure, sure], all_rules())

    assert [(each.fingerprint, each.confidence) for each in findings] == [("sure", "certain"), ("unsure", "possible")]


def test_equal_weights_keep_one_order() -> None:
    pair = [suspect(fingerprint="b"), suspect(fingerprint="a")]

    assert explain(pair, all_rules()) == explain(reversed(pair), all_rules())


def test_autograd_nodes_that_further_steps_add_count_as_bytes_do() -> None:
    growing = suspect(fingerprint="a", retained_bytes=4, growth_bytes_per_step=0.0, through_graph=True)
    nodes = replace(growing, series=series(4, 4, 4, graph_nodes=(200, 400, 600)))
    steady = suspect(fingerprint="b", retained_bytes=MIB, growth_bytes_per_step=1.0)

    told = explain([steady, nodes], all_rules()), explain([steady, growing], all_rules())

    assert [[each.fingerprint for each in found] for found in told] == [["a", "b"], ["b", "a"]]


def test_the_suspects_a_finding_explains_are_told_by_key() -> None:
    assert [each.explains for each in explain([suspect(key=4)], all_rules())] == [(4,)]


def test_one_process_is_told_as_it_is() -> None:
    alone = rank(0, found("a"), growth=5.0, not_seen=("a note",))

    assert merge("run", [alone]) == replace(alone, recording="run")


def test_the_same_finding_of_several_ranks_is_told_once_with_the_most_bytes() -> None:
    small, large, other = found("a", retained_bytes=MIB), found("a", retained_bytes=900 * MIB), found("b")

    assert merge("run", [rank(0, small, other, steps=9), rank(1, large)]) == Diagnosis("run", 10, (large, other))


def test_findings_of_programs_in_two_folders_stay_two() -> None:
    """As the stages of a shell script, each of which has its `train.py`."""
    one = found("a")
    two = found("a", holder=replace(one.holder, file="/projects/stage2/train.py"), retained_bytes=900 * MIB)

    merged = merge("run", [rank(0, one), rank(0, two)]).findings

    assert [each.holder.file for each in merged] == [two.holder.file, one.holder.file]
    assert len({each.fingerprint for each in merged}) == 2


def test_the_same_place_found_by_two_rules_is_two_findings() -> None:
    one, two = found("a"), found("a", rule="TN101", name="loss-kept-with-graph", retained_bytes=900 * MIB)

    assert merge("run", [rank(0, one, two)]).findings == (two, one)


def test_a_certain_finding_of_one_rank_wins_over_a_possible_one_of_another() -> None:
    possible, certain = found("a", confidence="possible", retained_bytes=900 * MIB), found("a")

    assert merge("run", [rank(0, possible), rank(1, certain)]).findings == (certain,)


def test_growth_is_that_of_the_worst_rank_and_notes_are_told_once() -> None:
    ranks = [rank(0, growth=5.0, not_seen=("x", "y")), rank(1, growth=7.0, not_seen=("y", "z"))]

    assert merge("run", ranks) == Diagnosis("run", 10, (), 7.0, ("x", "y", "z"))


@pytest.mark.parametrize("content", [None, {"unrelated": 1}], ids=["nothing", "other-files"])
def test_a_folder_without_a_recording_says_how_to_make_one(content: object, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(json.dumps(content))

    with pytest.raises(RecordingError, match=r"holds no recording; make one with: tenure run -o "):
        diagnose(str(tmp_path))


def test_a_holder_of_unknown_kind_can_still_be_likely() -> None:
    hidden = replace(HISTORY, kind="unknown", sites=())

    assert [each.confidence for each in explain([suspect(holder=hidden)], all_rules())] == ["likely"]


def test_growth_that_falls_again_counts_with_what_it_holds() -> None:
    falling = suspect(key=1, symptom="sawtooth", period_steps=8, fingerprint="falling")
    held = carried(key=2, fingerprint="held", retained_bytes=50 * MIB)

    assert [each.fingerprint for each in explain([falling, held], all_rules())] == ["held", "falling"]


def test_a_finding_of_several_ranks_names_them_all() -> None:
    seen = [found("a", ranks=(number,)) for number in (3, 0)]

    merged = merge("run", [Diagnosis("run/rank-0000" + str(each.ranks[0]), 10, (each,)) for each in seen])

    assert [each.ranks for each in merged.findings] == [(0, 3)]


def test_a_process_that_was_looked_at_least_far_decides_how_far_all_were() -> None:
    ranks = [rank(0, looked_until=16), rank(1), rank(2, looked_until=12)]

    assert (merge("run", ranks).looked_until, merge("run", ranks[1:2]).looked_until) == (12, None)


def test_a_rule_words_its_findings_anew_once_experiments_were_made() -> None:
    collected = {"kind": "experiment", "done": "collect", "predicted_bytes": MIB, "freed_bytes": 0}
    ring = found("a", rule="TN301", message="a ring; only the cyclic collector frees it.", evidence=(collected,))
    other = found("b", evidence=(collected,))

    assert retell([ring, other], all_rules()) == (
        replace(ring, message="a ring; C++ code owns part of it too, so that not even a collection frees it."),
        other,
    )


def recorded(folder: Path, *seen: tuple[str, int, str]) -> Recording:
    """A recording of censuses: what is drawn, step, moment."""
    (folder / "rows-000001.jsonl").write_text('{"kind":"header","format":1}\n')
    for number, (drawn, step, moment) in enumerate(seen):
        write_census(folder / f"{number}.npz", census(drawn, step=step, moment=moment))
    return Recording(
        path=str(folder),
        process={},
        steps=tuple(Step(step, float(step), 1.0, {}) for step in sorted({step for _, step, _ in seen})),
        censuses=tuple(CensusEntry(step, moment, f"{at}.npz", 0.1, 10) for at, (_, step, moment) in enumerate(seen)),
        notes=(),
        sources={},
        end={"kind": "end"},
        profiles=(),
    )


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        (f"{EVALUATION}4", []),
        ("step-end", ["9.00 MiB are held by an owner Tenure cannot see (evaluation stack, C code, atexit), of list"]),
    ],
)
def test_what_an_evaluations_call_stack_holds_is_no_memory_of_an_unseen_owner(
    moment: str, told: list[str], tmp_path: Path
) -> None:
    model = "main(train.py:7).model -> __main__.Model -> .weight parameter 2MiB"
    in_use = f"{model}\nunseen -> list#l -> [0] tensor 9MiB"
    seen = [(model, step, "step-end") for step in (1, 2, 3)] + [(in_use, step, moment) for step in (4, 5)]

    not_seen = diagnose_process(recorded(tmp_path, *seen)).not_seen

    assert [text.removesuffix(", and by nothing else") for text in not_seen] == told


HISTORY_AND_MODEL = (
    "main(train.py:7).model -> __main__.Model -> .weight parameter 2MiB\n"
    "main(train.py:9).history -> list#l -> [*{step}] tensor 1MiB"
)


@pytest.mark.parametrize(
    "part",
    [
        "analysis.suspects.find_cycles",
        "analysis.suspects.find_carried",
        "analysis.suspects.find_idle_modules",
        "analysis.suspects.find_growing_out_of_sight",
        "analysis.suspects._with_what_is_out_of_sight",
        "analysis.process_suspects.locate",
        "analysis.process_suspects.join_same_statement",
        "analysis.process_suspects.with_falls",
        "analysis.process_suspects.find_never_read_again",
        "analysis.process_suspects.find_pinned_growth",
        "diagnose.with_edits",
        "diagnose.explain_bytes_once",
        "diagnose.plan_experiments",
        "diagnose.with_results",
        "diagnose.find_ran_out",
        "diagnose.describe_unseen_owners",
    ],
)
def test_whatever_part_of_the_diagnosis_fails_what_grows_is_told(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr("tenure.parts.Parts.strict", False)
    seen = [(HISTORY_AND_MODEL.format(step=step), step, "step-end") for step in range(1, 9)]
    whole = diagnose_process(recorded(tmp_path, *seen))
    monkeypatch.setattr(f"tenure.{part}", failing)

    told = diagnose_process(recorded(tmp_path, *seen))

    assert [(each.rule, each.holder.name) for each in whole.findings] == [("TN202", "history")]
    assert [each.holder.name for each in told.findings] == ["history"]
    (said,) = {*told.not_seen} - {*whole.not_seen}
    assert said.startswith("a part of the diagnosis failed, and what it alone finds is not told: KeyError: 'planted' (")


def test_where_one_rule_fails_the_others_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Parts, "strict", False)
    parts, known = Parts(), SPECIMENS["TN900"]

    def failing(suspect: Suspect) -> Finding | None:
        raise KeyError("planted")

    told = explain([known], [replace(all_rules()[0], check_suspect=failing), *all_rules()[1:]], parts=parts)

    assert [each.rule for each in told] == ["TN900"]
    assert [text.partition(" (")[0] for text in parts.failures] == ["KeyError: 'planted'"]
