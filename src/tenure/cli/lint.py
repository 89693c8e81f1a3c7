"""`tenure lint`: what the source shows without being run, and its repair."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from tenure.cli.lint_baseline import LintBaseline, read_lint_baseline, write_lint_baseline
from tenure.cli.lint_settings import check_codes, read_settings
from tenure.cli.main import INPUT_ERROR
from tenure.errors import SourceError, UsageError
from tenure.lint import Linted, LintOptions, lint, lint_documents
from tenure.model.source_finding import SourceFinding
from tenure.report.source_diff import as_diff
from tenure.report.source_findings import as_github, as_json, as_sarif, as_text, printable
from tenure.rules import all_rules
from tenure.source_fixes import Fixed, fix_documents
from tenure.syntax.files.source_writing import write_document

FINDINGS = 1


@click.command("lint", short_help="Say what the source shows, without running it.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif", "github"]), default="text")
@click.option("--json", "json_output", is_flag=True, help="The same as --format json.")
@click.option("--select", multiple=True, metavar="CODE", help="Only these codes, or codes that begin so (TN1).")
@click.option("--ignore", multiple=True, metavar="CODE", help="Not these codes.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files and folders to leave out.")
@click.option("--fix", is_flag=True, help="Change the files where that cannot change what the program computes.")
@click.option("--unsafe", is_flag=True, help="With --fix or --diff: make the other edits too.")
@click.option("--baseline", metavar="FILE", help="Leave out the findings that FILE knows.")
@click.option("--write-baseline", is_flag=True, help="Write all findings to the baseline's FILE, as known ones.")
@click.option("--diff", is_flag=True, help="Write what --fix would change as a patch, and nothing to the files.")
def lint_command(
    paths: tuple[str, ...],
    form: str,
    json_output: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    fix: bool,
    unsafe: bool,
    diff: bool,
    baseline: str | None,
    write_baseline: bool,
) -> int:
    """Look through Python files and notebooks for statements that keep tensor memory alive.

    PATH is a file or a folder (default: the working folder). Settings are read from `[tool.tenure]` of the nearest
    pyproject.toml; options on the command line replace them. A comment `# tenure: allow TN101` allows a finding.
    """
    if unsafe and not (fix or diff):
        raise UsageError("--unsafe says which edits to make: give --fix or --diff too")
    paths = paths or (".",)
    check_codes(select, "--select")
    check_codes(ignore, "--ignore")
    settings = read_settings(paths)
    own = settings.options
    options = LintOptions(select=select or own.select, ignore=ignore or own.ignore, exclude=exclude or own.exclude)
    baseline = baseline or settings.baseline
    if write_baseline:
        return _write_baseline(lint(paths, options), baseline)
    known = read_lint_baseline(baseline) if baseline else None
    form = "json" if json_output else form
    with _without_collections():
        linted = lint(paths, options)
        _say((*linted.failures, *linted.too_large))
        if not (fix or diff):
            return _tell(linted, form, known)
    fixed = fix_documents(linted.documents, options, unsafe=unsafe, wanted=known.new if known else None)
    _say(fixed.refused)
    if diff:
        click.echo(_as_patch(fixed), nl=False)
        return _exit_code(_not_known(linted, known), linted.failures)
    return _tell(_write(linted, fixed, options), form, known)


@contextmanager
def _without_collections() -> Iterator[None]:
    """With the cyclic collector off: syntax trees hold no cycles, and each collection would go through all of them.

    What was made meanwhile counts as old afterwards, or the first collection would go through it after all.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()


def _write_baseline(linted: Linted, file: str) -> int:
    if not file:
        raise UsageError("--write-baseline: name the file with --baseline FILE, or as baseline in [tool.tenure]")
    _say((*linted.failures, *linted.too_large))
    write_lint_baseline(file, linted.findings)
    click.echo(f"{file}: {_count(len(linted.findings), 'finding')} known")
    return 0


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        click.echo(f"tenure: {printable(line)}", err=True)


def _as_patch(fixed: Fixed) -> bytes:
    return b"".join(as_diff(before.source.path, before.data, after.data) for before, after in fixed.changed)


def _write(linted: Linted, fixed: Fixed, options: LintOptions) -> Linted:
    """Write the changed files; what is found in the files as they are now."""
    now = {each.source.path: each for each in linted.documents}
    for before, after in fixed.changed:
        try:
            write_document(before, after)
            now[before.source.path] = after
        except SourceError as error:
            _say([str(error)])
    changed = {each.source.path for each in linted.documents if each is not now[each.source.path]}
    findings, _ = lint_documents(list(now.values()), options)
    if changed:
        num_fixed = sum(each.file in changed for each in fixed.made)
        _say([f"{_count(num_fixed, 'finding')} fixed in {_count(len(changed), 'file')}"])
    return dataclasses.replace(linted, findings=findings, documents=tuple(now.values()))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _tell(linted: Linted, form: str, known: LintBaseline | None) -> int:
    """Print what was found and is not known; the exit code."""
    findings = _not_known(linted, known)
    _print(findings, linted, form, known)
    return _exit_code(findings, linted.failures)


def _not_known(linted: Linted, known: LintBaseline | None) -> Sequence[SourceFinding]:
    return known.new(linted.findings) if known else linted.findings


def _print(findings: Sequence[SourceFinding], linted: Linted, form: str, known: LintBaseline | None) -> None:
    num_known = len(linted.findings) - len(findings)
    if form == "json":
        known_rows = {"known": num_known, "baseline": str(known.file)} if known else {}
        click.echo(as_json(findings, linted, **known_rows))
    elif form == "sarif":
        click.echo(as_sarif(findings, all_rules(), linted))
    elif form == "github":
        told = as_github(findings, linted)
        click.echo(told, nl=bool(told))
    else:
        click.echo(as_text(findings))
        if num_known and known:
            click.echo(f"known: {_count(num_known, 'finding')} of {printable(str(known.file))} left out")


def _exit_code(findings: Sequence[SourceFinding], failures: Sequence[str]) -> int:
    if findings:
        return FINDINGS
    return INPUT_ERROR if failures else 0
