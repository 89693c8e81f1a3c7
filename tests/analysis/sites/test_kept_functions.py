from __future__ import annotations

from dataclasses import replace

import pytest

from suspects import HISTORY, HOP, hop, suspect
from tenure.analysis.sites.kept_functions import by_the_function_that_is_kept
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import Hop

LIBRARY, MINE = "/usr/lib/python3/ignite/engine.py", "/home/me/fit.py"
STORED = SourceLocation(LIBRARY, 443, "Engine.add_event_handler")
TABLE = replace(
    HISTORY, kind="attribute", name="_event_handlers", expression="engine._event_handlers[*]", sites=(STORED,)
)
TEXT = "def validate(engine):\n    @trainer.on(DONE)\n    def final(engine):\n        evaluator.run(val)\n"
SOURCES = {LIBRARY: SourceFile(LIBRARY, "", "library"), MINE: SourceFile(MINE, TEXT)}
FINAL = hop("CELL", "evaluator", "function", "cell", source_name="validate.<locals>.final", file=MINE, line=3)


def named(path: tuple[Hop, ...], **changes: object) -> tuple[str, str, int]:
    """Kind, name and line of the holder of a growing table with this path."""
    holder = replace(TABLE, **changes)  # type: ignore[arg-type]
    found = by_the_function_that_is_kept(holder, replace(suspect(holder=holder), path=path), SOURCES)
    return found.kind, found.name, found.sites[0].line


def test_a_function_that_a_librarys_table_keeps_is_told_where_it_is_defined() -> None:
    assert named((HOP, FINAL)) == ("hook", "final", 3)


AS_IT_IS = ("attribute", "_event_handlers", 443)


@pytest.mark.parametrize(
    ("path", "changes", "expected"),
    [
        ((HOP,), {}, AS_IT_IS),
        ((HOP, replace(FINAL, source_name="final")), {}, AS_IT_IS),
        ((HOP, replace(FINAL, file=LIBRARY)), {}, AS_IT_IS),
        ((HOP, FINAL), {"element": False}, AS_IT_IS),
        ((HOP, FINAL), {"sites": (SourceLocation(MINE, 9, "fit"),)}, ("attribute", "_event_handlers", 9)),
    ],
    ids=["no function", "one of the file's own", "a library's", "one reference", "the user stores it"],
)
def test_any_other_table_is_told_as_it_is(
    path: tuple[Hop, ...], changes: dict[str, object], expected: tuple[str, str, int]
) -> None:
    assert named(path, **changes) == expected


ENGINE = hop("LOCAL", "engine", "frame", "ignite.Engine")
HANDLERS = hop("ATTRIBUTE", "_event_handlers", "ignite.Engine", "collections.defaultdict")
BY_EVENT = replace(hop("ITEM", "<Events>", "collections.defaultdict", "list"), user=False)
EACH = replace(hop("INDEX", "8", "list", "function"), user=False)
ANCHORS = replace(HISTORY, kind="closure", name="anchors", expression="anchors", element=False)


@pytest.mark.parametrize(
    ("path", "gains", "expected"),
    [
        ((ENGINE, HANDLERS, BY_EVENT, EACH, FINAL), 0.5, ("hook", "final", "engine._event_handlers[*]")),
        ((ENGINE, HANDLERS, replace(BY_EVENT, user=True), EACH, FINAL), 0.5, ("closure", "anchors", "anchors")),
        ((ENGINE, HANDLERS, FINAL), 0.5, ("closure", "anchors", "anchors")),
        ((ENGINE, HANDLERS, BY_EVENT, EACH, FINAL), None, ("closure", "anchors", "anchors")),
    ],
    ids=["a library's list", "a list of the user's", "one function", "one that swells"],
)
def test_the_variable_that_functions_in_a_librarys_list_close_over_is_told_by_the_function(
    path: tuple[Hop, ...], gains: float | None, expected: tuple[str, str, str]
) -> None:
    suspected = suspect(holder=ANCHORS, path=path, growth_objects_per_step=gains)

    found = by_the_function_that_is_kept(ANCHORS, suspected, SOURCES)

    assert (found.kind, found.name, found.expression) == expected
