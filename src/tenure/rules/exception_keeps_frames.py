"""TN302: a kept exception (or `sys.last_exc`) holds its traceback, and that the variables of every function in it."""

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.suspect import Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import GROWING, goes_through_traceback


def check_suspect(suspect: Suspect) -> Finding | None:
    """The path (no ring: rings are TN301) goes through a traceback or the frame of a function that has ended."""
    if suspect.cyclic or not goes_through_traceback(suspect):
        return None
    what = growth(suspect) if suspect.symptom in GROWING else format_bytes(suspect.retained_bytes)
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{suspect.holder.expression or suspect.holder.name}` keeps an exception, whose traceback keeps the "
        f"variables of the functions it passed through: {what}.",
        remedies=(
            "keep the text (`traceback.format_exc()`) instead of the exception, or drop the frames' variables first: "
            "`traceback.clear_frames(error.__traceback__)`, `error.with_traceback(None)`",
        ),
    )


RULE = Rule(
    code="TN302",
    name="exception-keeps-frames",
    summary="A stored exception keeps its traceback and so every local variable of the frames it went through.",
    check_suspect=check_suspect,
    priority=15,
    edit="without-traceback",
)
