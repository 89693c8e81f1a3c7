"""Whatever a program writes to the user's files lands in their mirror; no program of torch is needed to see it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.fixing.guard import find_library, find_roots, guard_environment, project_of, read_refused
from tenure.fixing.mirror import LARGEST_COPY, Mirror, make_guarded_mirror

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the guard is a library of Linux")

LARGE = LARGEST_COPY + 1


def make_project(tmp_path: Path) -> Path:
    """A project with large files, a folder beside the working folder, and links within it and out of it."""
    project = tmp_path / "project"
    for folder in ("work/data", "beside/deep", ".git", "work/.venv/lib"):
        (project / folder).mkdir(parents=True)
    for name in ("work/ckpt.pt", "work/data/large.bin", "beside/deep/large.bin", "elsewhere.bin"):
        with (project.parent / name if name == "elsewhere.bin" else project / name).open("wb") as file:
            file.write(b"mine")
            file.truncate(LARGE)
    (project / "work" / "train.py").write_text("mine")
    (project / "work" / ".venv" / "lib" / "module.py").write_text("mine")
    (project / "work" / "linked.bin").symlink_to(project.parent / "elsewhere.bin")
    (project / "work" / "inner").symlink_to("data")
    return project


def tell(folder: Path) -> dict[str, object]:
    """All that lies below a folder, links as links."""
    return {
        str(path.relative_to(folder)): path.readlink() if path.is_symlink() else (path.stat().st_size, _first(path))
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def _first(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(8)


def run(tmp_path: Path, project: Path, *command: str, **environment: str) -> tuple[Mirror, str]:
    """The mirror after a command that ran in the working folder, and what it printed."""
    scratch, here = tmp_path / "scratch", project / "work"
    scratch.mkdir(exist_ok=True)
    library = find_library()
    assert library is not None, "the guard is not built: python setup.py build_ext --inplace"
    mirror = make_guarded_mirror(here, scratch / "work", find_roots(here, command), scratch)
    own = os.environ | environment | {"PROJECT": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    own |= guard_environment(library, scratch, find_roots(here, command), own)
    done = subprocess.run(command, cwd=mirror.folder, env=own, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return mirror, done.stdout


def run_python(tmp_path: Path, project: Path, program: str, **environment: str) -> tuple[Mirror, str]:
    said = f"import os, shutil\nfrom pathlib import Path\nPROJECT = Path(os.environ['PROJECT'])\n{program}"
    return run(tmp_path, project, sys.executable, "-c", said, **environment)


@pytest.mark.parametrize(
    ("program", "written"),
    [
        ("open('ckpt.pt', 'wb').write(b'new')", {"ckpt.pt": b"new"}),
        ("open('ckpt.pt', 'r+b').write(b'new!')", {"ckpt.pt": b"new!\0\0\0\0"}),
        ("open('ckpt.pt', 'ab').write(b'new!')", {"ckpt.pt": b"mine\0\0\0\0"}),
        ("os.truncate('ckpt.pt', 2)", {"ckpt.pt": b"mi"}),
        ("os.rename('ckpt.pt', 'old.pt'); open('old.pt', 'w').write('new')", {"old.pt": b"new"}),
        ("open('t', 'w').write('new'); os.replace('t', 'ckpt.pt')", {"ckpt.pt": b"new"}),
        ("os.link('ckpt.pt', 'b.pt'); open('b.pt', 'w').write('new')", {"ckpt.pt": b"new", "b.pt": b"new"}),
        ("os.symlink(PROJECT / 'work' / 'ckpt.pt', 'l'); open('l', 'w').write('new')", {"ckpt.pt": b"new"}),
        ("open('linked.bin', 'w').write('new')", {"linked.bin": b"new"}),
        ("open('inner/large.bin', 'w').write('new')", {"data/large.bin": b"new"}),
        ("open('.venv/lib/module.py', 'w').write('new')", {".venv/lib/module.py": b"new"}),
        ("os.chdir('data'); open('../ckpt.pt', 'w').write('new')", {"ckpt.pt": b"new"}),
        ("(PROJECT / 'work' / 'ckpt.pt').write_text('new')", {"ckpt.pt": b"new"}),
        ("(PROJECT / 'work' / 'train.py').write_text('new')", {"train.py": b"new"}),
        ("(PROJECT / 'beside/deep/large.bin').write_text('new')", {"/beside/deep/large.bin": b"new"}),
        ("open('../beside/deep/large.bin', 'w').write('new')", {"/beside/deep/large.bin": b"new"}),
        ("(PROJECT / 'out').mkdir(); (PROJECT / 'out' / 'a').write_text('new')", {"/out/a": b"new"}),
        ("shutil.rmtree(PROJECT / 'beside'); os.unlink(PROJECT / 'work' / 'ckpt.pt')", {}),
        ("os.chmod('ckpt.pt', 0o600); os.utime(PROJECT / 'beside/deep/large.bin')", {
            "ckpt.pt": b"mine\0\0\0\0", "/beside/deep/large.bin": b"mine\0\0\0\0"}),
        ("os.system('echo new >ckpt.pt; dd if=/dev/zero of=$PROJECT/work/data/large.bin bs=2 count=1 2>/dev/null')", {
            "ckpt.pt": b"new\n", "data/large.bin": b"\0\0"}),
        ("import subprocess; subprocess.run(['/bin/sh', '-c', 'echo new >ckpt.pt'], env={})", {"ckpt.pt": b"new\n"}),
        ("import sqlite3; sqlite3.connect(PROJECT / 'a.db').execute('create table a (b)')", {"/a.db": b"SQLite f"}),
    ],
)  # fmt: skip
def test_what_a_program_writes_lands_in_the_mirror_and_the_files_stay(
    program: str, written: dict[str, bytes], tmp_path: Path
) -> None:
    project = make_project(tmp_path)
    before = tell(tmp_path)

    mirror, _ = run_python(tmp_path, project, program)

    shown = {name.replace(str(project), ""): _first(path) for name, path in mirror.written().items()}
    assert shown == written
    assert {name: told for name, told in tell(tmp_path).items() if not name.startswith("scratch")} == before
    assert (mirror.changed_originals(), read_refused(tmp_path / "scratch")) == ([], ())


def test_a_folder_that_is_called_by_a_link_is_guarded_as_well(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (tmp_path / "alias").symlink_to(project)
    program = "(Path(os.environ['ALIAS']) / 'beside/deep/large.bin').write_text('new')"

    mirror, _ = run_python(tmp_path, project, program, ALIAS=str(tmp_path / "alias"))

    assert list(mirror.written()) == [f"{project}/beside/deep/large.bin"]
    assert (project / "beside/deep/large.bin").stat().st_size == LARGE


def test_a_program_sees_its_own_folder_and_files_and_what_it_has_written(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    program = """
here = PROJECT / "work"
(here / "new.txt").write_text("written")
shutil.copy2(here / "new.txt", "second.txt")
print(os.getcwd() == str(here), Path("ckpt.pt").resolve(strict=True) == here / "ckpt.pt", (here / "new.txt").exists())
print(os.path.islink("ckpt.pt"), os.lstat("ckpt.pt").st_size, (PROJECT / "beside").is_symlink(), Path("second.txt").read_text())
print(sorted((each.name, each.is_file(follow_symlinks=False)) for each in os.scandir(here)))
"""  # noqa: E501

    _, told = run_python(tmp_path, project, program)

    assert told.splitlines() == [
        "True True True",
        f"False {LARGE} False written",
        "[('.venv', False), ('ckpt.pt', True), ('data', False), ('inner', False), ('linked.bin', True), "
        "('new.txt', True), ('second.txt', True), ('train.py', True)]",
    ]


def test_where_packages_are_installed_nothing_is_written_and_that_is_told(tmp_path: Path) -> None:
    packages = Path(pytest.__file__).parent
    program = f"""
os.makedirs({str(packages)!r}, exist_ok=True)
try:
    open({str(packages / "mine.txt")!r}, "w")
except OSError as error:
    print(error.strerror)
"""

    _, told = run_python(tmp_path, make_project(tmp_path), program)

    assert told == "Read-only file system\n"
    assert not (packages / "mine.txt").exists()
    assert read_refused(tmp_path / "scratch") == (f"{packages / 'mine.txt'}: Read-only file system",)
    assert read_refused(tmp_path / "scratch") == ()


def test_what_cannot_be_copied_is_refused_and_told(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({LARGE // 2}, {LARGE // 2}))
try:
    open("ckpt.pt", "r+b")
except OSError as error:
    print(error.strerror)
"""

    mirror, told = run_python(tmp_path, project, program)

    assert (told, list(mirror.written())) == ("File too large\n", [])
    assert (project / "work" / "ckpt.pt").stat().st_size == LARGE
    assert read_refused(tmp_path / "scratch") == (f"{project}/work/ckpt.pt: File too large",)


def test_the_projects_of_the_folder_and_of_the_program_are_guarded(tmp_path: Path) -> None:
    project, plain = make_project(tmp_path), tmp_path / "plain"
    plain.mkdir()
    script = str(project / "work" / "train.py")

    assert (project_of(project / "beside" / "deep"), project_of(plain)) == (project, plain)
    assert find_roots(plain, ("python", script)) == (plain, project)
    assert find_roots(project / "work", ("python", script)) == (project,)
    assert find_roots(tmp_path, ("python", script)) == (tmp_path,)


def test_a_scratch_folder_within_the_guarded_one_is_no_part_of_its_mirror(tmp_path: Path) -> None:
    (tmp_path / "project" / "work").mkdir(parents=True)
    (tmp_path / "project" / "work" / "a.txt").write_text("mine")
    here, scratch = tmp_path / "project" / "work", tmp_path / "project" / "work" / "scratch"
    scratch.mkdir()

    mirror = make_guarded_mirror(here, scratch / "work", (here,), scratch)

    assert sorted(path.name for path in mirror.folder.iterdir()) == ["a.txt"]
