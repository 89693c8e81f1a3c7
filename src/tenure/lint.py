"""The verdict over source text: what every rule that can be seen in it says of a program, without running it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.errors import UsageError
from tenure.model.source import SourceFile
from tenure.model.source_finding import SourceFinding
from tenure.rules import all_rules
from tenure.syntax.program import Program
from tenure.syntax.source_tree import find_files, read_program
from tenure.syntax.suppressions import is_allowed


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


def lint(paths: Sequence[str], options: LintOptions | None = None) -> Linted:
    """What the text of all Python files below `paths` shows. They are looked at as one program.

    Files without torch are left out unless one with torch imports them. Raises UsageError where a path is missing.
    Costs about the parsing of the files that name torch, twice.
    """
    missing = [path for path in paths if not Path(path).exists()]
    if missing:
        raise UsageError(f"{missing[0]}: no such file or folder")
    options = options or LintOptions()
    files = list(dict.fromkeys(find_files([Path(path) for path in paths], options.exclude)))
    sources, failures = read_program(files)
    findings, unparsed = lint_sources(sources, options)
    return Linted(findings, len(files), (*failures, *unparsed))


def lint_sources(
    sources: Sequence[SourceFile], options: LintOptions | None = None
) -> tuple[tuple[SourceFinding, ...], tuple[str, ...]]:
    """Findings in texts that are at hand, and a line for each that is no Python."""
    options = options or LintOptions()
    program = Program(sources)
    by_path = {source.path: source for source in sources}
    found = {
        finding
        for rule in all_rules()
        if rule.check_source is not None and _is_wanted(rule.code, options)
        for finding in rule.check_source(program)
    }
    shown = (each for each in found if not is_allowed(by_path[each.file], each.line, each.rule))
    return tuple(sorted(shown, key=_place)), tuple(program.failures)


def _is_wanted(code: str, options: LintOptions) -> bool:
    return _starts(code, options.select) and not _starts(code, options.ignore)


def _starts(code: str, beginnings: Collection[str]) -> bool:
    return any(code.startswith(each) for each in beginnings)


def _place(finding: SourceFinding) -> tuple[str, int, int, str]:
    return finding.file, finding.line, finding.column, finding.rule
