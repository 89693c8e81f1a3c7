"""`tenure report`: print a recording's findings again."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tenure.cli.diagnose import FINDINGS_FILE, exit_code, print_diagnosis, read_baseline, report_run


@click.command("report", short_help="Print a recording's findings again.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=str))
@click.option("--json", "as_json", is_flag=True, help="Print findings.json instead of the report.")
@click.option("--baseline", metavar="FILE", help="Leave out findings that this findings.json has.")
def report_command(folder: str, as_json: bool, baseline: str | None) -> int:
    """Print the findings in DIR/findings.json; diagnose first where there are none yet."""
    known = read_baseline(baseline) if baseline is not None else None
    file = Path(folder, FINDINGS_FILE)
    if not file.is_file():
        return report_run(folder, json=as_json, fail_on=None, stream=sys.stdout, known=known)
    from tenure.report.json import diagnosis_from_json

    diagnosis = diagnosis_from_json(file.read_bytes().decode("utf-8", "replace"), source=str(file))
    if known is not None:
        from tenure.diagnose import leave_out_known

        diagnosis = leave_out_known(diagnosis, known.known, baseline=known.file)
    print_diagnosis(diagnosis, json=as_json, stream=sys.stdout)
    return exit_code(diagnosis, fail_on=None)
