from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import zipapp
from pathlib import Path

import pytest

from tenure.capture.system.ranks import Place
from tenure.cli.program import Program, find_program
from tenure.cli.run import prepare_folder, run_command
from tenure.errors import UsageError
from tenure.store.recording_file import list_recordings, open_recording

ALONE = Place(rank=None, local_rank=None, world_size=None, node="here", restart=None)
TRAINING = """
import os, sys, torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(steps=2):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
"""

# A job in the background is started with SIGINT ignored.
INTERRUPT = "import signal as s; s.signal(s.SIGINT, s.default_int_handler); os.kill(os.getpid(), s.SIGINT)"


def run(folder: Path, *arguments: str, typed: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        arguments,
        cwd=folder,
        input=typed,
        capture_output=True,
        timeout=120,
        env=os.environ | {"PYTHONWARNINGS": "", "CUDA_VISIBLE_DEVICES": ""} | environment,
    )


def tenure_run(
    folder: Path, *arguments: str, typed: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Without diagnosis, as these tests are about the program."""
    own = ("-m", "tenure", "run", "-o", "out", "--census-at", "1", "--no-diagnose")
    return run(folder, sys.executable, *own, *arguments, typed=typed, **environment)


def write(folder: Path, text: str, name: str = "program.py") -> str:
    (folder / name).write_text(textwrap.dedent(text))
    return name


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--budget", "1", "train.py", "-o", "x", "--json"], ("script", ("train.py", "-o", "x", "--json"))),
        (["-o", "out", "-m", "pkg.train", "--stop-after"], ("module", ("pkg.train", "--stop-after"))),
        (["--no-diagnose", "--", "sh", "-m", "x"], ("command", ("sh", "-m", "x"))),
        (["train.py", "--", "-m", "x"], ("script", ("train.py", "--", "-m", "x"))),
        (["-oout", "--budget=2", "train.py"], ("script", ("train.py",))),
        (["-oout", "-c", "print(1)", "-o"], ("code", ("print(1)", "-o"))),
        (["-oout", "-", "-m"], ("script", ("-", "-m"))),
        ([], ("script", ())),
    ],
)
def test_all_after_the_program_is_the_programs(arguments: list[str], expected: tuple[str, tuple[str, ...]]) -> None:
    context = run_command.make_context("run", list(arguments))

    assert context.meta["tenure.program"] == expected


@pytest.mark.parametrize(
    ("program", "typed"),
    [
        (Program("script", ("train.py", "--name", "a b", "$HOME")), "train.py --name 'a b' '$HOME'"),
        (Program("module", ("pkg.train", "-x")), "-m pkg.train -x"),
        (Program("command", ("sh", "-c", "python train.py")), "-- sh -c 'python train.py'"),
        (Program("code", ("import torch",)), ""),
        (Program("script", ("-",)), ""),
        (Program("script", ("train.py", "--hf-token", "abc")), ""),
    ],
)
def test_a_program_is_told_as_a_shell_takes_it_and_secrets_are_not(program: Program, typed: str) -> None:
    assert program.typed == typed


def test_a_program_is_started_as_its_user_would_start_it() -> None:
    commands = [Program(kind, ("a.b", "-x")).command for kind in ("script", "module", "code", "command")]

    own = sys.executable
    assert commands == [[own, "a.b", "-x"], [own, "-m", "a.b", "-x"], [own, "-c", "a.b", "-x"], ["a.b", "-x"]]


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("script", (), "which program?"),
        ("script", ("tarin.py",), "tarin.py: no such file; there is other.py, train.py"),
        ("script", ("sh",), "start it with `tenure run -- sh ...`"),
        ("script", ("lost/train.py",), "nor a folder lost"),
        ("script", ("run.sh", "--x"), "start it with `tenure run -- sh run.sh --x`"),
        ("command", ("no-such-command",), "no-such-command: no such command"),
    ],
)
def test_a_program_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("train.py", "other.py", "run.sh"):
        Path(name).touch()

    with pytest.raises(UsageError) as refused:
        find_program(kind, arguments)

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep")
    (tmp_path / "file").write_text("keep")
    program = Program("script", ("train.py",))

    for name, message in (("full", "is not empty"), ("file", "is a file"), ("file/below", "cannot write to")):
        with pytest.raises(UsageError, match=message):
            prepare_folder(str(tmp_path / name), program, ALONE)
    assert prepare_folder(str(tmp_path / "new"), program, ALONE) == tmp_path / "new"


def test_a_script_that_never_imports_torch_runs_untouched_and_is_said_so(tmp_path: Path) -> None:
    program = write(tmp_path, "import sys; print(sys.argv, __name__, sys.path[0] != ''); sys.exit(3)")

    plain = run(tmp_path, sys.executable, program, "--a", "-o")
    watched = tenure_run(tmp_path, program, "--a", "-o")

    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout) == (3, plain.stdout)
    assert watched.stderr == b"tenure: nothing recorded of program.py: it never imported torch\n"
    assert not (tmp_path / "out").exists()


def test_a_syntax_error_is_pythons_to_report(tmp_path: Path) -> None:
    program = write(tmp_path, "if True print(1)")

    plain = run(tmp_path, sys.executable, program)
    watched = tenure_run(tmp_path, program)

    assert watched.returncode == 2
    assert watched.stderr.startswith(plain.stderr)
    assert b"tenure: program.py has a syntax error" in watched.stderr


TELL = (
    b"import sys; print(sys.argv, __name__, globals().get('__file__'), sys.flags.interactive, sys.path[0]); sys.exit(3)"
)


@pytest.mark.parametrize(
    ("own", "pythons"),
    [
        (["-c", TELL.decode(), "-o", "x"], ["-c", TELL.decode(), "-o", "x"]),
        (["-", "-m", "x"], ["-", "-m", "x"]),
        (["--", sys.executable, "-i", "-q", "-c", "x = 3"], ["-i", "-q", "-c", "x = 3"]),
        (["app.zip", "a"], ["app.zip", "a"]),
        (["package", "a"], ["package", "a"]),
        (["outer.py", "a"], ["outer.py", "a"]),
    ],
    ids=["code", "stdin", "interactive", "zip", "folder", "exec"],
)
def test_every_way_to_hand_python_a_program_is_pythons_way(own: list[str], pythons: list[str], tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    write(tmp_path, TELL.decode(), "package/__main__.py")
    zipapp.create_archive(tmp_path / "package", tmp_path / "app.zip")
    write(tmp_path, "exec(compile(open('package/__main__.py').read(), 'cell 1', 'exec'))", "outer.py")

    plain = run(tmp_path, sys.executable, *pythons, typed=TELL)
    watched = tenure_run(tmp_path, *own, typed=TELL)

    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout)
    assert (plain.returncode, plain.stdout[:1]) == (3, b"[")
    assert watched.stderr.startswith(plain.stderr)
    assert watched.stderr[len(plain.stderr) :].endswith(b": it never imported torch\n")


def test_a_zip_application_that_fails_has_no_syntax_error(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    write(tmp_path, "raise SystemExit(1)", "package/__main__.py")
    zipapp.create_archive(tmp_path / "package", tmp_path / "app.zip")

    assert tenure_run(tmp_path, "app.zip").stderr == b"tenure: nothing recorded of app.zip: it never imported torch\n"


def test_the_users_own_sitecustomize_runs_and_the_path_is_theirs(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    write(tmp_path, "print('their sitecustomize')", "theirs/sitecustomize.py")
    program = write(tmp_path, "import sys, sitecustomize; print(sys.path, sitecustomize.__file__)")
    theirs = str(tmp_path / "theirs")

    plain = run(tmp_path, sys.executable, program, PYTHONPATH=theirs)
    watched = tenure_run(tmp_path, program, PYTHONPATH=theirs)

    # Once in the launcher, which is a Python program itself, and once in the program.
    assert watched.stdout == b"their sitecustomize\n" + plain.stdout
    assert plain.stdout.startswith(b"their sitecustomize\n")


def test_nothing_is_imported_before_the_program_but_the_hook_itself(tmp_path: Path) -> None:
    program = write(tmp_path, "import sys; print(*sys.modules)")

    plain = set(run(tmp_path, sys.executable, program).stdout.split())
    watched = set(tenure_run(tmp_path, program).stdout.split())

    assert watched - plain <= {b"sitecustomize", b"__future__"}


def test_a_signal_ends_launcher_and_program_alike(tmp_path: Path) -> None:
    program = write(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")

    assert tenure_run(tmp_path, program).returncode == -signal.SIGTERM


def test_signals_to_the_launcher_reach_the_program(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        """
        import os, signal, sys
        signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))
        os.kill(os.getppid(), signal.SIGUSR1)
        signal.pause()
        """,
    )

    assert tenure_run(tmp_path, program).returncode == 7


@pytest.mark.slow
def test_output_exit_code_and_traceback_are_the_programs_own(tmp_path: Path) -> None:
    program = write(tmp_path, TRAINING + "train(); print(model.weight.sum().item().hex()); 1 / 0")

    plain = run(tmp_path, sys.executable, program)
    watched = tenure_run(tmp_path, program)

    assert (watched.returncode, watched.stdout, watched.stderr) == (1, plain.stdout, plain.stderr)
    opened = open_recording(tmp_path / "out")
    assert len(opened.steps) == 2
    assert opened.end is not None
    assert (opened.end["reason"], opened.end["exit_code"]) == ("exception", 1)
    assert [entry.step for entry in opened.censuses] == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "code", "reason"),
    [
        ("sys.exit(3)", 3, "exit"),
        ("os._exit(4)", 4, None),
        (INTERRUPT, -signal.SIGINT, "exception"),
    ],
)
def test_each_way_to_end_keeps_its_code_and_what_was_recorded(
    tmp_path: Path, ending: str, code: int, reason: str | None
) -> None:
    watched = tenure_run(tmp_path, write(tmp_path, TRAINING + "train(); " + ending))

    opened = open_recording(tmp_path / "out")
    assert watched.returncode == code
    assert opened.steps
    assert (opened.end["reason"] if opened.end else None) == reason


@pytest.mark.slow
def test_python_below_a_shell_is_recorded_per_process(tmp_path: Path) -> None:
    write(tmp_path, TRAINING + "train()", "train.py")
    write(tmp_path, f"{sys.executable} train.py\nRANK=1 {sys.executable} train.py\nexit 5\n", "run.sh")

    watched = tenure_run(tmp_path, "--", "sh", "run.sh")

    names = [Path(path).name.rstrip("0123456789") for path in list_recordings(tmp_path / "out")]
    assert (watched.returncode, names) == (5, ["process-", "rank-"])


@pytest.mark.slow
def test_stop_after_ends_a_module_politely_with_workers_and_forks_about(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    write(tmp_path, "", "pkg/__init__.py")
    body = """
    data = torch.utils.data.DataLoader(torch.ones(8, 3), batch_size=2, num_workers=2)
    import atexit
    atexit.register(print, "their exit")
    for epoch in range(9):
        for batch in data:
            train(1)
    """
    write(tmp_path, TRAINING + textwrap.dedent(body), "pkg/train.py")

    watched = run(
        tmp_path,
        *(sys.executable, "-m", "tenure", "run", "-o", "out", "--no-diagnose"),
        *("--stop-after", "6", "-m", "pkg.train"),
    )

    opened = open_recording(tmp_path / "out")
    assert (watched.returncode, watched.stdout) == (0, b"their exit\n")
    assert len(opened.steps) == 6
    assert opened.end is not None
    assert opened.end["reason"] == "stopped"
    assert [Path(path).name for path in list_recordings(tmp_path / "out")] == ["out"]


@pytest.mark.slow
def test_settings_made_before_torch_is_imported_are_obeyed(tmp_path: Path) -> None:
    before = "import os; os.environ['OMP_NUM_THREADS'] = '1'"
    program = write(tmp_path, before + TRAINING + "train(); print(torch.get_num_threads())")

    assert tenure_run(tmp_path, program).stdout == b"1\n"


@pytest.mark.slow
def test_the_switch_leaves_nothing_behind(tmp_path: Path) -> None:
    watched = tenure_run(tmp_path, write(tmp_path, TRAINING + "train()"), TENURE="0")

    assert watched.stderr.endswith(b"TENURE=0 switches the recorder off\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_program_of_few_steps_in_a_cell_is_recorded_and_gets_a_report(tmp_path: Path) -> None:
    write(tmp_path, TRAINING + "train(3); print(__name__)", "cell.py")
    program = write(tmp_path, "exec(compile(open('cell.py').read(), 'cell 1', 'exec'))")

    plain = run(tmp_path, sys.executable, program)
    watched = run(tmp_path, sys.executable, "-m", "tenure", "run", "-o", "out", program)

    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout) == (0, b"__main__\n")
    assert watched.stderr.startswith(b"nothing found\n  In 3 steps and ")
    assert len(open_recording(tmp_path / "out").steps) == 3
