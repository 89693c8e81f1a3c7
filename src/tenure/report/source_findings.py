"""Source findings as text, JSON, SARIF 2.1.0 and annotations of GitHub's workflows."""

from __future__ import annotations

import dataclasses
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from tenure import __version__
from tenure.lint import Linted, fingerprint
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding

FORMAT = 1
_MEASURED = (
    *("retained_bytes", "growth_bytes_per_step", "num_objects", "device", "peak_bytes", "peak_drop_bytes"),
    *("peak_basis", "first_step", "last_step", "allocation"),
)
"""Keys of findings.json that only a recording can fill."""
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(findings: Sequence[SourceFinding]) -> str:
    """A line per finding, `file:line:column: code message`, its remedy below, and a count at the end.

    In a notebook, lines are those of the cell: `file:cell 3:line:column`. What `--fix` could change is counted too.
    """
    lines = []
    for each in findings:
        cell = f"cell {each.cell}:" if each.cell is not None else ""
        lines.append(f"{printable(each.file)}:{cell}{each.line}:{each.column}: {each.rule} {each.message}")
        lines.append(f"    {each.remedy}")
    count = Counter(each.rule for each in findings)
    told = ", ".join(f"{number} {code}" for code, number in sorted(count.items()))
    total = f"{len(findings)} finding{'s' if len(findings) != 1 else ''}"
    lines.append(f"{total} ({told})" if findings else "nothing found")
    return "\n".join([*lines, *_offer(findings)])


def _offer(findings: Sequence[SourceFinding]) -> list[str]:
    safe = sum(bool(each.edits) and each.safe for each in findings)
    others = sum(bool(each.edits) for each in findings) - safe
    offers = [f"{safe} by --fix"] * bool(safe) + [f"{others} {'more ' if safe else ''}by --fix --unsafe"] * bool(others)
    return [f"can be changed: {', '.join(offers)} (--diff shows it)"] if offers else []


def printable(path: str) -> str:
    """A path as it can be printed: bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def as_json(findings: Sequence[SourceFinding], linted: Linted, **told: object) -> str:
    """Findings with the keys of findings.json and those of `SourceFinding`; what only a recording shows is null or
    empty. `told` are further keys of the whole."""
    data = {
        "format": FORMAT,
        "files": linted.num_files,
        "lines": linted.num_lines,
        "skipped": linted.num_skipped,
        **told,
        "failures": list(linted.failures),
        "findings": [_as_row(each) for each in findings],
    }
    return json.dumps(data, indent=1)


def _as_row(finding: SourceFinding) -> dict[str, object]:
    own = dataclasses.asdict(finding)
    holder = {
        "kind": "unknown",
        "name": finding.place.rpartition(".")[2],
        "expression": finding.place,
        **{key: own[key] for key in ("file", "line", "function")},
    }
    remedy = {"summary": own.pop("remedy"), "edits": own.pop("edits"), "verified": None}
    del own["place"]
    return {
        **{key: own.pop(key) for key in ("rule", "name")},
        **{"symptom": None, "confidence": "possible", "origin": "yours", "message": own.pop("message")},
        **{"holder": holder, "path": [], "cut": []},
        **dict.fromkeys(_MEASURED),
        **{"remedies": [remedy], "evidence": [], "fingerprint": fingerprint(finding, Path.cwd())},
        **own,
    }


def as_github(findings: Sequence[SourceFinding]) -> str:
    """Workflow commands that GitHub shows beside the lines of a pull request; for a notebook, beside the file."""
    return "\n".join(
        f"::warning file={_property(printable(each.file))},{_github_place(each)}::"
        f"{_data(f'{each.message} {each.remedy}')}"
        for each in findings
    )


def _github_place(finding: SourceFinding) -> str:
    title = f"{finding.rule} {finding.name}"
    if finding.cell is not None:
        return f"title={_property(f'{title} (cell {finding.cell}, line {finding.line})')}"
    return f"line={finding.line},endLine={finding.end_line},title={_property(title)}"


def as_sarif(findings: Sequence[SourceFinding], rules: Sequence[Rule]) -> str:
    """SARIF 2.1.0, one run; paths are relative to the working folder where they lie below it.

    The region of a finding in a notebook is that in its cell, which is named as a logical location.
    """
    told = sorted({each.rule for each in findings})
    known = {rule.code: rule for rule in rules}
    driver = {
        "name": "tenure",
        "version": __version__,
        "rules": [
            {"id": code, "name": known[code].name, "shortDescription": {"text": known[code].summary}} for code in told
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(each, told.index(each.rule)) for each in findings],
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _sarif_result(finding: SourceFinding, rule_index: int) -> dict[str, object]:
    region = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }
    location: dict[str, object] = {
        "physicalLocation": {"artifactLocation": {"uri": _uri(finding.file)}, "region": region}
    }
    if finding.cell is not None:
        location["logicalLocations"] = [{"name": f"cell {finding.cell}", "kind": "cell"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": "warning",
        "message": {"text": f"{finding.message} {finding.remedy}"},
        "locations": [location],
    }


def _uri(path: str) -> str:
    here, given = Path.cwd(), Path(path)
    if given.is_absolute() and not given.is_relative_to(here):
        return given.as_uri()
    return quote(os.fsencode(given.relative_to(here) if given.is_absolute() else given))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
