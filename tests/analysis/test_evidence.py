from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from heaps import census
from profiles import profile
from tenure.analysis.evidence import Evidence, read_evidence
from tenure.model.recording import COMPILES, CensusEntry, Note, ProfileEntry, Recording, Step
from tenure.store.census_file import write_census

MODEL = "main(train.py:7).model -> __main__.Model -> .weight parameter 2MiB"


def recording(folder: Path, *names: str, local_world_size: str = "") -> Recording:
    return Recording(
        path=str(folder),
        process={"environment": {"LOCAL_WORLD_SIZE": local_world_size}},
        steps=(),
        censuses=tuple(CensusEntry(step, "step-end", name, 0.1, 10) for step, name in enumerate(names, start=1)),
        notes=(),
        sources={},
        end=None,
        profiles=(ProfileEntry(2, "profile-000002.npz", 0.1),),
    )


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "rows-000001.jsonl").write_text('{"kind":"header","format":1}\n')
    write_census(tmp_path / "whole.npz", census(MODEL, step=1))
    (tmp_path / "cut.npz").write_bytes(b"PK")
    evidence = read_evidence(recording(tmp_path, "whole.npz", "cut.npz"))
    assert [each.step for each in evidence.censuses] == [1]
    assert evidence.profiles == ()


def test_censuses_at_the_peak_lie_within_a_step_and_belong_to_its_profile(tmp_path: Path) -> None:
    moments = ("step-end", "peak", "forward-entry")
    watched = profile((1, 1, 0, 1, 2))
    evidence = Evidence(
        recording(tmp_path),
        tuple(census(MODEL, step=watched.step, moment=moment) for moment in moments),
        {},
        profiles=(watched, replace(watched, step=9)),
    )
    assert [each.moment for each in evidence.between_steps] == ["step-end", "forward-entry"]
    assert [each.moment for each in evidence.of_tensors] == list(moments)
    assert [(peak.profile.step, peak.census.moment) for peak in evidence.peaks] == [(watched.step, "peak")]


def test_the_processes_of_one_machine_are_those_that_the_launcher_named(tmp_path: Path) -> None:
    counts = {
        said: Evidence(recording(tmp_path, local_world_size=said), (), {}, ()).processes_here
        for said in ("", "4", "many")
    }
    assert counts == {"": 1, "4": 4, "many": 1}


def test_a_run_that_was_looked_at_to_two_thirds_or_further_was_looked_at(tmp_path: Path) -> None:
    last = census(MODEL, step=16)
    peak = census(MODEL, step=20, moment="peak")
    untils = {
        count: Evidence(
            replace(recording(tmp_path), steps=tuple(Step(n, float(n), 1.0) for n in range(1, count + 1))),
            (last, peak),
            {},
            (),
        ).looked_until
        for count in (16, 23, 25, 38)
    }
    assert untils == {16: None, 23: None, 25: 16, 38: 16}


def test_tensors_are_excluded_by_three_censuses_of_one_moment_the_last_in_what_counts_of_the_run(
    tmp_path: Path,
) -> None:
    steps = tuple(Step(n, float(n), 1.0) for n in range(1, 65))
    rows = replace(recording(tmp_path), steps=steps)

    def excludes(*taken: tuple[int, str]) -> bool:
        seen = tuple(census(MODEL, step=step, moment=moment) for step, moment in taken)
        return Evidence(rows, seen, {}, ()).excludes_tensors

    ends = [(step, "step-end") for step in (3, 6, 16)]
    assert excludes(*ends)
    assert not excludes()
    assert not excludes(*ends[:2], (16, "request"), (17, "request"))
    assert not excludes((1, "step-end"), *ends[1:])
    assert not excludes(*ends[:2], (15, "step-end"))


def test_counters_are_read_as_far_as_censuses_tell_of_the_run(tmp_path: Path) -> None:
    rows = replace(recording(tmp_path), steps=tuple(Step(n, float(n), 1.0) for n in range(1, 51)))
    seen = {last: Evidence(rows, (census(MODEL, step=last),), {}, ()).steps_seen[-1].step for last in (16, 32, 33, 50)}
    assert seen == {16: 24, 32: 48, 33: 50, 50: 50}


def test_that_a_program_compiles_is_known_by_its_note(tmp_path: Path) -> None:
    plain = recording(tmp_path)
    noted = replace(plain, notes=(Note("info", COMPILES, 9),))

    assert [Evidence(each, (), {}, ()).compiles for each in (plain, noted)] == [False, True]


def test_of_unusual_calls_those_before_the_first_with_a_backward_pass_count(tmp_path: Path) -> None:
    """The last of a step's calls are its training's own."""
    moments = [f"evaluation-training-{call}" for call in (2, 3, 5)]
    censuses = tuple(census(MODEL, step=4, moment=moment) for moment in moments)

    def unusual(*steps: Step) -> list[str]:
        evidence = Evidence(replace(recording(tmp_path), steps=steps), censuses, {}, ())
        assert evidence.evaluations == ()
        return [each.moment for each in evidence.unusual]

    assert unusual(Step(5, 1.0, 1.0)) == moments
    assert unusual(Step(5, 1.0, 1.0, {"unusual_backward": 3})) == moments[:1]
    assert unusual(Step(5, 1.0, 1.0, {"unusual_backward": 2})) == []
    assert unusual(Step(4, 1.0, 1.0)) == []
