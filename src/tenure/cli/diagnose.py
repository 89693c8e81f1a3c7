"""`tenure diagnose`: what a recording says, as a report and as findings.json in the recording's folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click

from tenure.errors import NewerFormatError, RecordingError, UsageError
from tenure.model.finding import Diagnosis
from tenure.parts import Parts

FINDINGS_FILE = "findings.json"
CONFIDENCES = ("possible", "likely", "certain")


@click.command("diagnose", short_help="Say what a recording shows: holder, file and line.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print findings.json instead of the report.")
@click.option("--baseline", metavar="FILE", help="Leave out findings that this findings.json has.")
@click.option(
    "--fail-on",
    type=click.Choice(CONFIDENCES),
    help="Exit with 1 only for findings of at least this confidence (default: any finding).",
)
def diagnose_command(folder: str, as_json: bool, baseline: str | None, fail_on: str | None) -> int:
    """Read the recording in DIR, say what keeps memory alive, and write findings.json beside it."""
    known = read_baseline(baseline) if baseline is not None else None
    return report_run(folder, json=as_json, fail_on=fail_on, stream=sys.stdout, known=known)


@dataclass(frozen=True)
class Baseline:
    """Findings that are known already, by rule and fingerprint, and the file that names them."""

    file: str
    known: frozenset[tuple[str, str]]


def read_baseline(path: str) -> Baseline:
    """The findings of an earlier run: its findings.json, or the recording's folder that holds one.

    What a comment allowed there is known, too. Raises UsageError, in one line, where there are none to read.
    """
    from tenure.report.json import diagnosis_from_json

    file = Path(path, FINDINGS_FILE) if Path(path).is_dir() else Path(path)
    try:
        text = file.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise UsageError(f"baseline {file}: {error.strerror}; name the findings.json of an earlier run") from error
    try:
        earlier = diagnosis_from_json(text, source=str(file))
    except NewerFormatError:
        raise
    except RecordingError as error:
        raise UsageError(f"baseline {file} is no findings.json that `tenure diagnose` wrote") from error
    findings = (*earlier.findings, *earlier.suppressed)
    return Baseline(str(file), frozenset((finding.rule, finding.fingerprint) for finding in findings))


def report_run(
    folder: str,
    *,
    json: bool,
    fail_on: str | None,
    stream: TextIO,
    known: Baseline | None = None,
    program: str = "",
) -> int:
    """Diagnose the recording in `folder`, write its findings.json and print the report to `stream`.

    Gives back the exit code: 1 where a finding reaches `fail_on` (None: any finding), else 0. What is `known` is
    neither printed nor counted, but written. `program` is what was run, as a shell takes it, for the command to go on
    with. Raises RecordingError where there is nothing to read. A folder that
    cannot be written is said on stderr only.
    """
    from tenure.diagnose import diagnose, leave_out_known
    from tenure.report.json import diagnosis_as_json

    if not Path(folder).is_dir():
        found = "is a file" if Path(folder).exists() else "does not exist"
        raise RecordingError(f"{folder} {found}; name the folder that `tenure run` wrote")
    diagnosis = diagnose(folder)
    text = diagnosis_as_json(diagnosis)
    _write_findings(Path(folder, FINDINGS_FILE), text)
    if known is not None:
        diagnosis = leave_out_known(diagnosis, known.known, baseline=known.file)
    print_diagnosis(diagnosis, json=json, stream=stream, program=program)
    return exit_code(diagnosis, fail_on=fail_on)


def _write_findings(file: Path, text: str) -> None:
    from tenure.store.whole_file import write_whole

    try:
        write_whole(file, text)
    except OSError as error:
        print(f"tenure: {file} could not be written ({error.strerror}); the report follows", file=sys.stderr)


def print_diagnosis(diagnosis: Diagnosis, *, json: bool, stream: TextIO, program: str = "") -> None:
    """The report in the form the stream can show, or findings.json."""
    from tenure.report.json import diagnosis_as_json
    from tenure.report.terminal import has_edits, render_diagnosis, terminal_form

    if json:
        stream.write(diagnosis_as_json(diagnosis))
        return
    width, color, ascii_only = terminal_form(stream)
    by_trial = not has_edits(diagnosis) and _has_ways(diagnosis)
    text = render_diagnosis(
        diagnosis, width=width, color=color, ascii_only=ascii_only, program=program, by_trial=by_trial
    )
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _has_ways(diagnosis: Diagnosis) -> bool:
    """Whether `tenure fix` would try some way to mend a finding; false where the sources are gone, or looking fails."""
    from tenure.fixing.guesses import guess_edits
    from tenure.store.recording_file import list_recordings, open_recording, read_sources

    if all(finding.confidence == "possible" for finding in diagnosis.findings):
        return False
    try:
        folders = list_recordings(diagnosis.recording)
        sources = {source.path: source for each in folders for source in read_sources(open_recording(each))}
    except RecordingError:
        return False
    return any(Parts().found(guess_edits, finding, sources) for finding in diagnosis.findings)


def exit_code(diagnosis: Diagnosis, *, fail_on: str | None) -> int:
    """1 where a finding is at least as sure as `fail_on`, else 0."""
    least = CONFIDENCES.index(fail_on or "possible")
    return int(any(CONFIDENCES.index(finding.confidence) >= least for finding in diagnosis.findings))
