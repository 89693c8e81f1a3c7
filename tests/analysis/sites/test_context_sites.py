from __future__ import annotations

from suspects import suspect
from tenure.analysis.sites.context_sites import by_the_context_variable
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import HoldingReference, Suspect

CONTEXT = "the context (contextvars) of a running thread or task"
STAGE = """\
active = ContextVar("active")

class Stage:
    def load(self, encoder):
        active.set(encoder)
        inactive.set(encoder)
        self.rows = set(encoder)
"""
NAMELESS = suspect(
    path_text=(CONTEXT, "context variable `active`", ".weight"), holder=HoldingReference("unknown", CONTEXT, CONTEXT)
)


def told(
    text: str = STAGE, origin: str = "yours", before: Suspect = NAMELESS
) -> tuple[str, tuple[SourceLocation, ...], bool]:
    found = by_the_context_variable(before, {"/p/stage.py": SourceFile("/p/stage.py", text, origin=origin)})
    assert found.cut == (found.holder,) or found == before
    return found.holder.name, found.holder.sites, found.ambiguous


def test_what_a_context_variable_holds_is_told_by_the_call_that_set_it() -> None:
    assert told() == ("active", (SourceLocation("/p/stage.py", 5, "Stage.load"),), False)


def test_a_variable_that_the_program_calls_otherwise_is_told_by_the_program_s_name() -> None:
    renamed = STAGE.replace('active = ContextVar("active")', 'ACTIVE: Any = ContextVar("active", default=None)')

    assert told(renamed.replace("active.set", "ACTIVE.set")) == (
        "ACTIVE", (SourceLocation("/p/stage.py", 5, "Stage.load"),), False
    )  # fmt: skip


def test_of_several_calls_none_is_sure_and_without_any_the_variable_is_named_alone() -> None:
    assert told(STAGE + "        context.active.set(1)\n")[2]
    assert told("def broken(:\n    active.set(1)") == ("active", (), False)
    assert told(origin="library") == ("active", (), False)


def test_what_has_a_name_of_its_own_keeps_it() -> None:
    named = suspect(path_text=NAMELESS.path_text, holder=HoldingReference("local", "tokens", "tokens"))

    assert told(before=named) == ("tokens", (), named.ambiguous)
