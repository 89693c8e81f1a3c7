from __future__ import annotations

from typing import Any

import pytest

from suspects import suspect
from tenure.analysis.sites.unfinished import named_by_its_cycle, named_by_what_builds_it
from tenure.model.source import SourceFile, SourceLocation
from tenure.model.suspect import RUNNING, HoldingReference, Hop, Suspect

SCORING, OWNER = "/projects/mri/scoring.py", "an owner Tenure cannot see (evaluation stack, C code, atexit), of dict"
SOURCES = {
    SCORING: SourceFile(
        SCORING,
        """\
def assess(net, cases):
    maps = {
        case.patient: net(case.scan) for case in cases
    }
    self.answers = [net(case.scan) for case in cases]
    return list(net(case.scan) for case in cases)
    self.maps, truth = zip(*((net(case.scan), case.truth) for case in cases))
""",
    )
}


def built(container: str, line: int, *, name: str = "assess", file: str = SCORING, **changes: Any) -> Suspect:
    holder = HoldingReference("unknown", "'p2'", "[*]", element=True, container_type=container)
    running = (("/projects/mri/train.py", 9, "hook"), (file, line, name))
    made = suspect(holder=holder, path_text=(OWNER, "['p2']"), facts={RUNNING: running}, **changes)
    return named_by_what_builds_it(made, SOURCES)


@pytest.mark.parametrize(
    ("container", "line", "name", "function", "at"),
    [
        ("dict", 3, "maps", "assess.<locals>.<dictcomp>", 2),
        ("dict", 3, "maps", "assess", 2),
        ("list", 5, "answers", "assess", 5),
        ("list", 6, "assess", "assess.<locals>.<genexpr>", 6),
        ("tuple", 7, "maps", "assess.<locals>.<genexpr>", 7),
    ],
    ids=["a dictionary", "in the function itself, as of Python 3.12", "an attribute", "what is given back", "a zip"],
)
def test_what_a_running_comprehension_builds_goes_by_the_name_that_it_will_get(
    container: str, line: int, name: str, function: str, at: int
) -> None:
    found = built(container, line, name=function)

    assert (found.holder.kind, found.holder.name, found.holder.expression) == ("local", name, f"{name}[*]")
    assert found.holder.sites == (SourceLocation(SCORING, at, "assess"),)
    assert (found.cut, found.holder_is_yours) == ((found.holder,), True)
    assert found.path_text == (f"what `{name}` is made of while assess runs (scoring.py:{at})", "['p2']")


@pytest.mark.parametrize(
    ("container", "line", "file"),
    [("list", 3, SCORING), ("dict", 5, SCORING), ("tuple", 3, SCORING), ("dict", 3, "/projects/mri/gone.py")],
    ids=["of another kind", "on another line", "no container that is built so", "no source"],
)
def test_other_containers_keep_their_unseen_owner(container: str, line: int, file: str) -> None:
    found = built(container, line, file=file)

    assert (found.holder.kind, found.path_text) == ("unknown", (OWNER, "['p2']"))


def test_a_name_that_is_known_stays() -> None:
    made = suspect(facts={RUNNING: ((SCORING, 3, "assess"),)})

    assert named_by_what_builds_it(made, SOURCES) is made


RAYS = "/projects/rays/rays.py"
CYCLE = Hop("OTHER", "", "OBJECT", "enumerate", "", "OBJECT", "itertools.cycle")


def cycled(text: str, *, kind: str = "unknown") -> Suspect:
    holder = HoldingReference(kind, OWNER, OWNER)
    return named_by_its_cycle(suspect(holder=holder, path=(CYCLE,)), {RAYS: SourceFile(RAYS, text)})


@pytest.mark.parametrize(
    ("text", "name", "function"),
    [
        ("def endless(batches):\n    return enumerate(itertools.cycle(batches), 1)\n", "cycle", "endless"),
        ("def train(loader):\n    for batch in cycle(loader):\n        pass\n", "cycle", "train"),
        ("def train(loader):\n    stream = enumerate(cycle(loader))\n", "stream", "train"),
    ],
)
def test_what_a_loop_runs_over_is_named_by_the_one_call_of_cycle(text: str, name: str, function: str) -> None:
    found = cycled(text)

    assert (found.holder.name, found.holder.inside, found.holder.element) == (name, "itertools.cycle", True)
    assert found.holder.sites == (SourceLocation(RAYS, 2, function),)


def test_of_two_calls_of_cycle_none_is_named() -> None:
    text = "a = itertools.cycle(x)\nb = itertools.cycle(y)\n"

    assert cycled(text).holder.kind == "unknown"
    assert cycled(text[:23], kind="local").holder.name == OWNER
    assert cycled("itertools.cycle(").holder.kind == "unknown"
