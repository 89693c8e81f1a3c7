from __future__ import annotations

from pathlib import Path

import pytest

from tenure.capture.heap.origins import is_library_file


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on `sys.path` that `pip install --target` has filled."""
    folder = tmp_path / "packages"
    (folder / "metrics-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(folder)
    return folder


def test_what_an_installer_put_in_a_folder_of_its_own_is_a_librarys(packages: Path) -> None:
    assert is_library_file(str(packages / "metrics" / "curve.py"))


def test_the_folder_that_the_program_was_started_in_is_the_users(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(packages)

    assert not is_library_file(str(packages / "train.py"))


def test_a_folder_that_python_imports_from_is_the_users_where_nothing_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)

    assert not is_library_file(str(tmp_path / "models" / "net.py"))


def test_paths_that_are_no_strings_and_a_working_folder_that_is_gone_stop_nothing(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs append `Path` objects to `sys.path`, and some work in a temporary folder that they remove."""
    monkeypatch.setattr("sys.path", [packages.parent, str(packages)])
    gone = packages.parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert is_library_file(str(packages / "metrics" / "state.py"))
    assert not is_library_file(str(packages.parent / "train_elsewhere.py"))


def test_a_program_of_the_users_may_have_a_name_like_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert not is_library_file(str(tmp_path / "pytest.tuning.py"))


def test_code_that_a_library_writes_and_runs_is_the_librarys(tmp_path: Path) -> None:
    assert is_library_file(str(tmp_path / "pytest.nn.conv_Conv_propagate_x1.py"))
    assert is_library_file(str(tmp_path / "torchinductor_ada" / "cx" / "cxq.py"))
    assert not is_library_file(str(tmp_path / "conv.notes.py"))
    assert not is_library_file(str(tmp_path / "conv_propagate.py"))
