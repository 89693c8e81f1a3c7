"""`tenure run`: start a program as Python would, watch it, and say afterwards what keeps its memory alive."""

from __future__ import annotations

import ast
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenure.capture.start_up import make_environment
from tenure.capture.system.ranks import Place, find_place
from tenure.capture.writing.folders import BUDGET_VARIABLE, SWITCH_VARIABLE
from tenure.cli.launch import run_child
from tenure.cli.patched import under_patch
from tenure.cli.program import CODE, SCRIPT, Percent, Program, ProgramCommand, RankList, StepList, find_program
from tenure.cli.run_ranks import check_free_for, find_own, name_shared_recording, wait_for_others
from tenure.errors import RecordingError, TenureError, UsageError
from tenure.model.units import format_seconds
from tenure.store.format import FINDINGS_FILE, PROCESS_FILE, name_torch_mark
from tenure.store.new_folder import check_free, name_recording

if TYPE_CHECKING:
    from tenure.cli.diagnose import Baseline


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
    type=Percent(),
    default="1%",
    show_default=True,
    envvar=BUDGET_VARIABLE,
    metavar="PERCENT",
    help="Share of the program's time that the recorder may take. Or TENURE_BUDGET.",
)
@click.option("--census-at", type=StepList(), metavar="STEPS", help="Steps to take a census after, as 1,2,5.")
@click.option(
    "--census-ranks", type=RankList(), metavar="RANKS", help="Ranks to take censuses on, as 0,1 or 0-:8. Default: all."
)
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
    "--allocator-history",
    type=click.IntRange(min=0),
    default=0,
    metavar="ENTRIES",
    help="Have the device's allocator record so many of its last calls with their stacks, 2 µs each. Default: none.",
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
    place = find_place()
    if os.environ.get(SWITCH_VARIABLE) == "0":
        return _run_alone(program)
    folder = prepare_folder(asked["output"], program, place)
    no_diagnose = asked["no_diagnose"] or (place.rank or 0) > 0
    stop_after = asked["stop_after"]
    options = {
        "stop_after": stop_after,
        "census_at": asked["census_at"],
        "budget": asked["budget"],
        "profile_step": asked["profile_step"],
        "experiment_step": 0 if no_diagnose else asked["experiment_step"],
        "census_ranks": asked["census_ranks"],
        "history_entries": asked["allocator_history"],
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
    own = folder if place.rank is None else find_own(folder, place.rank)
    if own is None or not _has_recording(own):
        lost = _describe_lost_folder(folder)
        if lost and place.rank is None:
            click.echo(f"tenure: {lost}; nothing is left to diagnose", err=True)
            return code
        _remove_if_empty(folder)
        return _say_nothing_recorded(program, code, torch_seen=torch_seen)
    _complete_staged(own)
    code = _read_polite_stop(own, code, stop_after)
    _note_end(own, code)
    found = 0
    was_told_to_end = place.has_others and code == -signal.SIGTERM  # torchrun waits to start all ranks again
    if not no_diagnose and not was_told_to_end:
        if place.has_others:
            wait_for_others(folder, place)
        typed = program.typed if place.rank is None else ""
        started = time.monotonic()
        found = _report(folder, asked, known=known, typed=typed)
        _tell_cost(own, time.monotonic() - started)
    return code or found


def _run_alone(program: Program) -> int:
    """With TENURE=0 the program runs as without us."""
    try:
        code = run_child(program.command, environment=os.environ, meanwhile=_do_nothing)
    except OSError as error:
        raise UsageError(f"cannot start {program.arguments[0]}: {error.strerror or error}") from error
    click.echo("tenure: nothing recorded: TENURE=0 switches the recorder off", err=True)
    return code


def prepare_folder(output: str | None, program: Program, place: Place) -> Path:
    """Make the run's folder; a UsageError where something lies in it or it cannot be written.

    Ranks that each have a launcher share one folder.
    """
    if place.rank is None:
        folder = Path(output) if output is not None else Path(name_recording(program.name))
        check_free(folder)
    else:
        folder = Path(output) if output is not None else Path(name_shared_recording(program.name))
        check_free_for(place.rank, folder, place.restart)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / name_torch_mark(os.getpid())
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


def _take_torch_mark(folder: Path) -> bool:
    """Whether torch was imported in the run; the mark goes, wherever the program has left it."""
    with suppress(OSError):
        (folder / name_torch_mark(os.getpid())).unlink()
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


def _complete_staged(folder: Path) -> None:
    """Copy what a program that was killed has left on this machine's disk."""
    from tenure.store.staging import complete_staged

    try:
        complete_staged(folder)
    except OSError as error:
        click.echo(f"tenure: {folder} could not be completed: {error.strerror or error}", err=True)


def _note_end(folder: Path, code: int) -> None:
    """Add the exit code, which a Python program does not know of itself, to the main process's recording."""
    from tenure.store.recording_file import add_exit_code

    if (folder / PROCESS_FILE).exists():
        with suppress(RecordingError, OSError):
            add_exit_code(folder, code, at=time.time())


def _read_baseline(file: str | None) -> Baseline | None:
    """What is known, read before the program starts: a wrong name must not cost a run."""
    from tenure.cli.diagnose import read_baseline

    return read_baseline(file) if file is not None else None


def _report(folder: Path, asked: dict[str, Any], *, known: Baseline | None, typed: str) -> int:
    """Diagnose and print to stderr, as stdout is the program's; 1 where `fail_on` is reached."""
    from tenure.cli.diagnose import report_run

    json_file, fail_on = asked["json_file"], asked["fail_on"]
    try:
        code = report_run(str(folder), json=False, fail_on=fail_on, stream=sys.stderr, known=known, program=typed)
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


def _tell_cost(folder: Path, diagnosis_seconds: float) -> None:
    """What the run took longer for being watched, of the recording's main process; nothing where it could not say."""
    from tenure.store.recording_file import list_recordings, open_recording

    with suppress(RecordingError, OSError, IndexError):
        end = open_recording(list_recordings(folder)[0]).end
        if end is not None and "own_seconds" in end:
            watching, diagnosis = format_seconds(end["own_seconds"]), format_seconds(diagnosis_seconds)
            click.echo(f"tenure: watching took {watching} of the program's time, the diagnosis {diagnosis}", err=True)


def _write_json(folder: Path, json_file: str) -> None:
    try:
        with click.open_file(json_file, "w", encoding="utf-8") as file:
            file.write((folder / FINDINGS_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot write {json_file}: {error.strerror or error}") from error
