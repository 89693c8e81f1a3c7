from dataclasses import replace

from suspects import HISTORY, TRAIN, suspect
from tenure.analysis.idle.handed_on import told_with_what_is_handed_on
from tenure.model.source import SourceFile
from tenure.model.suspect import HANDED_ON

SOURCES = {
    TRAIN: SourceFile(
        TRAIN, "def block(x, past):\n    q, k, v = heads(x)\n    y = attend(q, k, v)\n    return y, k, v\n"
    )
}
Q, K, V = (
    replace(HISTORY, kind="local", name=name, scope_file=TRAIN, scope_function="block", scope_line=3) for name in "qkv"
)
IDLE = suspect(symptom="peak", holder=Q, cut=(Q, K, V), facts={"idle_at_peak": True})


def test_the_variables_that_their_function_returns_are_a_fact() -> None:
    found = told_with_what_is_handed_on(IDLE, SOURCES)

    assert found == replace(IDLE, facts={"idle_at_peak": True, HANDED_ON: ("k", "v")})


def test_what_is_not_returned_or_no_running_functions_variable_or_not_idle_stays_as_it_is() -> None:
    of_object, elsewhere = replace(K, kind="attribute"), replace(K, scope_file="other.py")
    for same in (
        replace(IDLE, cut=(Q,)),
        replace(IDLE, cut=(of_object, elsewhere, replace(K, scope_line=0))),
        replace(IDLE, facts={}),
    ):
        assert told_with_what_is_handed_on(same, SOURCES) == same
