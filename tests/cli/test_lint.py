from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenure.cli.main import run_command_line

TRAIN = """\
import torch


def train(model, optimizer, batches):
    total = 0.0
    for batch in batches:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        total += loss
    return total.item()
"""
MESSAGE = "`total` keeps the autograd graph of every `loss` it is given."
REMEDY = "keep the value without its graph: `x.detach()` stays on the device, `x.item()` is one number"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "clean.py").write_text("import torch\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_finding_is_a_line_with_its_place_and_one_with_its_remedy(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["lint"]) == 1
    assert capsys.readouterr() == (f"train.py:10:9: TN101 {MESSAGE}\n    {REMEDY}\n1 finding (1 TN101)\n", "")


def test_nothing_found_is_said_and_the_exit_code_is_0(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", "clean.py"]) == 0
    assert capsys.readouterr() == ("nothing found\n", "")


def test_json_has_every_field_and_the_edit(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command_line(["lint", "--format", "json", "."])

    assert json.loads(capsys.readouterr().out) == {
        "format": 1,
        "files": 2,
        "failures": [],
        "findings": [
            {
                **{"rule": "TN101", "name": "loss-kept-with-graph", "file": "train.py", "function": "train"},
                **{"line": 10, "column": 9, "end_line": 10, "end_column": 22, "message": MESSAGE, "remedy": REMEDY},
                "edits": [
                    {
                        "file": "train.py",
                        "line": 10,
                        "before": "        total += loss",
                        "after": "        total += loss.detach()",
                    }
                ],
                "safe": False,
            }
        ],
    }


def test_sarif_names_the_rule_and_the_region(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_command_line(["lint", "--format", "sarif", str(project)])
    log = json.loads(capsys.readouterr().out)
    (run,) = log["runs"]

    assert (log["version"], run["tool"]["driver"]["name"]) == ("2.1.0", "tenure")
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["TN101"]
    assert run["results"] == [
        {
            **{"ruleId": "TN101", "ruleIndex": 0, "level": "warning", "message": {"text": f"{MESSAGE} {REMEDY}"}},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": "train.py"},
                        "region": {"startLine": 10, "startColumn": 9, "endLine": 10, "endColumn": 22},
                    }
                }
            ],
        }
    ]


def test_an_annotation_of_a_workflow_escapes_what_its_form_uses(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "a,b.py").write_text(TRAIN.replace("+= loss", "+= loss * (7 % 4)"))
    run_command_line(["lint", "--format", "github", "a,b.py"])

    assert capsys.readouterr().out == (
        "::warning file=a%2Cb.py,line=10,endLine=10,title=TN101 loss-kept-with-graph::"
        f"{MESSAGE.replace('loss', 'loss * (7 %25 4)', 1)} {REMEDY}\n"
    )


@pytest.mark.parametrize(
    ("settings", "options", "code"),
    [
        ('select = ["TN2"]', [], 0),
        ('ignore = ["TN101"]', [], 0),
        ('exclude = ["train.py"]', [], 0),
        ('ignore = ["TN101"]', ["--ignore", "TN2"], 1),
        ('ignore = ["TN2"]', [], 1),
    ],
)
def test_the_projects_settings_hold_and_options_replace_them(
    project: Path, settings: str, options: list[str], code: int
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.tenure]\n{settings}\n")

    assert run_command_line(["lint", *options]) == code


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('ignroe = ["TN101"]', "[tool.tenure] has no key 'ignroe'; there are: select, ignore, exclude"),
        ('ignore = "TN101"', '[tool.tenure] ignore must be a list of words, as in ignore = ["TN101"]'),
    ],
)
def test_settings_that_cannot_be_meant_are_one_clear_line(
    project: Path, capsys: pytest.CaptureFixture[str], settings: str, said: str
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.tenure]\n{settings}\n")

    assert run_command_line(["lint"]) == 2
    assert capsys.readouterr() == ("", f"tenure: {project / 'pyproject.toml'}: {said}\n")


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "broken.py").write_text("import torch\ndef :\n")
    (project / "latin.py").write_bytes(b"import torch  # \xe9\n")
    (project / "round").symlink_to(project)
    code = run_command_line(["lint"])
    out, err = capsys.readouterr()

    assert (code, out.splitlines()[-1]) == (1, "1 finding (1 TN101)")
    assert [line.partition(":")[2].partition(":")[0].strip() for line in err.splitlines()] == ["latin.py", "broken.py"]


def test_a_missing_path_is_one_clear_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", "nowhere.py"]) == 2
    assert capsys.readouterr() == ("", "tenure: nowhere.py: no such file or folder\n")
