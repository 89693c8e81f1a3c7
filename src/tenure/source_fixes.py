"""From source findings to changed files: edits are made in rounds, until nothing is left to change."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tenure.errors import SourceError
from tenure.lint import LintOptions, lint_sources
from tenure.model.finding import Edit
from tenure.model.source_finding import SourceFinding
from tenure.syntax.edits.line_edits import overlap
from tenure.syntax.files.documents import Document, edited

MOST_ROUNDS = 100
"""An edit that overlaps another one waits for the next round; so many in one place are nobody's."""
Wanted = Callable[[Sequence[SourceFinding]], Sequence[SourceFinding]]


@dataclass(frozen=True)
class Fixed:
    """`changed` are the documents before and after; `made` are the findings whose edits were made, one by one.

    `refused` is a line for each edit that could not be made.
    """

    changed: tuple[tuple[Document, Document], ...]
    made: tuple[SourceFinding, ...]
    refused: tuple[str, ...] = ()


@dataclass
class _Work:
    documents: dict[str, Document]
    made: list[SourceFinding] = field(default_factory=list)
    refused: dict[tuple[str, ...], str] = field(default_factory=dict)
    """By rule, file, function and edits: what is refused once is not tried again."""


def fix_documents(
    documents: Sequence[Document], options: LintOptions, *, unsafe: bool, wanted: Wanted | None = None
) -> Fixed:
    """All edits of the findings in documents that are `wanted`, only the safe ones unless `unsafe`.

    In each round what does not overlap is changed, and the program looked at again. A file that could be compiled
    still can. Running it on the result changes nothing. Costs a look at the program per round, two at the least.
    """
    work = _Work({each.source.path: each for each in documents})
    for _ in range(MOST_ROUNDS):
        findings, _ = lint_sources([each.source for each in work.documents.values()], options)
        chosen = _choose(work, wanted(findings) if wanted is not None else findings, unsafe=unsafe)
        if not chosen:
            break
        _change(work, chosen)
    pairs = ((each, work.documents[each.source.path]) for each in documents)
    changed = tuple((before, after) for before, after in pairs if before.data != after.data)
    return Fixed(changed, tuple(work.made), tuple(work.refused.values()))


def _choose(work: _Work, findings: Iterable[SourceFinding], *, unsafe: bool) -> list[SourceFinding]:
    """Findings whose edits can be made together: no line twice, and what changes several places is alone in its class
    or function, since it was made for the text as it stands."""
    chosen: list[SourceFinding] = []
    for finding in findings:
        if not finding.edits or not (finding.safe or unsafe) or _key(finding) in work.refused:
            continue
        if not any(_meet(finding, other) for other in chosen):
            chosen.append(finding)
    return chosen


def _meet(one: SourceFinding, other: SourceFinding) -> bool:
    if any(overlap(first, second) for first in one.edits for second in other.edits):
        return True
    several = len(one.edits) > 1 or len(other.edits) > 1
    return several and (one.file, _outermost(one)) == (other.file, _outermost(other))


def _outermost(finding: SourceFinding) -> str:
    return finding.function.partition(".")[0]


def _change(work: _Work, chosen: Sequence[SourceFinding]) -> None:
    """Make the edits of all findings, or, where that would break a file, of the first one that can be made alone."""
    together = _try(work, [edit for finding in chosen for edit in finding.edits])
    if not isinstance(together, str):
        work.documents.update(together)
        work.made += chosen
        return
    for finding in chosen:
        alone = _try(work, finding.edits)
        if not isinstance(alone, str):
            work.documents.update(alone)
            work.made.append(finding)
            return
        work.refused[_key(finding)] = f"{finding.file}:{finding.line}: {finding.rule} not fixed: {alone}"


def _try(work: _Work, edits: Sequence[Edit]) -> dict[str, Document] | str:
    """The documents with the edits made, or one line on why they cannot be."""
    changed = {}
    for path in dict.fromkeys(edit.file for edit in edits):
        before = work.documents.get(path)
        if before is None:
            return f"it changes {path}, which is not among the files given"
        try:
            after = edited(before, [edit for edit in edits if edit.file == path])
        except SourceError as error:
            return str(error)
        if (_compiles(before) and not _compiles(after)) or len(after.failures) > len(before.failures):
            return "the file would not compile"
        changed[path] = after
    return changed


def _key(finding: SourceFinding) -> tuple[str, ...]:
    edits = (part for edit in finding.edits for part in (edit.file, edit.before, str(edit.after)))
    return (finding.rule, finding.file, finding.function, *edits)


def _compiles(document: Document) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(
                document.source.text, document.source.path, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
            )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
