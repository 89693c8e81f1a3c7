"""`tenure diagnose`: what a recording says, as a report and as findings.json in the recording's folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

import click

from tenure.errors import RecordingError
from tenure.model.finding import Diagnosis

FINDINGS_FILE = "findings.json"
CONFIDENCES = ("possible", "likely", "certain")


@click.command("diagnose", short_help="Say what a recording shows: holder, file and line.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print findings.json instead of the report.")
@click.option(
    "--fail-on",
    type=click.Choice(CONFIDENCES),
    help="Exit with 1 only for findings of at least this confidence (default: any finding).",
)
def diagnose_command(folder: str, as_json: bool, fail_on: str | None) -> int:
    """Read the recording in DIR, say what keeps memory alive, and write findings.json beside it."""
    return report_run(folder, json=as_json, fail_on=fail_on, stream=sys.stdout)


def report_run(folder: str, *, json: bool, fail_on: str | None, stream: TextIO) -> int:
    """Diagnose the recording in `folder`, write its findings.json and print the report to `stream`.

    Gives back the exit code: 1 where a finding reaches `fail_on` (None: any finding), else 0. Raises
    RecordingError where there is nothing to read. A folder that cannot be written is said on stderr only.
    """
    from tenure.diagnose import diagnose
    from tenure.report.json import diagnosis_as_json

    if not Path(folder).is_dir():
        found = "is a file" if Path(folder).exists() else "does not exist"
        raise RecordingError(f"{folder} {found}; name the folder that `tenure run` wrote")
    diagnosis = diagnose(folder)
    text = diagnosis_as_json(diagnosis)
    _write_findings(Path(folder, FINDINGS_FILE), text)
    print_diagnosis(diagnosis, json=json, stream=stream)
    return exit_code(diagnosis, fail_on=fail_on)


def _write_findings(file: Path, text: str) -> None:
    unfinished = file.with_name(file.name + ".tmp")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    except OSError as error:
        print(f"tenure: {file} could not be written ({error.strerror}); the report follows", file=sys.stderr)


def print_diagnosis(diagnosis: Diagnosis, *, json: bool, stream: TextIO) -> None:
    """The report in the form the stream can show, or findings.json."""
    from tenure.report.json import diagnosis_as_json
    from tenure.report.terminal import render_diagnosis, terminal_form

    if json:
        stream.write(diagnosis_as_json(diagnosis))
        return
    width, color, ascii_only = terminal_form(stream)
    text = render_diagnosis(diagnosis, width=width, color=color, ascii_only=ascii_only)
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def exit_code(diagnosis: Diagnosis, *, fail_on: str | None) -> int:
    """1 where a finding is at least as sure as `fail_on`, else 0."""
    least = CONFIDENCES.index(fail_on or "possible")
    return int(any(CONFIDENCES.index(finding.confidence) >= least for finding in diagnosis.findings))
