"""A finding with the statement that is to be mended for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tenure.fixing.ways_to_tensors import plain_name
from tenure.model.finding import Edit, Finding, evidence_of
from tenure.model.source import SourceFile

Ways = Iterable[tuple[Edit, ...]]
"""To be tried one after another; () where an edit does not fit."""
GRAPHS = frozenset({"TN101", "TN102", "TN105", "TN107"})
MODULES = frozenset({"TN401", "TN403", "TN405"})
ROOTS = frozenset({"TN304", "TN401", "TN402", "TN403"})
GROWING = frozenset({"TN201", "TN202", "TN203", "TN402", "TN601"})
IDLE, CYCLES, VIEWS = frozenset({"TN106"}), frozenset({"TN301"}), frozenset({"TN204"})
HOOKS = frozenset({"TN303"})
EXCEPTIONS = frozenset({"TN301", "TN302", "TN304"})
"""Rules that have ways in common."""
_RECORD = "LogRecord"


@dataclass(frozen=True)
class Case:
    """A finding, the file and line of its holder's statement, the holder's plain name, and all files of the user's."""

    finding: Finding
    source: SourceFile
    yours: Sequence[SourceFile]
    line: int
    name: str

    @classmethod
    def of(cls, finding: Finding, sources: Mapping[str, SourceFile]) -> Case | None:
        """None where the holder's statement is not known, or is a library's, unless that keeps what the program logs:
        then `line` is 0."""
        source, line = sources.get(finding.holder.file or ""), finding.holder.line or 0
        yours = [each for each in sources.values() if each.origin == "yours"]
        if source is not None and source.origin != "yours" and holds_records(finding) and yours:
            source, line = yours[0], 0
        elif source is None or source.origin != "yours" or not line:
            return None
        return cls(finding, source, sorted(yours, key=lambda each: each is not source), line, plain_name(finding))

    @property
    def place(self) -> tuple[SourceFile, int, str]:
        """What most edits are made by: file, line and name."""
        return self.source, self.line, self.name


def holds_records(finding: Finding) -> bool:
    """Whether the way to the memory goes through a record of `logging`."""
    return any(each.partition(" ")[0] == _RECORD for each in evidence_of(finding, "path").get("targets", ()))
