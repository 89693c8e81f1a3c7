"""Baselines of `tenure lint`: findings that are known and not told again, wherever their lines have moved to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tenure.errors import UsageError
from tenure.lint import fingerprint, path_from
from tenure.model.source_finding import SourceFinding
from tenure.store.whole_file import write_whole

FORMAT = 1


@dataclass(frozen=True)
class LintBaseline:
    """How often each fingerprint is known; paths count from the folder of `file`."""

    file: Path
    known: Counter[str]

    def new(self, findings: Sequence[SourceFinding]) -> tuple[SourceFinding, ...]:
        """Findings that are not known; of several alike the first ones are the known ones."""
        left = self.known.copy()
        found = []
        for each in findings:
            key = fingerprint(each, self.file.parent)
            left[key] -= 1
            if left[key] < 0:
                found.append(each)
        return tuple(found)


def read_lint_baseline(path: str) -> LintBaseline:
    """What `write_lint_baseline` wrote; UsageError, in one line, where there is nothing of it."""
    file = Path(path)
    how = "write it with `tenure lint --write-baseline`"
    try:
        data = json.loads(file.read_bytes())
        fingerprints = [str(row["fingerprint"]) for row in data["findings"]]
        number = int(data["format"])
    except OSError as error:
        raise UsageError(f"baseline {path}: {error.strerror}; {how}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"baseline {path} is no baseline of `tenure lint`; {how}") from None
    if number > FORMAT:
        raise UsageError(f"baseline {path} is of format {number}, this version reads {FORMAT}; {how}")
    return LintBaseline(file, Counter(fingerprints))


def write_lint_baseline(path: str, findings: Sequence[SourceFinding]) -> None:
    """Write all findings as known ones, in an order that changes little from one time to the next."""
    file = Path(path)
    rows = [
        {
            **{"rule": each.rule, "file": path_from(each.file, file.parent), "function": each.function},
            **{"message": each.message, "fingerprint": fingerprint(each, file.parent)},
        }
        for each in findings
    ]
    rows.sort(key=lambda row: (row["file"], row["rule"], row["function"], row["message"]))
    try:
        write_whole(file, json.dumps({"format": FORMAT, "findings": rows}, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"baseline {path} cannot be written: {error.strerror}") from None
