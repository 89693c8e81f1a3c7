"""The pages of the rules are tests: their programs run under the recorder, their marks are what must be found."""

from __future__ import annotations

import os
from difflib import SequenceMatcher
from pathlib import Path

import pytest

from page_runs import PROGRAM, run_program
from pages import PAGE_FILES, PAGES, Program, read_programs, split_page
from tenure.model.rule import Rule
from tenure.rules import all_rules

HEADINGS = ("What happens", "Leaks", "Does not leak", "Fix", "Not seen", "References")
WITH_PROGRAMS = ("Leaks", "Does not leak", "Fix")
MOST_CHANGED_LINES = 5


def count_changed_lines(before: list[str], after: list[str]) -> int:
    """Lines replaced, removed or added; where a block of lines is replaced, the longer side counts."""
    changes = SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for change, i1, i2, j1, j2 in changes if change != "equal")


PROGRAMS = [program for page in PAGE_FILES for program in read_programs(page)]


def name_program(program: Program) -> str:
    return f"{program.code}-{program.heading.replace(' ', '-')}-{program.number}"


def in_groups(programs: list[Program], *marks: pytest.MarkDecorator) -> list:
    """Parameters of a test: programs of one page go to one worker, where each is run once."""
    return [
        pytest.param(program, id=name_program(program), marks=[pytest.mark.xdist_group(program.code), *marks])
        for program in programs
    ]


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert [page.stem for page in PAGE_FILES] == sorted(f"{rule.code}-{rule.name}" for rule in all_rules())


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_page_has_the_fixed_headings_in_order_and_opens_with_the_rule(rule: Rule) -> None:
    text = (PAGES / f"{rule.code}-{rule.name}.md").read_text(encoding="utf-8")

    assert tuple(split_page(text)) == ("", *HEADINGS)
    assert split_page(text)[""].split("\n") == [f"# {rule.code} {rule.name}", "", rule.summary, ""]


@pytest.mark.parametrize("page", PAGE_FILES, ids=lambda page: page.stem)
def test_leaks_are_marked_for_their_own_rule_each_has_a_small_fix_and_nothing_else_is_marked(page: Path) -> None:
    by_heading = {heading: [] for heading in WITH_PROGRAMS} | group_by_heading(read_programs(page))

    assert tuple(by_heading) == WITH_PROGRAMS
    assert by_heading["Leaks"]
    assert by_heading["Does not leak"]
    code = page.stem.partition("-")[0]
    assert [{rule for rule, _ in leak.marks} for leak in by_heading["Leaks"]] == [{code}] * len(by_heading["Leaks"])
    assert [name_program(p) for p in by_heading["Does not leak"] + by_heading["Fix"] if p.marks] == []
    changed = [
        count_changed_lines(leak.unmarked_lines, fix.unmarked_lines)
        for leak, fix in zip(by_heading["Leaks"], by_heading["Fix"], strict=True)
    ]
    assert all(1 <= count <= MOST_CHANGED_LINES for count in changed), f"lines changed per fix: {changed}"


def group_by_heading(programs: list[Program]) -> dict[str, list[Program]]:
    groups: dict[str, list[Program]] = {}
    for program in programs:
        groups.setdefault(program.heading, []).append(program)
    return groups


@pytest.mark.parametrize("program", PROGRAMS, ids=name_program)
def test_a_program_is_python(program: Program) -> None:
    assert compile(program.text, name_program(program), "exec")


FIRST = [program for program in PROGRAMS if program.number == 1 and program.heading == "Leaks"]
"""The first leak of each page; the others are for `make pages`, and the first healthy one for `make thorough`, too."""
HEALTHY = [program for program in PROGRAMS if program.number == 1 and program.heading == "Does not leak"]
CHOSEN = (
    in_groups(PROGRAMS)
    if os.environ.get("WHOLE_PAGES")
    else [*in_groups(FIRST), *in_groups(HEALTHY, pytest.mark.thorough)]
)


@pytest.mark.slow
@pytest.mark.parametrize("program", CHOSEN)
def test_a_program_yields_exactly_the_findings_that_its_page_marks(program: Program) -> None:
    pytest.importorskip("torch", reason="the programs of the pages train with torch")
    findings = run_program(program.unmarked_text).findings

    sure = [finding for finding in findings if finding["confidence"] in ("certain", "likely")]
    expected = sorted((rule, PROGRAM, line) for rule, line in program.recorded_marks)
    assert sorted(told(finding) for finding in sure) == expected


def told(finding: dict) -> tuple[str, str, int]:
    """Rule, file name and line; a finding without a place gets "" and 0, so that they sort."""
    holder = finding["holder"]
    return finding["rule"], Path(holder["file"] or "").name, holder["line"] or 0
