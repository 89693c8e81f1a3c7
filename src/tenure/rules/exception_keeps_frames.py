"""TN302: a kept exception (or `sys.last_exc`) holds its traceback, and that the variables of every function in it."""

from collections.abc import Iterator

from tenure.model.finding import Finding
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import HoldingReference, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim, growth
from tenure.rules.path_questions import goes_through_traceback
from tenure.rules.source_claim import claim_source
from tenure.syntax.kept.kept_errors import find_kept_errors
from tenure.syntax.program.program import Program

_OF_THE_INTERPRETER = (
    "the interpreter keeps the last uncaught error: before going on in the same session, "
    "`sys.last_exc = sys.last_value = sys.last_traceback = None`"
)


def check_suspect(suspect: Suspect) -> Finding | None:
    """The path (no ring: rings are TN301) goes through a traceback or the frame of a function that has ended."""
    if suspect.cyclic or not goes_through_traceback(suspect):
        return None
    what = growth(suspect) if suspect.grows else format_bytes(suspect.retained_bytes)
    keeper, variables = _who_keeps_what(suspect)
    return claim(
        suspect,
        rule=RULE.code,
        name=RULE.name,
        message=f"`{keeper}` keeps an exception, whose traceback keeps {variables} of the functions it passed "
        f"through: {what}.",
        remedies=(
            *((_OF_THE_INTERPRETER,) if keeper.startswith("sys.last_") else ()),
            "keep the text (`traceback.format_exc()`) instead of the exception, or drop the frames' variables first: "
            "`traceback.clear_frames(error.__traceback__)`, `error.with_traceback(None)`",
        ),
    )


def _who_keeps_what(suspect: Suspect) -> tuple[str, str]:
    """What has the exception, and which variables hang on it; a variable is named where only a library has it."""
    holder, last = suspect.holder, suspect.cut[-1]
    if _is_of_interpreter(holder):
        return f"sys.{holder.name}", "the variables"
    if holder.kind != "local" or holder.name in {each.name for each in suspect.cut}:
        return holder.expression or holder.name, "the variables"
    keeper = f"sys.{last.name}" if _is_of_interpreter(last) else last.expression or last.name
    return keeper, f"`{holder.name}` and the other variables"


def _is_of_interpreter(reference: HoldingReference) -> bool:
    return reference.kind == "global" and reference.name.startswith("last_")


def check_source(program: Program) -> Iterator[SourceFinding]:
    """`self.error = error` and its kin in `except` blocks; local names that are raised again after a loop."""
    for kept in find_kept_errors(program):
        yield claim_source(
            kept.function,
            kept.statement,
            rule=RULE.code,
            name=RULE.name,
            message=f"`{kept.place}` keeps `{kept.name}`, and by its traceback all local variables of the frames it "
            "went through.",
            remedy="keep `str(error)`, or take the traceback off: `error.with_traceback(None)`",
        )


RULE = Rule(
    code="TN302",
    name="exception-keeps-frames",
    summary="A stored exception keeps its traceback and so every local variable of the frames it went through.",
    check_suspect=check_suspect,
    priority=15,
    edit="without-traceback",
    check_source=check_source,
)
