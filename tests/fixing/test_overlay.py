"""A program under an overlay is the edited program in everything it can see, and no file is touched."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import pytest

from tenure.capture.start_up import PACKAGE
from tenure.errors import PatchError
from tenure.fixing.overlay import read_patched_texts, unused_files, write_overlay
from tenure.fixing.patch import Package, write_patch

START_UP = str(PACKAGE / "capture" / "startup")

PROGRAM = """
import inspect, json, multiprocessing, os, subprocess, sys, traceback
import helper, space.inner

def told():
    return "original"

def tell(where):
    print(where, told(), helper.told(), space.inner.told(), __name__, flush=True)

def failing():
    raise ValueError("original")

if __name__ == "__main__":
    tell("main")
    print(__file__, sys.argv, sys.path[0], __spec__ is None, sorted(name for name in globals() if name[:2] == "__"))
    source = __loader__.get_source(getattr(__spec__, "name", "__main__"))
    print(type(__loader__).__name__, source == open(__file__).read() or "edited")
    print(open(os.path.join(os.path.dirname(__file__), "data.txt")).read())
    print(inspect.getsource(told), inspect.getsource(helper.told), inspect.getsource(space.inner))
    try:
        failing()
    except ValueError:
        print(traceback.format_exc())
    for how in ("spawn", "fork"):
        process = multiprocessing.get_context(how).Process(target=tell, args=(how,))
        process.start()
        process.join()
    for command in (["-c", "import helper; print('child', helper.told())"], ["-m", "helper"], [helper.__file__]):
        subprocess.run([sys.executable, *command])
"""
HELPER = """
def told():
    return "original helper"

if __name__ == "__main__":
    print("helper itself", told())
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A script, a module, a module of a namespace package, and data beside them."""
    folder = tmp_path / "tree"
    (folder / "space").mkdir(parents=True)
    (folder / "train.py").write_text(PROGRAM)
    (folder / "helper.py").write_text(HELPER)
    (folder / "space" / "inner.py").write_text("def told(): return 'original inner'\n")
    (folder / "data.txt").write_text("the data")
    return folder


def edit(text: str) -> str:
    return text.replace("original", "EDITED")


def overlay_of(folder: Path, *files: Path) -> Path:
    write_overlay(folder, {file: edit(file.read_text()).encode() for file in files})
    return folder


def start(folder: Path, *arguments: str, overlay: Path | None = None, **environment: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("TENURE", "PYTHON"))}
    if overlay is not None:
        environment |= {"PYTHONPATH": START_UP, "TENURE_OVERLAY": str(overlay)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=own | environment, capture_output=True, text=True, timeout=60
    )
    return done.stdout + done.stderr


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("train.py", "a", "-b"), ("./train.py",), ("-m", "train", "x")], ids=" ".join)
def test_script_modules_and_children_are_as_if_the_files_were_edited(
    arguments: tuple[str, ...], tree: Path, tmp_path: Path
) -> None:
    plain = start(tree, "-B", *arguments, PYTHONDONTWRITEBYTECODE="1")
    before = files_of(tree)
    overlay = overlay_of(tmp_path / "overlay", tree / "train.py", tree / "helper.py", tree / "space" / "inner.py")

    edited = start(tree, *arguments, overlay=overlay)

    assert "spawn original original helper original inner __mp_main__" in plain
    assert edited.replace("edited", "True") == edit(plain)
    assert files_of(tree) == before
    assert unused_files(overlay) == []


@pytest.mark.slow
def test_byte_code_of_the_original_is_neither_read_nor_replaced(tree: Path, tmp_path: Path) -> None:
    start(tree, "train.py")
    before = files_of(tree)
    overlay = overlay_of(tmp_path / "overlay", tree / "helper.py")

    edited = start(tree, "-c", "import helper; print(helper.told())", overlay=overlay)

    assert any(name.endswith(".pyc") for name in before)
    assert (edited, files_of(tree)) == ("EDITED helper\n", before)
    assert start(tree, "-c", "import helper; print(helper.told())") == "original helper\n"


@pytest.mark.slow
def test_a_script_that_is_reached_through_links_is_edited_and_keeps_its_name(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "train.py").symlink_to(tree / "train.py")
    (tmp_path / "bin" / "data.txt").symlink_to(tree / "data.txt")
    overlay = overlay_of(tmp_path / "overlay", tree / "train.py")

    plain = start(tmp_path, "-B", "bin/train.py", PYTHONDONTWRITEBYTECODE="1")
    edited = start(tmp_path, "bin/train.py", overlay=overlay)

    assert edited.splitlines()[1] == plain.splitlines()[1]
    assert edited.startswith("main EDITED original helper original inner __main__\n")


@pytest.mark.slow
def test_an_uncaught_exception_and_the_exit_code_are_the_programs(tmp_path: Path) -> None:
    (tmp_path / "fail.py").write_text("import sys\nif sys.argv[1:]: sys.exit(3)\nraise KeyError('original')\n")
    overlay = overlay_of(tmp_path / "overlay", tmp_path / "fail.py")
    environment = {"PYTHONPATH": START_UP, "TENURE_OVERLAY": str(overlay)}

    failed = start(tmp_path, "fail.py", overlay=overlay)
    left = subprocess.run([sys.executable, "fail.py", "x"], cwd=tmp_path, env=os.environ | environment)

    assert failed.endswith("KeyError: 'EDITED'\n")
    assert f'File "{tmp_path / "fail.py"}", line 3, in <module>' in failed
    assert left.returncode == 3


@pytest.mark.slow
def test_nothing_but_the_standard_library_is_loaded_before_the_program(tmp_path: Path) -> None:
    (tmp_path / "tell.py").write_text("import sys; print(*sys.modules)")
    overlay = overlay_of(tmp_path / "overlay", tmp_path / "tell.py")

    loaded = {name.partition(".")[0] for name in start(tmp_path, "tell.py", overlay=overlay).split()}
    plain = {name.partition(".")[0] for name in start(tmp_path, "tell.py").split()}

    assert loaded - plain - sys.stdlib_module_names == {"sitecustomize", "_tenure_overlay"}


@pytest.mark.slow
def test_a_file_that_nobody_loads_is_told(tree: Path, tmp_path: Path) -> None:
    overlay = overlay_of(tmp_path / "overlay", tree / "helper.py", tree / "train.py")

    start(tree, "-m", "helper", overlay=overlay)

    assert unused_files(overlay) == [str(tree / "train.py")]


@pytest.mark.slow
def test_an_overlay_that_cannot_be_read_is_one_line_and_the_program_runs(tmp_path: Path) -> None:
    told = start(tmp_path, "-c", "print('ran')", overlay=tmp_path / "lost")

    assert told.startswith("ran\ntenure: the patch is not in force in this process: FileNotFoundError")
    assert told.count("\n") == 2


def patch_of(folder: Path, name: str, before: bytes, after: bytes, package: Package | None = None) -> Path:
    patch = folder / "fix.patch"
    patch.write_bytes(write_patch({name: (before, after)}, packages={name: package} if package else None))
    return patch


def test_a_patch_gives_the_texts_of_the_files_here(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    helper = (tree / "helper.py").read_bytes()
    patch = patch_of(tree, "helper.py", helper, edit(helper.decode()).encode())

    assert read_patched_texts(patch) == {tree / "helper.py": edit(helper.decode()).encode()}


def test_a_patch_for_something_else_is_refused_in_one_line(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    with zipfile.ZipFile("lib.zip", "w") as archive:
        archive.writestr("inside.py", "a\n")
    Path("notes.txt").write_text("a\n")
    Path("x.py").write_text("a\n")
    expected = {
        ("lost.py", b"a\n", b"b\n", None): "fix.patch changes lost.py, which is not here",
        ("lib.zip/inside.py", b"a\n", b"b\n", None): "which lies in the archive lib.zip; unpack it",
        ("notes.txt", b"a\n", b"b\n", None): "fix.patch changes notes.txt, which is no Python source",
        ("x.py", b"a\n", b"if b\n", None): "fix.patch makes x.py something that is no Python",
        ("x.py", b"c\n", b"b\n", None): "fix.patch does not fit x.py: line 1 has 'a' where the patch expects 'c'",
        ("y.py", b"a\n", b"b\n", Package("no-such-package", "1.0")): "no-such-package 1.0, which is not installed here",
        (
            "pytest/__init__.py",
            b"a\n",
            b"b\n",
            Package("pytest", "0.1"),
        ): "changes pytest/__init__.py of pytest 0.1, but",
    }

    told = {}
    for case in expected:
        with pytest.raises(PatchError) as refused:
            read_patched_texts(patch_of(tree, *case).relative_to(tree))
        told[case] = str(refused.value)

    assert {case: message for case, message in told.items() if expected[case] not in message or "\n" in message} == {}


@pytest.mark.slow
def test_an_installed_package_is_edited_by_its_name_and_version(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    record = tree / "space-1.2.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: space\nVersion: 1.2\n")
    monkeypatch.syspath_prepend(str(tree))
    before = (tree / "space" / "inner.py").read_bytes()
    patch = patch_of(tree, "space/inner.py", before, edit(before.decode()).encode(), Package("space", "1.2"))

    texts = read_patched_texts(patch)
    write_overlay(tree / "overlay", texts)

    told = start(tree, "-c", "import space.inner; print(space.inner.told())", overlay=tree / "overlay")
    assert told == "EDITED inner\n"


COMMAND = textwrap.dedent("""
    import torch
    def told(): return "original"
    @torch.jit.script
    def scripted(x: torch.Tensor) -> str:
        return "original"
    print(told(), scripted(torch.ones(1)))
""")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_run_with_a_patch_edits_what_a_shell_script_starts_and_says_what_was_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COMMAND)
    (tmp_path / "other.py").write_text("original = 1\n")
    (tmp_path / "run.sh").write_text(f"{sys.executable} train.py\n")
    texts = {name: (tmp_path / name).read_text() for name in ("train.py", "other.py")}
    pairs = {name: (text.encode(), edit(text).encode()) for name, text in texts.items()}
    (tmp_path / "fix.patch").write_bytes(write_patch(pairs))
    own = (sys.executable, "-W", "ignore", "-m", "tenure", "run", "--with", "fix.patch", "-o", "out", "--no-diagnose")

    done = subprocess.run([*own, "--", "sh", "run.sh"], cwd=tmp_path, capture_output=True, text=True, timeout=120)

    assert (done.returncode, done.stdout) == (0, "EDITED EDITED\n")
    assert "tenure: fix.patch changes other.py, which this run did not load\n" in done.stderr
    assert {name: (tmp_path / name).read_text() for name in texts} == texts


def test_run_refuses_a_patch_while_everything_is_switched_off(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("a\n")
    patch_of(tmp_path, "x.py", b"a\n", b"b\n")

    done = subprocess.run(
        [sys.executable, "-m", "tenure", "run", "--with", "fix.patch", "x.py"],
        cwd=tmp_path,
        env=os.environ | {"TENURE": "0"},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 2
    assert done.stderr == "tenure: TENURE=0 switches everything off, the patch as well; unset it or leave out --with\n"
