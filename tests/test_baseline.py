"""One program recorded in several folders: what is the same finding, and what is left out of a report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the program trains with torch")

LEAKY = """\
import sys
import torch
from torch import nn


class Trainer:
    def __init__(self, steps):
        torch.manual_seed(0)
        self.steps = steps
        self.model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 8))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.history = {"train": []}
        self.seen = []

    def run(self):
        for step in range(self.steps):
            loss = self.model(torch.randn(256, 64)).square().mean()
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.history["train"].append(loss)
            self.seen.append(torch.randn(256, 64))
            del loss


Trainer(int(sys.argv[1])).run()
"""


def run(folder: Path, text: str, *options: str, steps: int = 24) -> subprocess.CompletedProcess[str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "tenure", "run", "-o", "recording", *options, "train.py", str(steps)],
        cwd=folder,
        env=os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "110"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def findings(folder: Path, key: str = "findings") -> list[tuple[str, str, int]]:
    values = json.loads((folder / "recording" / "findings.json").read_text(encoding="utf-8"))
    return sorted((item["rule"], item["fingerprint"], item["holder"]["line"]) for item in values[key])


@pytest.mark.slow
def test_fingerprints_are_those_of_the_same_program_elsewhere_longer_and_with_moved_lines(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "far" / "away"
    moved = LEAKY.replace("import sys\n", "import sys\n\nVERSION = 2\n\n").replace(
        "        self.steps = steps\n", "        self.steps = steps\n        self.name = 'run'\n"
    )
    runs = [run(here, LEAKY), run(there, moved, steps=40)]
    assert [each.returncode for each in runs] == [0, 0]

    first, second = findings(here), findings(there)
    assert {rule for rule, _, _ in first} == {"TN101", "TN202"}
    assert [(rule, mark) for rule, mark, _ in second] == [(rule, mark) for rule, mark, _ in first]
    assert [line for _, _, line in second] == [line + 4 for _, _, line in first]


@pytest.mark.slow
def test_a_baseline_leaves_out_what_is_known_and_a_comment_what_is_allowed(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    first = run(before, LEAKY.replace("            self.seen.append(torch.randn(256, 64))\n", ""))
    assert (first.returncode, [rule for rule, _, _ in findings(before)]) == (0, ["TN101"])

    baseline = "../before/recording/findings.json"
    second = run(after, LEAKY, "--baseline", baseline, "--fail-on", "likely")
    assert second.returncode == 1
    assert f"known: 1 finding of {baseline} left out" in second.stderr
    assert ("TN202" in second.stderr, "TN101" in second.stderr) == (True, False)
    assert [rule for rule, _, _ in findings(after)] == ["TN101", "TN202"]

    allowed = tmp_path / "allowed"
    comment = LEAKY.replace(
        "self.seen.append(torch.randn(256, 64))", "self.seen.append(torch.randn(256, 64))  # tenure: allow TN202"
    )
    third = run(allowed, comment, "--baseline", str(before / "recording"), "--fail-on", "possible")
    assert third.returncode == 0
    assert "nothing new\n" in third.stderr
    assert "allowed: 1 finding (TN202) by a `# tenure: allow` comment" in third.stderr
    assert [rule for rule, _, _ in findings(allowed)] == ["TN101"]
    assert [rule for rule, _, _ in findings(allowed, "suppressed")] == ["TN202"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "baseline {}: No such file or directory; name the findings.json of an earlier run"),
        ("{", "baseline {} is no findings.json that `tenure diagnose` wrote"),
        ('{"format": 1, "findings": 3}', "baseline {} is no findings.json that `tenure diagnose` wrote"),
        ('{"format": 9}', "{} has format 9, this Tenure reads up to 1; use a newer Tenure"),
    ],
)
def test_a_bad_baseline_is_one_line_before_the_program_starts(
    content: str | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "old.json"
    if content is not None:
        file.write_text(content)
    result = run(tmp_path, "print('started')", "--baseline", str(file))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"tenure: {message.format(file)}\n"
    assert not (tmp_path / "recording").exists()
