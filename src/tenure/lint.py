"""The verdict over source text: what every rule that can be seen in it says of a program, without running it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.errors import UsageError
from tenure.model.source import SourceFile
from tenure.model.source_finding import SourceFinding
from tenure.rules import all_rules
from tenure.rules.source_edits import with_source_edits
from tenure.syntax.files.documents import Document, placed
from tenure.syntax.files.source_tree import each_once, find_files, read_program
from tenure.syntax.program.program import Program
from tenure.syntax.text.depth import is_deep
from tenure.syntax.text.suppressions import is_allowed


@dataclass(frozen=True)
class LintOptions:
    """Codes, or beginnings of codes (`TN1`); `exclude` are globs of paths or of names of folders."""

    select: tuple[str, ...] = ("TN",)
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True)
class Linted:
    """Findings by file and line; `failures` has a line for each file that could not be read or parsed."""

    findings: tuple[SourceFinding, ...]
    num_files: int
    failures: tuple[str, ...] = ()
    documents: tuple[Document, ...] = ()
    """The files that were looked at."""
    num_lines: int = 0
    num_skipped: int = 0
    """Files that have nothing to do with torch, which are not parsed, and those in `too_large`."""
    too_large: tuple[str, ...] = ()
    """A line for each file that was skipped for its size; no failure."""
    files: frozenset[str] = frozenset()
    """The paths that lines of `failures` and `too_large` begin with, but for those of folders."""


def fingerprint(finding: SourceFinding, folder: Path) -> str:
    """What names a finding in every run: no line, and no folder above `folder`."""
    parts = (finding.rule, path_from(finding.file, folder), finding.function, finding.message)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def path_from(path: str, folder: Path) -> str:
    """A path as it is written in `folder`, with slashes."""
    return Path(os.path.relpath(path, folder)).as_posix()


def lint(paths: Sequence[str], options: LintOptions | None = None) -> Linted:
    """What the text of all Python files and notebooks below `paths` shows. They are looked at as one program.

    Files without torch are left out unless one with torch imports them. Raises UsageError where a path is missing.
    Costs about the parsing of the files that name torch, twice.
    """
    missing = [path for path in paths if not os.path.lexists(path)]
    if missing:
        raise UsageError(f"{missing[0]}: no such file or folder")
    options = options or LintOptions()
    unread: list[str] = []
    files = each_once(find_files([Path(path) for path in paths], options.exclude, unread))
    read = read_program(files)
    findings, unparsed = lint_documents(read.documents, options)
    return Linted(
        findings,
        len(files),
        failures=(*unread, *read.failures, *unparsed),
        documents=read.documents,
        num_lines=read.num_lines,
        num_skipped=read.num_skipped,
        too_large=read.too_large,
        files=frozenset(map(str, files)),
    )


def lint_documents(
    documents: Sequence[Document], options: LintOptions
) -> tuple[tuple[SourceFinding, ...], tuple[str, ...]]:
    """As `lint_sources`, with the findings in notebooks placed in their cells."""
    findings, failures = lint_sources([each.source for each in documents], options)
    by_path = {each.source.path: each for each in documents}
    return tuple(placed(by_path[each.file], each) for each in findings), failures


def lint_sources(
    sources: Sequence[SourceFile], options: LintOptions | None = None
) -> tuple[tuple[SourceFinding, ...], tuple[str, ...]]:
    """Findings in texts that are at hand, and a line for each that is no Python or nested too deeply to be followed."""
    options = options or LintOptions()
    try:
        return _lint(sources, options)
    except RecursionError:
        deep = {source.path for source in sources if is_deep(source)}
        if not deep:
            raise
    findings, failures = lint_sources([source for source in sources if source.path not in deep], options)
    return findings, (*failures, *(f"{path}: nested too deeply, not looked at" for path in sorted(deep)))


def _lint(sources: Sequence[SourceFile], options: LintOptions) -> tuple[tuple[SourceFinding, ...], tuple[str, ...]]:
    program = Program(sources)
    by_path = {source.path: source for source in sources}
    found = {
        finding
        for rule in all_rules()
        if rule.check_source is not None and _is_wanted(rule.code, options)
        for finding in rule.check_source(program)
    }
    shown = [each for each in found if not is_allowed(by_path[each.file], each.line, each.rule)]
    edited = (with_source_edits(program, each) for each in sorted(shown, key=_place))
    return tuple(edited), tuple(program.failures)


def _is_wanted(code: str, options: LintOptions) -> bool:
    return _starts(code, options.select) and not _starts(code, options.ignore)


def _starts(code: str, beginnings: Collection[str]) -> bool:
    return any(code.startswith(each) for each in beginnings)


def _place(finding: SourceFinding) -> tuple[str, int, int, str, str]:
    return finding.file, finding.line, finding.column, finding.rule, finding.message
