from __future__ import annotations

import pytest

from suspects import HISTORY, suspect
from tenure.analysis.sites.evaluated_calls import told_by_the_call
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import RETURNED, RUNNING, HoldingReference

SCORING = "/projects/essays/scoring.py"
SOURCES = {
    SCORING: SourceFile(
        SCORING,
        """\
def score(net, batch):
    outputs = net(
        **batch,
    )
    self.scores, loss = net(batch)
    return net(batch).detach()
    canvas[..., part] += net(batch)
""",
    )
}
RESULT = HoldingReference("local", "result", "result", scope_function="Module._call_impl")


@pytest.mark.parametrize(
    ("line", "name"),
    [(3, "outputs"), (5, "scores"), (6, "score"), (7, "canvas")],
    ids=["several lines", "two targets", "given back", "a part"],
)
def test_what_a_call_gives_back_goes_by_the_name_that_it_will_get(line: int, name: str) -> None:
    facts = {RUNNING: ((SCORING, line, "score"), (SCORING, 40, "main")), RETURNED: True}
    found = told_by_the_call(suspect(symptom="peak", holder=RESULT, facts=facts), SOURCES)

    assert (found.holder.name, found.holder.sites) == (name, (SourceLocation(SCORING, line, "score"),))
    assert (found.cut, found.holder_is_yours, found.ambiguous) == ((found.holder,), True, False)
    assert found.path_text == (f"what `{name}` gets in score (scoring.py:{line})", "[3]")


def test_what_a_comprehension_builds_of_such_calls_goes_by_its_variable() -> None:
    builds = HoldingReference("unknown", "0", "[0]")
    found = told_by_the_call(suspect(holder=builds, facts={RUNNING: ((SCORING, 3, "score"),)}), SOURCES)

    assert (found.holder.name, found.holder.kind, found.cut) == ("outputs", "local", (found.holder,))


def test_what_outlasts_its_call_keeps_its_name_and_is_told_at_the_call() -> None:
    found = told_by_the_call(suspect(facts={RUNNING: ((SCORING, 2, "score"),)}, ambiguous=True), SOURCES)

    assert (found.holder.name, found.holder.sites) == (HISTORY.name, (SourceLocation(SCORING, 2, "score"),))
    assert (found.cut, found.ambiguous) == ((HISTORY,), False)


def test_where_no_function_of_the_program_ran_it_stays_as_it_is() -> None:
    made = suspect(facts={RUNNING: (), RETURNED: True})

    assert told_by_the_call(made, SOURCES) == made
