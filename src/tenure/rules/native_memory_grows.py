"""TN603: the process grows with the steps, and no tensor, container or cache of Python's accounts for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from tenure.model.finding import Finding
from tenure.model.recording import PROFILER_RUNS
from tenure.model.rule import Rule
from tenure.model.source import SourceLocation
from tenure.model.suspect import HoldingReference, Suspect
from tenure.model.units import format_bytes
from tenure.rules.claim import claim
from tenure.rules.known_leaks import Match, match_known_leaks

NATIVE = "native_growth"


def check_suspect(suspect: Suspect) -> Finding | None:
    """Growth of the process that findings do not explain. A known issue that fits makes it likely, nothing certain."""
    if PROFILER_RUNS in suspect.facts:
        return _of_profiler(suspect)
    facts = suspect.facts.get(NATIVE)
    if not isinstance(facts, Mapping):
        return None
    operators: Sequence[Mapping[str, Any]] = facts["operators"]
    matches = match_known_leaks(
        torch=facts["torch"],
        operators=[each["name"] for each in operators],
        devices=facts["devices"],
        shapes_vary=facts["shapes_vary"],
        environment=facts["environment"],
    )
    called = [each for match in matches[:1] for each in operators if each["name"] in match.operators]
    known = [{"id": each.leak.id, "title": each.leak.title, "issues": list(each.leak.issues)} for each in matches]
    holder = _holder(called)
    return claim(
        dataclasses.replace(suspect, holder=holder, cut=(), facts={**suspect.facts, "known_issues": known}),
        rule=RULE.code,
        name=RULE.name,
        message=_message(suspect, matches, called),
        remedies=tuple(match.leak.workaround for match in matches)
        or ((_OTHER_FIRST,) if facts["beside_growth"] else ()) + (_LOOK,),
        at_most="likely" if matches and holder.sites and _is_sure(facts) else "possible",
    )


def _is_sure(facts: Mapping[str, Any]) -> bool:
    return bool(facts["keeps_pace"]) and not facts["is_short"]


def _of_profiler(suspect: Suspect) -> Finding:
    return claim(
        dataclasses.replace(suspect, cut=()),
        rule=RULE.code,
        name=RULE.name,
        message=f"A profiler recorded every step and keeps each event in the host's memory until it stops: the process "
        f"grows by {format_bytes(suspect.growth_bytes_per_step or 0)} per step.",
        remedies=(_SCHEDULE,),
        at_most="likely",
    )


_SCHEDULE = (
    "profile a few steps: `profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=3, repeat=1), ...)` with "
    "`prof.step()` after each, or stop it after some"
)
_OTHER_FIRST = (
    "mend the growth that is told beside this one first and measure again: small objects that stay lie between what is "
    "freed, and C's allocator cannot give such pages back"
)
_LOOK = (
    "find the step's part that does it: run it with one fixed input, and with each library call left out; growth that "
    "ends with fixed shapes is a cache by shape"
)


def _holder(called: Sequence[Mapping[str, Any]]) -> HoldingReference:
    """No holder is seen: the name is the operator's, the place the first statement of the program's that runs it."""
    if not called:
        return HoldingReference(kind="unknown", name="native memory", expression="native memory")
    sites = (SourceLocation(each["file"], each["line"], each["function"]) for each in called if each["file"])
    return HoldingReference(
        kind="unknown", name=called[0]["name"], expression=called[0]["name"], sites=tuple(sites)[:1]
    )


def _message(suspect: Suspect, matches: Sequence[Match], called: Sequence[Mapping[str, Any]]) -> str:
    measured = (
        f"The process grows by {format_bytes(suspect.growth_bytes_per_step or 0)} per step from step "
        f"{suspect.first_step} to {suspect.last_step}, and no tensor, container or cache that a census shows accounts "
        "for it"
    )
    if not matches:
        return f"{measured}: native memory (caches of libraries, extension modules), or many small objects."
    leak, phases = matches[0].leak, dict.fromkeys(phase for each in called for phase in each["phases"])
    where = f" in the {' and '.join(phases)} pass" if phases else ""
    return f"{measured}. `{called[0]['name']}`{where} fits a known issue: {leak.title} ({_short(leak.issues[0])})."


def _short(issue: str) -> str:
    """`pytorch/pytorch#32037` of the address of an issue."""
    return issue.rpartition("github.com/")[2].replace("/issues/", "#").replace("/pull/", "#")


RULE = Rule(
    code="TN603",
    name="native-memory-grows",
    summary="The process grows with each step below Python, where no census sees a holder; known issues are named.",
    check_suspect=check_suspect,
    priority=4,
)
