"""The pages' fixes are what `tenure lint --fix --unsafe` makes of their leaks, or say that they are made by hand."""

from __future__ import annotations

import pytest

from pages import PAGE_FILES, Program, read_programs
from tenure.lint import LintOptions
from tenure.rules import all_rules
from tenure.source_fixes import fix_documents
from tenure.syntax.documents import read_document

PROGRAMS = [program for page in PAGE_FILES for program in read_programs(page)]
LEAKS = [program for program in PROGRAMS if program.heading == "Leaks"]
FIXES = {(program.code, program.number): program for program in PROGRAMS if program.heading == "Fix"}


def edited(program: Program) -> str | None:
    document = read_document("program.py", ("\n".join(program.unmarked_lines) + "\n").encode())
    changed = fix_documents([document], LintOptions(), unsafe=True).changed
    return changed[0][1].source.text if changed else None


@pytest.mark.parametrize("leak", LEAKS, ids=lambda each: f"{each.code}-{each.number}")
def test_a_fix_is_what_the_edit_makes_of_the_leak_or_is_made_by_hand(leak: Program) -> None:
    fix, text = FIXES[leak.code, leak.number], edited(leak)

    if text is not None:
        assert (text == fix.text) == (not fix.by_hand)


def test_a_fix_of_a_rule_without_an_edit_is_made_by_hand() -> None:
    with_edit = {rule.code for rule in all_rules() if rule.edit}
    assert [(fix.code, fix.number) for fix in FIXES.values() if fix.code not in with_edit and not fix.by_hand] == []


def test_nothing_but_a_fix_is_made_by_hand() -> None:
    assert {program.heading for program in PROGRAMS if program.by_hand} == {"Fix"}
