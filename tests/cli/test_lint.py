from __future__ import annotations

import ast
import gc
import json
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from pages import PAGE_FILES, read_programs
from suspects import finding
from tenure.cli.lint import _without_collections
from tenure.cli.main import run_command_line
from tenure.report.json import finding_as_dict
from tenure.syntax.files import source_tree

LISTS_ALL_OBJECTS = True

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
ROOT = Path(__file__).resolve().parents[2]
OFFER = "can be changed: 1 by --fix (--diff shows it)"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "clean.py").write_text("import torch\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_collector_is_on_again_and_takes_what_was_read_for_old() -> None:
    assert (gc.isenabled(), gc.get_freeze_count()) == (True, 0)

    with _without_collections():
        was_on = gc.isenabled()
        read = [ast.parse(TRAIN) for _ in range(50)]
        young = any(each is read for each in gc.get_objects(generation=0))

    assert (was_on, young, gc.isenabled(), gc.get_freeze_count()) == (False, True, True, 0)
    assert any(each is read for each in gc.get_objects(generation=2))


def test_a_finding_is_a_line_with_its_place_and_one_with_its_remedy(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["lint"]) == 1
    assert capsys.readouterr() == (
        f"train.py:10:9: TN101 {MESSAGE}\n    {REMEDY}\n1 finding (1 TN101)\n{OFFER}\n",
        "",
    )


def test_nothing_found_is_said_and_the_exit_code_is_0(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", "clean.py"]) == 0
    assert capsys.readouterr() == ("nothing found\n", "")


@pytest.mark.parametrize("form", [["--json"], ["--format", "json"]])
def test_json_has_the_keys_of_findings_json_and_the_edit(
    project: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    run_command_line(["lint", *form, "."])

    told = json.loads(capsys.readouterr().out)
    (row,) = told.pop("findings")
    assert told == {"format": 1, "files": 2, "lines": 12, "skipped": 0, "failures": [], "too_large": []}
    edit = {
        "file": "train.py",
        "line": 10,
        "before": "        total += loss",
        "after": "        total += loss.detach()",
    }
    assert row.pop("holder") == {
        **{"kind": "unknown", "name": "total", "expression": "total"},
        **{"file": "train.py", "line": 10, "function": "train"},
    }
    assert row.pop("remedies") == [{"summary": REMEDY, "edits": [{**edit, "cell": None}], "verified": None}]
    assert {key: value for key, value in row.items() if value is not None and value != []} == {
        **{"rule": "TN101", "name": "loss-kept-with-graph", "confidence": "possible", "origin": "yours"},
        **{
            "message": MESSAGE,
            "fingerprint": row["fingerprint"],
            "safe": True,
            "file": "train.py",
            "function": "train",
        },
        **{"line": 10, "column": 9, "end_line": 10, "end_column": 22},
    }
    assert re.fullmatch("[0-9a-f]{16}", row["fingerprint"])
    recorded = finding("remedy", rule="TN101", name="n", message="m")
    assert set(finding_as_dict(recorded)) - {"holder", "remedies"} - _OF_GROWTH <= set(row)


_OF_GROWTH = {
    "growth_bytes_per_step_interval",
    "growth_objects_per_step",
    "growth_objects_per_step_interval",
    "forecast",
}
"""Keys of findings.json that came after its first form."""


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
        ('ignroe = ["TN101"]', "[tool.tenure] has no key 'ignroe'; there are: select, ignore, exclude, baseline"),
        ("baseline = 3", '[tool.tenure] baseline must be the name of a file, as in baseline = "lint.json"'),
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

    assert (code, out.splitlines()[-2]) == (1, "1 finding (1 TN101)")
    assert [line.partition(":")[2].partition(":")[0].strip() for line in err.splitlines()] == ["latin.py", "broken.py"]


def test_what_was_not_looked_at_is_told_in_the_forms_for_machines_too(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_tree, "LARGEST_BYTES", 1 << 20)
    (project / "train.py").unlink()
    (project / "large.py").write_text("import torch\n" + "x = 1\n" * 200_000)
    code = run_command_line(["lint", "--format", "github"])
    large = "larger than 1 MiB, skipped"
    assert (code, *capsys.readouterr()) == (
        0,
        f"::notice file=large.py,title=not looked at::{large}\n",
        f"tenure: large.py: {large}\n",
    )

    (project / "broken.py").write_text("import torch\ndef :\n")
    code = run_command_line(["lint", "--format", "github"])
    said = "::warning file=broken.py,line=2,title=not looked at::cannot be parsed: invalid syntax"
    assert (code, capsys.readouterr().out.splitlines()[0]) == (2, said)

    run_command_line(["lint", "--format", "sarif"])
    ((told,),) = (run["invocations"] for run in json.loads(capsys.readouterr().out)["runs"])
    assert told["toolExecutionNotifications"] == [
        {
            **{"level": "error", "message": {"text": "cannot be parsed: invalid syntax"}},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "broken.py"}, "region": {"startLine": 2}}}],
        },
        {
            **{"level": "note", "message": {"text": large}},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "large.py"}}}],
        },
    ]


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["--select", "TN999"], "", "--select: 'TN999' is no rule's code; there are: TN101, "),
        (["--ignore", "101"], "", "--ignore: '101' is no rule's code; there are: TN101, "),
        (["--select", "TN102"], "", "--select: 'TN102' is told by `tenure run` alone; there are: TN101, "),
        ([], 'select = ["TN999"]', "[tool.tenure] select: 'TN999' is no rule's code; there are: TN101, "),
    ],
)
def test_a_code_that_no_rule_has_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], settings: str, said: str
) -> None:
    (project / "pyproject.toml").write_text(f"[tool.tenure]\n{settings}\n")
    assert run_command_line(["lint", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), said in err) == ("", 1, True)


def test_a_file_and_links_to_it_are_one_file_under_its_real_name(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "a_link.py").symlink_to("train.py")
    (project / "z_link.py").symlink_to("train.py")
    assert run_command_line(["lint"]) == 1
    assert capsys.readouterr().out.startswith("train.py:10:9: TN101")
    assert run_command_line(["lint", "--fix"]) == 0
    assert capsys.readouterr() == ("nothing found\n", "tenure: 1 finding fixed in 1 file\n")
    assert ((project / "a_link.py").is_symlink(), (project / "train.py").read_text()) == (True, FIXED)


def test_a_missing_path_is_one_clear_line(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", "nowhere.py"]) == 2
    assert capsys.readouterr() == ("", "tenure: nowhere.py: no such file or folder\n")


FIXED = TRAIN.replace("+= loss", "+= loss.detach()")


def test_fix_changes_the_file_and_a_second_run_changes_nothing(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "train.py").chmod(0o640)
    assert run_command_line(["lint", "--fix"]) == 0
    assert capsys.readouterr() == ("nothing found\n", "tenure: 1 finding fixed in 1 file\n")
    assert (project / "train.py").read_text() == FIXED
    assert stat.S_IMODE((project / "train.py").stat().st_mode) == 0o640
    assert run_command_line(["lint", "--fix", "--unsafe"]) == 0
    assert capsys.readouterr() == ("nothing found\n", "")
    assert sorted(path.name for path in project.iterdir()) == ["clean.py", "train.py"]


@pytest.mark.parametrize("command", [["patch", "-p0"], ["git", "apply", "-p0"]])
@pytest.mark.parametrize("data", [TRAIN.encode(), TRAIN.rstrip().encode(), TRAIN.replace("\n", "\r\n").encode()])
def test_diff_changes_nothing_and_is_taken_by_patch_and_git(
    project: Path, capfdbinary: pytest.CaptureFixture[bytes], command: list[str], data: bytes
) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    (project / "train.py").write_bytes(data)
    assert run_command_line(["lint", "--diff"]) == 1
    patch, err = capfdbinary.readouterr()
    assert (err, (project / "train.py").read_bytes()) == (b"", data)
    options = ["--binary"] if command[0] == "patch" else []
    subprocess.run([*command, *options], input=patch, cwd=project, check=True)
    assert (project / "train.py").read_bytes() == data.replace(b"+= loss", b"+= loss.detach()")


def test_unsafe_alone_is_a_mistake_of_the_caller(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command_line(["lint", "--unsafe"]) == 2
    assert capsys.readouterr() == ("", "tenure: --unsafe says which edits to make: give --fix or --diff too\n")


def test_what_is_read_only_is_named_and_the_rest_is_changed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").chmod(0o444)
    (project / "other.py").write_text(TRAIN)
    assert run_command_line(["lint", "--fix"]) == 1
    out, err = capsys.readouterr()

    assert out.splitlines()[0] == f"train.py:10:9: TN101 {MESSAGE}"
    assert err == "tenure: train.py: not changed: the file is read-only\ntenure: 1 finding fixed in 1 file\n"
    assert [(project / name).read_text() for name in ("train.py", "other.py")] == [TRAIN, FIXED]


def test_a_link_to_a_file_stays_a_link(project: Path) -> None:
    (project / "link.py").symlink_to("train.py")
    assert run_command_line(["lint", "link.py", "--fix"]) == 0
    assert ((project / "link.py").is_symlink(), (project / "train.py").read_text()) == (True, FIXED)


@pytest.fixture
def notebook(project: Path) -> Path:
    lines = TRAIN.splitlines(keepends=True)
    cells = [
        {"cell_type": "markdown", "source": ["text"]},
        {"cell_type": "code", "source": ["%pip install torch\n", *lines[:1]]},
        {"cell_type": "code", "source": lines[3:]},
    ]
    (project / "n.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}, indent=1) + "\n")
    return project / "n.ipynb"


def test_a_finding_in_a_notebook_names_the_cell_and_the_line_in_it(
    notebook: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {}
    for form in ("text", "json", "sarif", "github"):
        assert run_command_line(["lint", "n.ipynb", "--format", form]) == 1
        said[form] = capsys.readouterr().out
    (row,) = json.loads(said["json"])["findings"]
    ((result,),) = [run["results"] for run in json.loads(said["sarif"])["runs"]]

    assert said["text"].splitlines()[0] == f"n.ipynb:cell 3:7:9: TN101 {MESSAGE}"
    assert [row[key] for key in ("cell", "line", "end_line")] == [3, 7, 7]
    assert [row["remedies"][0]["edits"][0][key] for key in ("cell", "line", "after")] == [
        3,
        7,
        "        total += loss.detach()",
    ]
    (place,) = result["locations"]
    line = next(n for n, text in enumerate(notebook.read_text().splitlines(), 1) if "total += loss" in text)
    assert place["physicalLocation"]["region"] == {"startLine": line, "endLine": line}
    assert place["logicalLocations"] == [{"name": "cell 3", "fullyQualifiedName": "cell 3:7:9", "kind": "cell"}]
    assert said["github"].startswith(
        "::warning file=n.ipynb,title=TN101 loss-kept-with-graph (cell 3%2C line 7)::`total` keeps"
    )


def test_a_fixed_notebook_differs_in_the_one_line(notebook: Path) -> None:
    before = notebook.read_text()
    assert run_command_line(["lint", "n.ipynb", "--fix"]) == 0
    assert notebook.read_text() == before.replace("total += loss", "total += loss.detach()")


def test_what_a_baseline_knows_is_left_out_wherever_its_lines_move(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["lint", "--baseline", "known.json", "--write-baseline"]) == 0
    assert capsys.readouterr() == ("known.json: 1 finding known\n", "")
    (project / "train.py").write_text("# moved\n" * 5 + TRAIN)
    assert run_command_line(["lint", "--baseline", "known.json"]) == 0
    assert capsys.readouterr().out == "nothing found\nknown: 1 finding of known.json left out\n"
    assert run_command_line(["lint", "--baseline", "known.json", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [told[key] for key in ("known", "baseline", "findings")] == [1, "known.json", []]

    (project / "train.py").write_text(TRAIN.replace("total += loss", "total += loss\n        total += loss"))
    assert run_command_line(["lint", "--baseline", "known.json"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == f"train.py:11:9: TN101 {MESSAGE}"


def test_what_a_baseline_knows_is_not_changed(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.tenure]\nbaseline = "known.json"\n')
    assert run_command_line(["lint", "--write-baseline"]) == 0
    assert run_command_line(["lint", "--fix"]) == 0
    assert (project / "train.py").read_text() == TRAIN


def test_a_baseline_holds_from_any_working_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "pyproject.toml").write_text('[tool.tenure]\nbaseline = "known.json"\n')
    run_command_line(["lint", "--write-baseline"])
    (project / "inner").mkdir()
    monkeypatch.chdir(project / "inner")
    assert run_command_line(["lint", str(project)]) == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "baseline known.json: No such file or directory; write it with `tenure lint --write-baseline`"),
        ("[]", "baseline known.json is no baseline of `tenure lint`; write it with `tenure lint --write-baseline`"),
        (
            '{"format": 2, "findings": []}',
            "baseline known.json is of format 2, this version reads 1; write it with `tenure lint --write-baseline`",
        ),
    ],
)
def test_a_baseline_that_cannot_be_read_is_one_clear_line(
    project: Path, capsys: pytest.CaptureFixture[str], text: str | None, said: str
) -> None:
    if text is not None:
        (project / "known.json").write_text(text)
    assert run_command_line(["lint", "--baseline", "known.json"]) == 2
    assert capsys.readouterr() == ("", f"tenure: {said}\n")


def test_a_baseline_without_a_file_is_a_mistake_of_the_caller(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(["lint", "--write-baseline"]) == 2
    assert capsys.readouterr().err == (
        "tenure: --write-baseline: name the file with --baseline FILE, or as baseline in [tool.tenure]\n"
    )


def test_the_pre_commit_hook_looks_at_the_whole_program() -> None:
    lines = (ROOT / ".pre-commit-hooks.yaml").read_text().splitlines()
    expected = {"- id: tenure-lint", "  entry: tenure lint", "  types_or: [python, jupyter]", "  pass_filenames: false"}
    assert expected <= set(lines)


def test_a_name_that_is_no_utf_8_is_printed_in_every_form(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").rename(project / os.fsdecode(b"caf\xe9.py"))
    said = {}
    for form in ("text", "json", "sarif", "github"):
        assert run_command_line(["lint", "--format", form]) == 1
        said[form] = capsys.readouterr().out
    assert said["text"].startswith("caf\\xe9.py:10:9: TN101")
    assert said["github"].startswith("::warning file=caf\\xe9.py,")
    assert '"uri": "caf%E9.py"' in said["sarif"]
    assert os.fsencode(json.loads(said["json"])["findings"][0]["file"]) == b"caf\xe9.py"
    assert run_command_line(["lint", "--fix"]) == 0


def test_what_was_fixed_is_counted_though_something_else_is_told_of_the_changed_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = next(page for page in PAGE_FILES if page.stem.startswith("TN107"))
    (project / "train.py").write_text("\n".join(read_programs(page)[0].unmarked_lines))
    assert run_command_line(["lint", "--fix", "--unsafe"]) == 1
    out, err = capsys.readouterr()
    assert (out.splitlines()[-1], err) == ("1 finding (1 TN202)", "tenure: 1 finding fixed in 1 file\n")
