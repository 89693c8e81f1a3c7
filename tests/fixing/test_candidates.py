from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixing_findings import HISTORY, measured
from tenure.errors import SourceError
from tenure.fixing.candidates import MOST_GUESSED, Candidate, edit_texts, find_candidates, find_trials, join_candidates
from tenure.model.finding import Edit, Finding, Holder, Remedy
from tenure.model.source import SourceFile

TRAIN = """
import torch
def train(model, optimizer, batches):
    history = []
    for batch in batches:
        optimizer.zero_grad()
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        history.append(loss)
    print(len(history))
"""


def finding_of(file: Path, *, remedies: tuple[Remedy, ...] = (), targets: tuple[str, ...]) -> Finding:
    path = {"kind": "path", "references": ("local variable `history` in train", "[3]", ".grad_fn"), "targets": targets}
    holder = Holder("local", "history", "history[*]", str(file), 10, "train")
    return replace(HISTORY, holder=holder, remedies=remedies, evidence=(path,))


def test_edits_of_the_findings_come_first_and_the_same_ones_are_tried_once(tmp_path: Path) -> None:
    edits = (Edit(str(tmp_path / "train.py"), 10, "a", "b"),)
    first = finding_of(tmp_path / "train.py", remedies=(Remedy("x"), Remedy("y", edits)), targets=("Tensor []",))
    second = replace(first, rule="TN102", fingerprint="other")

    assert find_candidates(measured((first, second))) == (Candidate((first, second), "recording", edits, ((),)),)


@pytest.mark.parametrize(("target", "num"), [("Tensor [] float32, 4 B", 1), ("Record", 0), ("list of 3", 0)])
def test_what_lint_would_detach_is_taken_where_the_recording_saw_a_tensor_there(
    target: str, num: int, tmp_path: Path
) -> None:
    file = tmp_path / "train.py"
    finding = finding_of(file, targets=(target, "MeanBackward0"))
    if num == 0:
        path = {**finding.evidence[0], "references": ("local variable `history` in train", "[3]", ".loss", ".grad_fn")}
        finding = replace(finding, evidence=(path,))
    run = replace(measured((finding,)), sources={str(file): SourceFile(str(file), TRAIN)})

    found = find_candidates(run)

    assert [(each.told_by, each.edits[0].after) for each in found] == [
        ("lint", "        history.append(loss.detach())")
    ] * num


def test_edits_are_made_in_the_text_at_hand_and_else_in_the_file(tmp_path: Path) -> None:
    file, other = tmp_path / "a.py", tmp_path / "b.py"
    file.write_bytes(b"x = 1\r\ny = '\xe4'\n")
    other.write_bytes(b"z = 1\n")
    one = Candidate((HISTORY,), "recording", (Edit(str(file), 1, "x = 1", "x = 2"),))
    two = Candidate((HISTORY,), "recording", (Edit(str(other), 2, "", "del z"),))

    with pytest.raises(SourceError, match="make no Python of it"):  # no UTF-8, as Python itself would say
        edit_texts([one], {})
    file.write_bytes(b"x = 1\r\n")
    assert edit_texts([one, two], {other: b"z = 3\n"}) == {file: b"x = 2\r\n", other: b"z = 3\ndel z\n"}
    assert join_candidates([one, two]).edits == (*one.edits, *two.edits)


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ([("x = 1", "x = 2"), ("x = 1", "x = 3")], "a.py:1: two edits change this line"),
        ([("x = 9", "x = 2")], "a.py:1: the line is not the one that was to be changed"),
        ([("x = 1", "x =")], "the edits make no Python of it"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: list[tuple[str, str]], message: str, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")
    candidates = [Candidate((HISTORY,), "recording", (Edit(str(file), 1, *each),)) for each in edits]

    with pytest.raises(SourceError) as refused:
        edit_texts(candidates, {})

    assert message in str(refused.value)


LINES = st.sampled_from(["x = 1", "", "if x:", "    y = 2", "\x0c", "\ufeffz = 3", "\udce4", "((((", "\0", '"""', "\\"])


@given(
    lines=st.lists(LINES, max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\r", ""]),
    edits=st.lists(st.tuples(st.integers(-1, 8), LINES, LINES | st.none()), min_size=1, max_size=3),
)
def test_mangled_files_and_edits_are_edited_or_refused(
    lines: list[str], end: str, edits: list[tuple[int, str, str | None]]
) -> None:
    text = end.join(lines).encode("utf-8", "surrogateescape")
    made = tuple(Edit("a.py", line, before, after) for line, before, after in edits if before or after is not None)
    try:
        changed = edit_texts([Candidate((HISTORY,), "recording", made)], {Path("a.py"): text})
    except SourceError:
        return
    for each in changed.values():
        compile(each, "a.py", "exec", dont_inherit=True)


def test_ways_that_only_a_run_can_prove_stand_apart_and_are_told_once(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    finding = finding_of(file, targets=("Record", "MeanBackward0"))
    text = TRAIN.replace("print(len(history))", "print(history[-1])")
    run = replace(measured((finding,)), sources={str(file): SourceFile(str(file), text)})

    ((way,),) = find_trials(run, ())

    assert (way.findings, way.told_by, way.edits[0].after) == ((finding,), "trial", "        del history[:-1]")
    assert find_trials(run, {way.key}) == ()
    assert not any(each.told_by == "trial" for each in find_candidates(run))


def test_what_lint_would_mend_elsewhere_is_tried_behind_the_ways_of_the_place(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    finding = finding_of(file, targets=("Tensor []", "MeanBackward0"))
    evaluation = """
def evaluate(model, batches):
    model.eval()
    answers = []
    for batch in batches:
        answers.append(model(batch).mean())
    return answers
"""
    sources = {str(file): SourceFile(str(file), TRAIN + evaluation)}
    other = replace(finding, rule="TN303", holder=replace(finding.holder, line=3))
    graphs, hooks, hint = (
        find_trials(replace(measured((each,)), sources=sources), ())
        for each in (finding, other, replace(finding, confidence="possible"))
    )

    assert ("trial", "@torch.no_grad()", 13) in {
        (way.told_by, way.edits[0].after, way.edits[0].line) for ways in graphs for way in ways
    }
    assert (hooks, hint) == ((), ())


def test_only_the_first_findings_are_given_edits_by_trial(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    finding = finding_of(file, targets=("Record", "MeanBackward0"))
    names = [f"rows{number}" for number in range(MOST_GUESSED + 2)]
    text = "".join(f"def f{name}(x):\n    {name}.append(x)\n" for name in names)
    findings = [
        replace(
            finding, fingerprint=name, holder=replace(finding.holder, name=name, expression=f"{name}[*]", line=line)
        )
        for name, line in zip(names, range(2, 20, 2), strict=False)
    ]
    run = replace(measured(tuple(findings)), sources={str(file): SourceFile(str(file), text)})

    assert [ways[0].edits[0].after for ways in find_trials(run, ())] == [
        f"    {name}.append(x.detach())" for name in names[:MOST_GUESSED]
    ]


def test_the_same_line_in_two_places_is_two_ways(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    text = """
class Distiller:
    def __init__(self, teacher):
        self.teacher = teacher
        self.alpha = 0.7

    def label(self, x):
        self.soft = self.teacher(x)
        self.hard = self.soft.argmax(1)

    def check(self, x):
        print(self.teacher(x).mean())
"""
    holder = Holder("attribute", "teacher", "self.teacher", str(file), 4, "Distiller.__init__")
    run = replace(measured(()), sources={str(file): SourceFile(str(file), text)})
    run = replace(run, diagnosis=replace(run.diagnosis, findings=(replace(HISTORY, rule="TN403", holder=holder),)))

    ((*ways,),) = find_trials(run, ())

    assert [(way.edits[0].line, way.edits[0].after) for way in ways] == [
        (line, "        self.teacher = None") for line in (9, 13, 6)
    ]
    assert find_trials(run, {ways[0].key, ways[2].key}) == ((ways[1],),)
