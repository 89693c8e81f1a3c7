"""Which findings get an edit and which do not; what an edit does is checked in test_mechanical_edits."""

from __future__ import annotations

from dataclasses import replace

from suspects import TRAIN, suspect
from tenure.model.finding import Edit
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Hop, Suspect
from tenure.rules import all_rules
from tenure.rules.mechanical_edits import with_edits

RULES = {rule.code: rule for rule in all_rules()}


def offered(found: Suspect, code: str, text: str, *others: SourceFile) -> tuple[Edit, ...]:
    rule = RULES[code]
    finding = rule.check_suspect(found)
    assert finding is not None
    sources = {each.path: each for each in (SourceFile(TRAIN, text), *others)}
    return with_edits(finding, found, rule, sources).remedies[0].edits


def variable(name: str, line: int) -> HoldingReference:
    sites = (SourceLocation(TRAIN, line, "fit"),)
    return HoldingReference("local", name, name, scope_file=TRAIN, scope_function="fit", scope_line=line, sites=sites)


def local(name: str, running: int) -> Hop:
    return Hop("LOCAL", name, "FRAME", "frame", "fit", "TENSOR", "torch.Tensor", file=TRAIN, line=running)


STATE = """\
def fit(model, state, batches):
    for batch in batches:
        loss, output = model(batch)
        state = 0.5 * state + output
        loss.backward()
"""


def carried_state() -> Suspect:
    return suspect(
        through_graph=True,
        holder=variable("state", 4),
        cut=(variable("state", 4),),
        path=(local("state", 3), Hop("GRAD_FN", "grad_fn", "TENSOR", "torch.Tensor", "", "AUTOGRAD", "MulBackward0")),
        facts={"kept_shape": "[64, 64]"},
    )


def test_a_state_is_detached() -> None:
    assert offered(carried_state(), "TN105", STATE) == (
        Edit(TRAIN, 4, "        state = 0.5 * state + output", "        state = (0.5 * state + output).detach()"),
    )


def test_a_state_that_is_trained_through_is_not() -> None:
    assert offered(carried_state(), "TN105", STATE.replace("backward()", "backward(retain_graph=True)")) == ()
    assert offered(carried_state(), "TN105", STATE.replace("loss.backward()", "(loss + state.sum()).backward()")) == ()


def test_a_setting_of_an_installed_package_says_nothing_of_the_program() -> None:
    library = SourceFile("/site-packages/lib.py", "loss.backward(retain_graph=True)\n", origin="library")
    assert len(offered(carried_state(), "TN105", STATE, library)) == 1


STEP = """\
def fit(model, batch):
    out = model(batch)
    loss = f(out)
    loss.backward()
    return loss
"""


def idle(running: int) -> Suspect:
    return suspect(
        symptom="peak",
        holder=variable("out", 2),
        cut=(variable("out", 2),),
        path=(local("out", running),),
        facts={"idle_at_peak": True},
    )


def test_what_is_idle_goes_before_the_line_of_the_peak() -> None:
    assert offered(idle(running=4), "TN106", STEP) == (Edit(TRAIN, 4, "", "    del out"),)


def test_what_is_used_at_the_line_of_the_peak_stays() -> None:
    assert offered(idle(running=3), "TN106", STEP) == ()


def test_where_the_function_stood_at_the_peak_must_be_known() -> None:
    assert offered(replace(idle(running=4), path=()), "TN106", STEP) == ()
