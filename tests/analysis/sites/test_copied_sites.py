from __future__ import annotations

import pytest

from suspects import suspect
from tenure.analysis.sites.copied_sites import by_the_concatenation
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import COPIED_TO_GROW, HoldingReference

ATTENTION = """\
def attend(query, past=None):
    key = query
    if past is not None:
        key = torch.cat([past, key])
    return key

def generate(model):
    past = model.start()
    while True:
        past = torch.cat([past, model.step(past)])
"""


@pytest.mark.parametrize(
    ("bound", "joined", "told"),
    [(1, 4, (4, "attend")), (8, 10, (8, "generate")), (1, 10, (1, "attend"))],
    ids=["a parameter", "a variable that is bound there", "in another function"],
)
def test_what_a_function_is_given_and_concatenates_is_told_where_it_does(
    bound: int, joined: int, told: tuple[int, str]
) -> None:
    function = "attend" if bound == 1 else "generate"
    site = SourceLocation("/p/model.py", bound, function)
    kept = suspect(
        symptom="peak",
        holder=HoldingReference("local", "past", "past", sites=(site,)),
        facts={COPIED_TO_GROW: ("/p/model.py", joined)},
    )

    found = by_the_concatenation(kept, {"/p/model.py": SourceFile("/p/model.py", ATTENTION)})

    assert found.holder.sites == (SourceLocation("/p/model.py", *told),)
