"""A program runs under a known patch of an installed library where the patch is for that release, and only asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.errors import PatchError
from tenure.fixing.known_patches import installed_versions, read_known_texts
from tenure.rules.library_patches import LibraryPatch

PATCH = LibraryPatch(
    "kept-7", "the list keeps rows", ("https://github.com/some/kept/pull/7",), "kept-rows", "1.2", "1.4",
    "kept/rows.py", (("rows.append(row)\n", "rows[:] = [row]\n"),), "a run",
)  # fmt: skip
TEXT = "rows = []\n\ndef add(row):\n    rows.append(row)\n"

GRADIENT_STATE = """
class GradientState:
    _shared_state = {}

    def __init__(self):
        self.__dict__ = self._shared_state
        if not self._shared_state:
            self.active_dataloader = None
            self.dataloader_references = [None]

    def _add_dataloader(self, dataloader):
        self.active_dataloader = dataloader
        self.dataloader_references.append(self.active_dataloader)

    def _remove_dataloader(self, dataloader):
        self.dataloader_references.remove(dataloader)
        self.active_dataloader = self.dataloader_references[-1]
"""
"""The shape of accelerate's class, written for this test."""

PROGRAM = """
from accelerate.state import GradientState

class Loader:
    def __init__(self, name): self.name = name
    def __iter__(self):
        GradientState()._add_dataloader(self)
        yield from "ab"
        GradientState()._remove_dataloader(self)
    def __del__(self): print(self.name, "is gone")

for _ in Loader("left early"):
    break
outer, inner = Loader("outer"), Loader("inner")
for _ in outer:
    list(inner)
    print(GradientState().active_dataloader is outer)
print(GradientState().active_dataloader is None)
"""


def install(folder: Path, name: str, version: str, file: str, text: str) -> Path:
    """A package as an installer leaves it."""
    about = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    path = folder / file
    path.parent.mkdir()
    path.parent.joinpath("__init__.py").write_text("")
    path.write_text(text)
    return path


def run_printed(folder: Path, lines: int, *options: str) -> list[str]:
    """The first lines that `train.py` of a folder prints under `tenure run`, its packages found there."""
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    own = [sys.executable, "-W", "ignore", "-m", "tenure", "run", "--no-diagnose", *options, "train.py"]
    env = os.environ | {"PYTHONPATH": paths}
    done = subprocess.run(own, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[:lines]


def test_the_installed_file_is_edited_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = install(tmp_path, "kept-rows", "1.3.1", "kept/rows.py", TEXT)
    monkeypatch.syspath_prepend(str(tmp_path))

    assert read_known_texts("known:kept-7", [PATCH]) == {
        path: TEXT.replace("rows.append(row)", "rows[:] = [row]").encode()
    }
    assert path.read_text() == TEXT
    assert installed_versions([PATCH]) == {"kept-rows": "1.3.1"}


@pytest.mark.parametrize(
    ("version", "text", "why"),
    [
        ("1.4.0", TEXT, "known:kept-7 is for kept-rows 1.2 and later, before 1.4; kept-rows 1.4.0 is installed"),
        (
            "1.3.0",
            "rows = []\n",
            "known:kept-7 does not fit PATH: the lines that it changes are not there as it expects",
        ),
    ],
)
def test_another_release_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, text: str, why: str
) -> None:
    path = install(tmp_path, "kept-rows", version, "kept/rows.py", text)
    monkeypatch.syspath_prepend(str(tmp_path))

    with pytest.raises(PatchError) as refused:
        read_known_texts("known:kept-7", [PATCH])
    assert str(refused.value).startswith(why.replace("PATH", str(path)))


def test_an_unknown_patch_and_a_missing_package_are_said() -> None:
    with pytest.raises(PatchError, match=r"^known:x is no patch that is known; there are: known:kept-7$"):
        read_known_texts("known:x", [PATCH])
    with pytest.raises(PatchError, match=r"^known:kept-7 is for kept-rows, which is not installed here$"):
        read_known_texts("known:kept-7", [PATCH])
    assert installed_versions([PATCH]) == {}


@pytest.mark.slow
def test_a_program_under_a_known_patch_lets_go_of_a_loader_that_it_left(tmp_path: Path) -> None:
    install(tmp_path, "accelerate", "1.3.0", "accelerate/state.py", GRADIENT_STATE)
    (tmp_path / "train.py").write_text(PROGRAM)

    assert run_printed(tmp_path, 3, "-o", "plain") == ["True", "True", "False"]
    assert run_printed(tmp_path, 3, "-o", "under", "--with", "known:accelerate-3391") == [
        "left early is gone",
        "True",
        "True",
    ]


BASE_MODEL = """
class BaseModel:
    def __init__(self):
        self.training_step_outputs = []

    def training_step(self, batch):
        log = {"loss": (batch * self.weight).square().mean(), "n_samples": len(batch)}
        self.training_step_outputs.append(log)
        return log

    def on_train_epoch_end(self):
        self.training_step_outputs.clear()
"""
"""The shape of pytorch-forecasting's class, written for this test."""

FORECAST = """
import torch
from pytorch_forecasting.models.base._base_model import BaseModel

model = BaseModel()
model.weight = torch.ones(3, requires_grad=True)
log = model.training_step(torch.arange(3.0))
log["loss"].backward()
print(model.training_step_outputs[0]["loss"].requires_grad)
print(model.weight.grad.tolist(), model.training_step_outputs[0]["n_samples"])
"""


@pytest.mark.slow
def test_a_model_under_a_known_patch_logs_without_graphs_and_learns_the_same(tmp_path: Path) -> None:
    file = "pytorch_forecasting/models/base/_base_model.py"
    model = tmp_path / file
    model.parent.mkdir(parents=True)
    for folder in list(model.parents)[:3]:
        folder.joinpath("__init__.py").write_text("")
    model.write_text(BASE_MODEL)
    utils = tmp_path / "pytorch_forecasting/utils.py"
    utils.write_text(
        "def detach(log):\n    return {k: getattr(v, 'detach', lambda v=v: v)() for k, v in log.items()}\n"
    )
    about = tmp_path / "pytorch_forecasting-1.4.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pytorch-forecasting\nVersion: 1.4.0\n")
    (tmp_path / "train.py").write_text(FORECAST)

    assert run_printed(tmp_path, 2, "-o", "plain") == ["True", "[0.0, 0.6666666865348816, 2.6666667461395264] 3"]
    assert run_printed(tmp_path, 2, "-o", "under", "--with", "known:pytorch-forecasting-1924") == [
        "False",
        "[0.0, 0.6666666865348816, 2.6666667461395264] 3",
    ]
