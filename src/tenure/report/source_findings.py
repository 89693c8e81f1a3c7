"""Source findings as text, JSON, SARIF 2.1.0 and annotations of GitHub's workflows."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tenure import __version__
from tenure.lint import Linted, fingerprint
from tenure.model.rule import Rule
from tenure.model.source_finding import SourceFinding
from tenure.syntax.files.notebook_lines import file_lines

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
        "too_large": list(linted.too_large),
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


def as_github(findings: Sequence[SourceFinding], linted: Linted) -> str:
    """Workflow commands that GitHub shows beside the lines of a pull request; for a notebook, beside the file. Files
    that could not be looked at are warnings too, those skipped for their size notices."""
    lines = [
        f"::warning file={_property(printable(each.file))},{_github_place(each)}::"
        f"{_data(f'{each.message} {each.remedy}')}"
        for each in findings
    ]
    for kind, told in (("warning", linted.failures), ("notice", linted.too_large)):
        lines += [_github_note(kind, note_of(each, linted.files)) for each in told]
    return "\n".join(lines)


def _github_note(kind: str, note: Note) -> str:
    line = f"line={note.line}," if note.line else ""
    return f"::{kind} file={_property(printable(note.file))},{line}title=not looked at::{_data(printable(note.text))}"


@dataclass(frozen=True)
class Note:
    """Why a file, or a cell of it, was not looked at."""

    file: str
    line: int | None
    text: str


def note_of(told: str, files: Collection[str]) -> Note:
    """What a line of `Linted.failures` says, taken apart: it begins with one of `files`, or with a folder's path."""
    ends = [at for at, each in enumerate(told) if each == ":"]
    end = next((at for at in reversed(ends) if told[:at] in files), told.find(": "))
    found = re.match(r"(\d+): ", told[end + 1 :])
    text = told[end + 1 + (found.end() if found else 0) :]
    return Note(told[:end], int(found[1]) if found else None, text.strip())


def _github_place(finding: SourceFinding) -> str:
    title = f"{finding.rule} {finding.name}"
    if finding.cell is not None:
        return f"title={_property(f'{title} (cell {finding.cell}, line {finding.line})')}"
    return f"line={finding.line},endLine={finding.end_line},title={_property(title)}"


def as_sarif(findings: Sequence[SourceFinding], rules: Sequence[Rule], linted: Linted) -> str:
    """SARIF 2.1.0, one run; paths are relative to the working folder where they lie below it.

    The region of a finding in a notebook is the line of the file that has it; its cell, and the line there, are named
    as a logical location. What could not be looked at, or was skipped for its size, is a notification.
    """
    notebooks = {each.source.path: each for each in linted.documents if each.cells is not None}
    places = {each.file: file_lines(notebooks[each.file].data) for each in findings if each.file in notebooks}
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
        "invocations": [_sarif_invocation(linted)],
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(each, told.index(each.rule), places.get(each.file, {})) for each in findings],
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def _sarif_invocation(linted: Linted) -> dict[str, object]:
    """That it ran, and what it did not look at."""
    notes = [("error", note_of(each, linted.files)) for each in linted.failures]
    notes += [("note", note_of(each, linted.files)) for each in linted.too_large]
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [
            {
                "level": level,
                "message": {"text": printable(note.text)},
                "locations": [{"physicalLocation": _sarif_place(note.file, {"startLine": note.line})}],
            }
            for level, note in notes
        ],
    }


def _sarif_place(file: str, region: Mapping[str, int | None]) -> dict[str, object]:
    """A place in a file; without a region where no line is known."""
    place: dict[str, object] = {"artifactLocation": {"uri": _uri(file)}}
    return {**place, "region": dict(region)} if region.get("startLine") else place


def _sarif_result(
    finding: SourceFinding, rule_index: int, file_lines_of: Mapping[tuple[int, int], int]
) -> dict[str, object]:
    region: dict[str, int | None] = {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }
    if finding.cell is not None:
        first, last = (file_lines_of.get((finding.cell, each)) for each in (finding.line, finding.end_line))
        region = {"startLine": first, "endLine": last or first}
    location: dict[str, object] = {"physicalLocation": _sarif_place(finding.file, region)}
    if finding.cell is not None:
        name = f"cell {finding.cell}"
        location["logicalLocations"] = [
            {"name": name, "fullyQualifiedName": f"{name}:{finding.line}:{finding.column}", "kind": "cell"}
        ]
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
