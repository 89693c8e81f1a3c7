"""`tenure lint`: what the source shows without being run."""

from __future__ import annotations

import click

from tenure.cli.lint_settings import read_settings
from tenure.cli.main import INPUT_ERROR
from tenure.lint import LintOptions, lint
from tenure.report.source_findings import as_github, as_json, as_sarif, as_text
from tenure.rules import all_rules

FINDINGS = 1


@click.command("lint", short_help="Say what the source shows, without running it.")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif", "github"]), default="text")
@click.option("--select", multiple=True, metavar="CODE", help="Only these codes, or codes that begin so (TN1).")
@click.option("--ignore", multiple=True, metavar="CODE", help="Not these codes.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files and folders to leave out.")
def lint_command(
    paths: tuple[str, ...], form: str, select: tuple[str, ...], ignore: tuple[str, ...], exclude: tuple[str, ...]
) -> int:
    """Look through Python files for statements that keep tensor memory alive.

    PATH is a file or a folder (default: the working folder). Settings are read from `[tool.tenure]` of the nearest
    pyproject.toml; options on the command line replace them. A comment `# tenure: allow TN101` allows a finding.
    """
    paths = paths or (".",)
    settings = read_settings(paths)
    options = LintOptions(
        select=select or settings.select, ignore=ignore or settings.ignore, exclude=exclude or settings.exclude
    )
    linted = lint(paths, options)
    for failure in linted.failures:
        click.echo(f"tenure: {failure}", err=True)
    if form == "json":
        click.echo(as_json(linted.findings, linted.failures, linted.num_files))
    elif form == "sarif":
        click.echo(as_sarif(linted.findings, all_rules()))
    elif form == "github":
        click.echo(as_github(linted.findings), nl=bool(linted.findings))
    else:
        click.echo(as_text(linted.findings))
    if linted.findings:
        return FINDINGS
    return INPUT_ERROR if linted.failures else 0
