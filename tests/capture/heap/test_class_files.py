from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from heaps import census
from tenure.capture.heap.class_files import class_files
from tenure.capture.writing.journal import Journal


@pytest.fixture
def metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module `tenure_curves` whose class is made from one of `tenure_metrics`."""
    (tmp_path / "tenure_metrics.py").write_text("class Metric:\n    pass\n")
    curves = "import tenure_metrics\n\n\nclass Curve(tenure_metrics.Metric):\n    class Point:\n        pass\n"
    (tmp_path / "tenure_curves.py").write_text(curves)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("tenure_curves")
    yield tmp_path
    for name in ("tenure_metrics", "tenure_curves"):
        sys.modules.pop(name)


def test_a_class_stands_in_its_own_file_and_in_those_of_what_it_is_made_from(metrics: Path) -> None:
    assert class_files(["tenure_curves.Curve"]) == [
        str(metrics / "tenure_curves.py"),
        str(metrics / "tenure_metrics.py"),
    ]


@pytest.mark.parametrize(
    "name", ["tenure_curves.Curve.Point", "tenure_curves.plot.<locals>.Axis", "tenure_curves.gone"]
)
def test_a_class_inside_another_or_a_function_is_known_by_its_module(metrics: Path, name: str) -> None:
    assert class_files([name]) == [str(metrics / "tenure_curves.py")]


def test_a_class_that_says_to_be_of_another_module_is_known_by_its_methods_too(metrics: Path) -> None:
    """As of a package that hands on what a file of it defines; what a dataclass generates stands nowhere."""
    curves = sys.modules["tenure_curves"]
    text = "class Store:\n    def fill(self):\n        self.rows = []\n\n    def clear(self):\n        pass\n"
    exec(compile(text, str(metrics / "store.py"), "exec"), vars(curves))
    curves.Store.shown = exec("def shown(self): pass", names := {}) or names["shown"]

    assert class_files(["tenure_curves.Store"]) == [str(metrics / name) for name in ("tenure_curves.py", "store.py")]


def test_what_is_built_in_or_not_imported_has_no_file() -> None:
    assert class_files(["dict", "", "nowhere.Net", "sys.flags"]) == []


def test_a_recording_has_the_files_of_the_classes_of_its_objects(metrics: Path, tmp_path: Path) -> None:
    journal = Journal(lambda: tmp_path / "recording")
    (tmp_path / "recording").mkdir()
    drawn = "main.curve -> tenure_curves.Curve -> .preds list -> [*3] tensor 1KiB"
    journal.write_census(census(drawn, step=1))
    journal.write_census(census(drawn, step=2))
    journal.copy_last_sources()
    journal.close()

    text = "".join(file.read_text() for file in (tmp_path / "recording").glob("rows-*.jsonl"))
    rows = [json.loads(line) for line in text.splitlines() if line]
    copied = [Path(row["path"]).name for row in rows if row["kind"] == "source" and "tenure_" in row["path"]]
    assert copied == ["tenure_curves.py", "tenure_metrics.py"]
