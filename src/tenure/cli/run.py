"""`tenure run`: start a program as Python would, watch it, and say afterwards what keeps its memory alive."""

from __future__ import annotations

import ast
import os
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenure.capture.start_up import make_environment
from tenure.cli.launch import run_child
from tenure.cli.patched import under_patch
from tenure.errors import RecordingError, TenureError, UsageError
from tenure.store.format import FINDINGS_FILE, PROCESS_FILE, TORCH_SEEN_FILE
from tenure.store.new_folder import check_free, name_recording

if TYPE_CHECKING:
    from tenure.cli.diagnose import Baseline

SCRIPT, MODULE, CODE, COMMAND = "script", "module", "code", "command"
_BEFORE = {"-m": MODULE, "-c": CODE, "--": COMMAND}
STDIN = "-"


@dataclass(frozen=True)
class Program:
    """What to start: a script, module or code for this Python, or any command; `name` is short, for a folder's name."""

    kind: str
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        """`train` of train.py, `pkg.train` of -m pkg.train, `run` of ./run.sh, `python` of code that has no name."""
        if self.kind == CODE or self.arguments[0] == STDIN:
            return "python"
        return self.arguments[0] if self.kind == MODULE else Path(self.arguments[0]).stem

    @property
    def command(self) -> list[str]:
        """The command line as the operating system gets it."""
        own = [sys.executable]
        before = {SCRIPT: own, MODULE: [*own, "-m"], CODE: [*own, "-c"], COMMAND: []}[self.kind]
        return before + list(self.arguments)


class ProgramCommand(click.Command):
    """A command whose options end where the program begins: `train.py`, `-m module`, `-c code` or `-- command`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split off the program untouched, so that none of its options is taken for ours."""
        split, kind = self._find_program(args)
        ctx.meta["tenure.program"] = (kind, tuple(args[split:]))
        own = args[:split] if kind == SCRIPT else args[: split - 1]
        return super().parse_args(ctx, own)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The three ways to name a program."""
        return ["[OPTIONS]", "train.py ARGS | -m module ARGS | -- ANY COMMAND"]

    def _find_program(self, args: list[str]) -> tuple[int, str]:
        with_value = {name for option in self.params if not getattr(option, "is_flag", False) for name in option.opts}
        position = 0
        while position < len(args):
            argument = args[position]
            if argument in _BEFORE:
                return position + 1, _BEFORE[argument]
            if not argument.startswith("-") or argument == STDIN:
                return position, SCRIPT
            position += 2 if argument in with_value else 1
        return min(position, len(args)), SCRIPT


class StepList(click.ParamType):  # type: ignore[type-arg]  # generic only in newer clicks
    """Step numbers separated by commas."""

    name = "steps"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """`1,2,5` as (1, 2, 5)."""
        if isinstance(value, tuple):
            return value
        try:
            steps = tuple(sorted({int(part) for part in str(value).split(",")}))
        except ValueError:
            self.fail(f"{value!r} is no list of step numbers such as 1,2,5", param, ctx)
        if steps[0] < 1:
            self.fail("steps are counted from 1", param, ctx)
        return steps


@click.command("run", cls=ProgramCommand, short_help="Run a program; say what keeps its memory alive.")
@click.option("-o", "--output", metavar="DIR", help="Folder for the recording; must be new or empty.")
@click.option("--stop-after", type=click.IntRange(min=1), metavar="N", help="End the program after N steps.")
@click.option(
    "--fail-on",
    type=click.Choice(["certain", "likely", "possible"]),
    help="Exit with 1 when the program succeeded but has findings at least this sure.",
)
@click.option(
    "--budget",
    type=click.FloatRange(min=0, max=100),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Share of the program's time that censuses may take.",
)
@click.option("--census-at", type=StepList(), metavar="STEPS", help="Steps to take a census after, as 1,2,5.")
@click.option(
    "--profile-step",
    type=click.IntRange(min=0),
    metavar="N",
    help="Profile step N and the next; 0 for none. Default: one after warm-up, none with --census-at.",
)
@click.option(
    "--experiment-step",
    type=click.IntRange(min=0),
    metavar="N",
    help="Test findings in a copy of the process as it is after step N; 0 for none. Default: at the end.",
)
@click.option(
    "--with", "patch", metavar="FILE", help="Run under this patch, or a known one (known:ID); no file is changed."
)
@click.option("--no-diagnose", is_flag=True, help="Only record; `tenure diagnose DIR` reports later.")
@click.option("--json", "json_file", metavar="FILE", help="Write the findings to FILE as JSON, too.")
@click.option("--baseline", metavar="FILE", help="Leave out findings that this findings.json has.")
@click.pass_context
def run_command(ctx: click.Context, /, **asked: Any) -> int:
    """Run a program and report what keeps its memory alive.

    The program runs as Python would run it; its exit code is passed on. The report goes to stderr.
    """
    program = find_program(*ctx.meta["tenure.program"])
    known = _read_baseline(asked["baseline"])
    with under_patch(asked["patch"]) as overlay:
        code = _run(program, overlay, asked, known)
    return leave_as(code)


def _run(program: Program, overlay: Path | None, asked: dict[str, Any], known: Baseline | None) -> int:
    folder = prepare_folder(asked["output"], program)
    stop_after, no_diagnose = asked["stop_after"], asked["no_diagnose"]
    options = {
        "stop_after": stop_after,
        "census_at": asked["census_at"],
        "budget": asked["budget"],
        "profile_step": asked["profile_step"],
        "experiment_step": 0 if no_diagnose else asked["experiment_step"],
    }
    try:
        code = run_child(
            program.command,
            environment=make_environment(folder, options, overlay=overlay),
            meanwhile=_do_nothing if no_diagnose else _load_diagnosis,
        )
    except OSError as error:
        _remove_if_empty(folder)
        raise UsageError(f"cannot start {program.arguments[0]}: {error.strerror or error}") from error
    torch_seen = _take_torch_mark(folder)
    if not _has_recording(folder):
        lost = _describe_lost_folder(folder)
        if lost:
            click.echo(f"tenure: {lost}; nothing is left to diagnose", err=True)
            return code
        _remove_if_empty(folder)
        return _say_nothing_recorded(program, code, torch_seen=torch_seen)
    code = _read_polite_stop(folder, code, stop_after)
    _note_end(folder, code)
    found = 0
    if not no_diagnose:
        found = _report(folder, json_file=asked["json_file"], fail_on=asked["fail_on"], known=known)
    return code or found


def find_program(kind: str, arguments: Sequence[str]) -> Program:
    """The program to start; a UsageError that says what is there where it cannot be started."""
    if not arguments:
        raise UsageError("which program? `tenure run train.py`, `tenure run -m module` or `tenure run -- command`")
    name = arguments[0]
    if kind == COMMAND and shutil.which(name) is None:
        raise UsageError(f"{name}: no such command; a Python script is started with `tenure run {name}`")
    if kind == SCRIPT and name != STDIN and not Path(name).exists():
        raise UsageError(_describe_missing_script(name))
    if kind == SCRIPT and Path(name).suffix in (".sh", ".bash"):
        raise UsageError(f"{name} is a shell script; start it with `tenure run -- sh {' '.join(arguments)}`")
    return Program(kind, tuple(arguments))


def prepare_folder(output: str | None, program: Program) -> Path:
    """Make the run's folder; a UsageError where something lies in it or it cannot be written."""
    folder = Path(output) if output is not None else Path(name_recording(program.name))
    check_free(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / TORCH_SEEN_FILE
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror or error}; name another with -o") from error
    return folder.resolve()


def leave_as(code: int) -> int:
    """The exit code to leave with; where a signal ended the program, end by the same signal."""
    if code >= 0:
        return code
    # The program has left its core file already; a second one, of the launcher, would tell nothing.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
    return 128 - code


def _do_nothing() -> None:
    pass


def _load_diagnosis() -> None:
    """What the report needs, NumPy among it, so that nobody waits for it when the program has ended."""
    with suppress(ImportError):  # told when it is needed
        import tenure.diagnose  # noqa: F401


def _describe_missing_script(name: str) -> str:
    if shutil.which(name):
        return f"{name} is a command and no script here; start it with `tenure run -- {name} ...`"
    folder = Path(name).parent
    if not folder.is_dir():
        return f"{name}: no such file, nor a folder {folder}"
    scripts = sorted(path.name for path in folder.glob("*.py"))
    shown = ", ".join(scripts[:5]) + (", ..." if len(scripts) > 5 else "")
    return f"{name}: no such file; {'there is ' + shown if scripts else f'{folder} holds no Python files'}"


def _take_torch_mark(folder: Path) -> bool:
    """Whether torch was imported in the run; the mark goes, wherever the program has left it."""
    with suppress(OSError):
        (folder / TORCH_SEEN_FILE).unlink()
        return True
    return False


def _describe_lost_folder(folder: Path) -> str:
    """What the program did to the folder that was made for its recording; "" where it lies there, still empty."""
    if not folder.is_dir():
        return f"{folder} was {'replaced' if folder.exists() else 'removed'} while the program ran"
    if any(folder.iterdir()):
        return f"{folder} lost its {PROCESS_FILE} while the program ran"
    return ""


def _has_recording(folder: Path) -> bool:
    return (folder / PROCESS_FILE).exists() or any(folder.glob(f"*/{PROCESS_FILE}"))


def _remove_if_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _say_nothing_recorded(program: Program, code: int, *, torch_seen: bool) -> int:
    name = "-c" if program.kind == CODE else program.arguments[0]
    if program.kind == SCRIPT and code == 1 and _has_syntax_error(Path(name)):
        raise UsageError(f"{name} has a syntax error (above), so nothing ran; mend it and run again")
    why = "it never imported torch" if not torch_seen else "no step was seen (no optimizer step, no module call)"
    if os.environ.get("TENURE") == "0":
        why = "TENURE=0 switches the recorder off"
    click.echo(f"tenure: nothing recorded of {name}: {why}", err=True)
    return code


def _has_syntax_error(script: Path) -> bool:
    try:
        text = script.read_bytes()
        if b"\0" in text:  # a zip application
            return False
        ast.parse(text)
    except SyntaxError:
        return True
    except (OSError, ValueError):
        return False
    return False


def _read_polite_stop(folder: Path, code: int, stop_after: int | None) -> int:
    """0 where we ourselves ended the program: from a thread that takes a KeyboardInterrupt in the main one."""
    from tenure.store.recording_file import list_recordings, open_recording

    if stop_after is None or code not in (-signal.SIGINT, 130, 1):
        return code
    for path in list_recordings(folder):
        try:
            end = open_recording(path).end
        except RecordingError:
            continue
        if end is not None and end.get("reason") == "stopped":
            return 0
    return code


def _note_end(folder: Path, code: int) -> None:
    """Add the exit code, which a Python program does not know of itself, to the main process's recording."""
    from tenure.store.recording_file import add_exit_code

    if (folder / PROCESS_FILE).exists():
        with suppress(RecordingError, OSError):
            add_exit_code(folder, code)


def _read_baseline(file: str | None) -> Baseline | None:
    """What is known, read before the program starts: a wrong name must not cost a run."""
    from tenure.cli.diagnose import read_baseline

    return read_baseline(file) if file is not None else None


def _report(folder: Path, *, json_file: str | None, fail_on: str | None, known: Baseline | None) -> int:
    """Diagnose and print to stderr, as stdout is the program's; 1 where `fail_on` is reached."""
    from tenure.cli.diagnose import report_run

    try:
        code = report_run(str(folder), json=False, fail_on=fail_on, stream=sys.stderr, known=known)
        if json_file is not None:
            _write_json(folder, json_file)
    except KeyboardInterrupt:
        click.echo(f"tenure: diagnosis interrupted; `tenure diagnose {folder}` does it again", err=True)
        return 0
    except TenureError as error:
        click.echo(f"tenure: no diagnosis: {error}", err=True)
        return 0
    except Exception:
        # A bug of ours shows, but what the program achieved and its exit code stand.
        traceback.print_exc()
        click.echo(f"tenure: the diagnosis failed; the recording is whole in {folder}", err=True)
        return 0
    return code if fail_on is not None else 0


def _write_json(folder: Path, json_file: str) -> None:
    try:
        with click.open_file(json_file, "w", encoding="utf-8") as file:
            file.write((folder / FINDINGS_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot write {json_file}: {error.strerror or error}") from error
