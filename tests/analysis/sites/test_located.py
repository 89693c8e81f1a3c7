from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import SPECIMENS
from tenure.analysis.sites.located import locate
from tenure.model.source import SourceFile
from tenure.model.suspect import HoldingReference

PROMPT = """import sys

def show(error):
    sys.last_value = error
"""
TRAINING = """def fit(batches):
    loss = compute(batches)
    return loss
"""
LAST = HoldingReference("global", "last_value", "last_value")
VARIABLE = HoldingReference("local", "loss", "loss", scope_file="fit.py", scope_function="fit", scope_line=2)


@pytest.mark.parametrize(
    ("origin", "told"), [("yours", ("last_value", "prompt.py", 4)), ("library", ("loss", "fit.py", 2))]
)
def test_the_last_error_is_told_where_the_program_sets_it_and_by_its_variable_where_a_library_does(
    origin: str, told: tuple[str, str, int]
) -> None:
    sources = {
        "prompt.py": SourceFile("prompt.py", PROMPT, origin=origin),
        "fit.py": SourceFile("fit.py", TRAINING),
    }
    kept = replace(SPECIMENS["TN302"], symptom="survivor", holder=VARIABLE, cut=(LAST,))

    holder = locate(kept, sources).holder

    assert (holder.name, holder.sites[0].file, holder.sites[0].line) == told
