"""A rule: one known cause of retained memory. One code, one name, one file, one page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from tenure.model.finding import Finding
from tenure.model.source_finding import SourceFinding
from tenure.model.suspect import Suspect

EditKind = Literal[
    "",
    "detach",
    "clone",
    "drop",
    "without-traceback",
    "save-for-backward",
    "bound",
    "zero-grad",
    "free-gradients",
    "reset",
]


@dataclass(frozen=True)
class Rule:
    """`check_suspect` returns a finding where the suspect is this cause, else None.

    Rules are tried in the order of `priority`, lowest first; the first that claims a suspect explains it.
    """

    code: str
    name: str
    summary: str
    check_suspect: Callable[[Suspect], Finding | None]
    priority: int = 50
    edit: EditKind = ""
    """How its remedy changes the statement that makes the reference; "" where no mechanical change is right."""
    check_source: Callable[[Any], Iterable[SourceFinding]] | None = None
    """What a program's text alone shows of the cause (it is given a `syntax.program.Program`); None where nothing."""
    retell: Callable[[Finding], Finding] | None = None
    """Given a finding of this rule with the results of experiments on it: the finding in words that agree with them."""
