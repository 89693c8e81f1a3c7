"""The edits that are worth a run: those of the findings' remedies, those of lint where the recording agrees, and what
only a run can prove."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from tenure.errors import SourceError
from tenure.fixing.guesses import guess_edits
from tenure.fixing.measured import Measured
from tenure.fixing.overlay import why_no_python
from tenure.lint import lint_sources
from tenure.model.finding import Edit, Finding, evidence_of
from tenure.model.source import SourceFile
from tenure.model.source_finding import SourceFinding
from tenure.syntax.edits.line_edits import apply_edits, overlap, split_lines

DETACH = ".detach()"
TRIAL = "trial"
MOST_GUESSED = 3
"""So many findings are given edits by trial: each of them costs several runs."""
MOST_AKIN = 2
"""So many edits of lint's elsewhere in the program are tried for one finding, behind the ways that fit its place."""
_AKIN = (
    frozenset({"TN101", "TN102", "TN105", "TN107", "TN108"}),
    frozenset({"TN201", "TN202", "TN203", "TN204", "TN205", "TN601"}),
    frozenset({"TN301", "TN302", "TN304"}),
)
"""Rules that may tell of one leak, each from what it sees."""


@dataclass(frozen=True)
class Candidate:
    """Edits that carry out one remedy, of the findings that they are for; paths are the originals'.

    `around` has, for each edit, the lines before and behind the place where it inserts one.
    """

    findings: tuple[Finding, ...]
    told_by: str
    edits: tuple[Edit, ...]
    around: tuple[tuple[str, ...], ...] = ()

    @property
    def key(self) -> tuple[object, object]:
        """The same for the same edits, however far the lines have moved."""
        return (tuple((edit.file, edit.before, edit.after) for edit in self.edits), self.around)


def find_candidates(measured: Measured) -> tuple[Candidate, ...]:
    """Candidates in the findings' order; the same edits of several findings are one."""
    told = _tell_by_lint(measured)
    found: dict[tuple[Edit, ...], Candidate] = {}
    for finding in measured.diagnosis.findings:
        told_by, edits = "recording", _edits_of(finding)
        if not edits:
            told_by, edits = "lint", _agreed(finding, told.get(_place_of(finding), ()))
        if not edits:
            continue
        made = _candidate(finding, told_by, edits, measured.sources)
        known = found.get(made.edits)
        found[made.edits] = replace(known, findings=(*known.findings, finding)) if known else made
    return tuple(found.values())


def find_trials(measured: Measured, known: Collection[object]) -> tuple[tuple[Candidate, ...], ...]:
    """For each of the first few findings that have some, the ways to mend it that only a run can prove, the likeliest
    first, without those whose key is `known`: made for it, and what lint says of the like elsewhere."""
    found: list[tuple[Candidate, ...]] = []
    told = _tell_by_lint(measured)
    for finding in measured.diagnosis.findings:
        guesses = guess_edits(finding, measured.sources)
        ways = (_candidate(finding, TRIAL, each, measured.sources) for each in (*guesses, *_akin(finding, told)))
        fresh = tuple({way.key: way for way in ways if way.key not in known}.values())
        if fresh and len(found) < MOST_GUESSED:
            found.append(fresh)
    return tuple(found)


def _akin(finding: Finding, told: Mapping[tuple[str, str, int], tuple[Edit, ...]]) -> list[tuple[Edit, ...]]:
    """Edits of what lint tells elsewhere in the program and that may be the same leak; those in the holder's file come
    first. None of what is only *possible*."""
    if finding.confidence == "possible":
        return []
    rules = next((each for each in _AKIN if finding.rule in each), frozenset({finding.rule}))
    elsewhere = (each for each in told if each[0] in rules and each[1:] != _place_of(finding)[1:])
    akin = sorted((file != finding.holder.file, file, line, rule) for rule, file, line in elsewhere)
    return [told[rule, file, line] for _, file, line, rule in akin][:MOST_AKIN]


def _candidate(finding: Finding, told_by: str, edits: Sequence[Edit], sources: Mapping[str, SourceFile]) -> Candidate:
    real = tuple(replace(edit, file=os.path.realpath(edit.file)) for edit in edits)
    return Candidate((finding,), told_by, real, tuple(_around(edit, sources.get(edit.file)) for edit in edits))


def _around(edit: Edit, source: SourceFile | None) -> tuple[str, ...]:
    if edit.before or source is None:
        return ()
    return tuple(line.strip() for line in split_lines(source.text)[max(0, edit.line - 2) : edit.line])


def join_candidates(candidates: Sequence[Candidate]) -> Candidate:
    """All of them as one."""
    findings = {(each.rule, each.fingerprint): each for some in candidates for each in some.findings}
    edits = tuple(edit for each in candidates for edit in each.edits)
    around = tuple(lines for each in candidates for lines in each.around)
    return Candidate(tuple(findings.values()), candidates[0].told_by, edits, around)


def edit_texts(candidates: Iterable[Candidate], base: Mapping[Path, bytes]) -> dict[Path, bytes]:
    """Each file's text with all edits of the candidates: made in `base`, and where that lacks it in the file as it is.

    Raises SourceError where a file is not the one that ran, where edits are in each other's way, or where the result
    is no Python.
    """
    by_file: dict[str, dict[Edit, None]] = {}
    for candidate in candidates:
        for edit in candidate.edits:
            by_file.setdefault(edit.file, {})[edit] = None
    texts = {}
    for file, edits in by_file.items():
        before = base[Path(file)] if Path(file) in base else _read(file)
        _check_apart(file, list(edits))
        after = apply_edits(before.decode("utf-8", "surrogateescape"), edits).encode("utf-8", "surrogateescape")
        why = why_no_python(after, file)
        if why:
            raise SourceError(f"{file}: the edits make no Python of it ({why})")
        texts[Path(file)] = after
    return texts


def _edits_of(finding: Finding) -> tuple[Edit, ...]:
    return next((remedy.edits for remedy in finding.remedies if remedy.edits), ())


def _agreed(finding: Finding, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Edits of lint's, or none where they detach what the recording saw to be no tensor: source alone cannot tell."""
    detaches = any(DETACH in (edit.after or "") for edit in edits)
    return edits if not detaches or _keeps_tensor(finding) else ()


def _keeps_tensor(finding: Finding) -> bool:
    """Whether what the holder keeps is a tensor itself, and no object or container that has one."""
    path = evidence_of(finding, "path")
    references, targets = list(path.get("references", ())), list(path.get("targets", ()))
    name = finding.holder.name.partition("[")[0]
    at = next((at for at, each in enumerate(references) if each == f".{name}" or f"`{name}`" in each), None)
    if at is None:
        return False
    kept = at + finding.holder.expression.endswith("[*]")
    # What `references[n]` leads to is `targets[n - 1]`; of the first, the root's own, it is not told.
    said = targets[kept - 1] if 0 < kept <= len(targets) else ""
    return str(said).startswith("Tensor") or references[kept + 1 : kept + 2] == [".grad_fn"]


def _tell_by_lint(measured: Measured) -> dict[tuple[str, str, int], tuple[Edit, ...]]:
    """Edits that lint has of the sources as they ran, by rule and place."""
    return _edits_of_lint(tuple(source for source in measured.sources.values() if source.origin == "yours"))


@lru_cache(maxsize=2)
def _edits_of_lint(yours: tuple[SourceFile, ...]) -> dict[tuple[str, str, int], tuple[Edit, ...]]:
    told, _ = lint_sources(yours)
    return {_place_of_source(each): each.edits for each in told if each.edits}


def _place_of(finding: Finding) -> tuple[str, str, int]:
    return finding.rule, finding.holder.file or "", finding.holder.line or 0


def _place_of_source(finding: SourceFinding) -> tuple[str, str, int]:
    return finding.rule, finding.file, finding.line


def _check_apart(file: str, edits: Sequence[Edit]) -> None:
    for one, other in combinations(edits, 2):
        if overlap(one, other) and (one.before or other.before):
            raise SourceError(f"{file}:{other.line}: two edits change this line")


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror or error}") from error


def describe_place(candidate: Candidate) -> Mapping[str, object]:
    """Rule, name and place of the first finding that a candidate is for."""
    first = candidate.findings[0]
    file = first.holder.file or candidate.edits[0].file
    return {"rule": first.rule, "name": first.name, "file": os.path.realpath(file), "line": first.holder.line or 0}
