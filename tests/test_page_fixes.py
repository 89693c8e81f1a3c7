"""The pages' fixes are what `tenure lint --fix --unsafe` makes of their leaks, or say that they are made by hand."""

from __future__ import annotations

import pytest

from pages import PAGE_FILES, Program, read_programs
from tenure.lint import LintOptions
from tenure.rules import all_rules
from tenure.source_fixes import fix_documents
from tenure.syntax.files.documents import read_document

PROGRAMS = [program for page in PAGE_FILES for program in read_programs(page)]
LEAKS = [program for program in PROGRAMS if program.heading == "Leaks"]
FIXES = {(program.code, program.number): program for program in PROGRAMS if program.heading == "Fix"}
EDITED_BY_RECORDING = {rule.code for rule in all_rules() if rule.edit and rule.edit != "reset"}
"""What these edits make of a leak is compared where the leak is run. No page has an object with a `reset`."""


def edited(program: Program) -> str | None:
    document = read_document("program.py", program.unmarked_text.encode())
    changed = fix_documents([document], LintOptions(), unsafe=True).changed
    return changed[0][1].source.text if changed else None


@pytest.mark.parametrize("leak", LEAKS, ids=lambda each: f"{each.code}-{each.number}")
def test_a_fix_is_what_the_edit_makes_of_the_leak_or_is_made_by_hand(leak: Program) -> None:
    fix, text = FIXES[leak.code, leak.number], edited(leak)

    if text is not None:
        assert (text == fix.text) == (not fix.by_hand)
    else:
        assert fix.by_hand or leak.code in EDITED_BY_RECORDING


def test_nothing_but_a_fix_is_made_by_hand() -> None:
    assert {program.heading for program in PROGRAMS if program.by_hand} == {"Fix"}
