"""`tenure fix`: run a program again with the edits that its findings offer, and keep what helps and changes nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenure.capture.system.host import hide_secrets
from tenure.capture.writing.folders import SWITCH_VARIABLE
from tenure.cli.program import CODE, COMMAND, MODULE, STDIN, ProgramCommand, find_program
from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.fixing.batch_settings import BatchSetting
    from tenure.fixing.fix import Proof
    from tenure.fixing.runs import Order
    from tenure.model.fix import Fix

FINDINGS_LEFT = 1


@click.command("fix", cls=ProgramCommand, short_help="Try the edits of a program's findings; prove what they do.")
@click.option("-o", "--output", metavar="FILE", help="Write the patch to FILE (default: print it).")
@click.option("--apply", "applies", is_flag=True, help="Change the files, where edits are kept.")
@click.option("--steps", type=click.IntRange(min=4), metavar="N", help="End each run after N steps.")
@click.option("--timeout", type=click.FloatRange(min=1), metavar="SECONDS", help="End a run that takes longer.")
@click.option("--in-place", is_flag=True, help="Run in the working folder itself, not in a scratch copy of it.")
@click.option("--batch-arg", metavar="OPTION", help="The program's option, or constant, for its batch size.")
@click.option("--memory", metavar="BYTES", help="Search the largest batch within so much tensor memory, as 8GiB.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON instead of the table.")
@click.pass_context
def fix_command(ctx: click.Context, /, **asked: Any) -> int:
    """Run a program unchanged and edited, and keep the edits that give memory back and change nothing else.

    The program runs several times, each time with the same seeds, in a scratch folder; your files stay as they are
    unless --apply is given. `tenure run --with FILE` runs a program under the patch.
    """
    from tenure.fixing.fix import fix
    from tenure.fixing.runs import Order, Runner

    if os.environ.get(SWITCH_VARIABLE) == "0":
        raise UsageError("TENURE=0 switches everything off; unset it")
    program = find_program(*ctx.meta["tenure.program"])
    if program.kind == CODE or program.arguments[0] == STDIN:
        raise UsageError("code without a file cannot be fixed; write it to a file first")
    here = Path.cwd()
    command = tuple(program.command) if asked["in_place"] else from_scratch(program.command, here)
    _check_output(asked["output"])
    _check_guard(asked["in_place"])
    memory = _read_memory(asked["memory"])
    batch = _find_batch(command, here, asked["batch_arg"], memory)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    scratch = Path(tempfile.mkdtemp(prefix="tenure-fix-")).resolve()
    try:
        order = Order(command, here, scratch, asked["in_place"], asked["steps"], asked["timeout"])
        before = {MODULE: ["-m"], COMMAND: ["--"]}.get(program.kind, [])
        name = shlex.join([*before, *hide_secrets(program.arguments)])
        _say_plan(name, asked["steps"], batch if memory is not None else None)
        proof = fix(Runner(order), program=name, say=_say)
        return _tell(proof, order, batch, memory, asked)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _tell(proof: Proof, order: Order, batch: BatchSetting | None, memory: int | None, asked: dict[str, Any]) -> int:
    """Print what is proved, and what it gains; the exit code. The patch is handed over before anything is searched."""
    from tenure.fixing.batches import BatchSearch, with_largest, with_samples

    told = proof.fix if batch is None else with_samples(proof.fix, batch)
    if batch is None or memory is None or not proof.texts:
        _print(told, asked)
        _hand_over(proof, asked)
        return _exit_code(told)
    try:
        _hand_over(proof, asked)
        told = with_largest(proof.fix, order, BatchSearch(batch, memory), proof.texts, _say)
    except (KeyboardInterrupt, SystemExit):
        _say("the search for the largest batch was interrupted; what is proved, and the patch, stand without it")
        raise
    finally:
        _print(told, asked)
        sys.stdout.flush()
    return _exit_code(told)


def _print(told: Fix, asked: dict[str, Any]) -> None:
    from tenure.report.fix import fix_as_json, write_fix

    if asked["as_json"]:
        click.echo(fix_as_json(told), nl=False)
    else:
        write_fix(told, sys.stdout)


def _exit_code(told: Fix) -> int:
    left = told.after.findings if told.after is not None else told.before.findings
    return FINDINGS_LEFT if left else 0


def _say(text: str) -> None:
    click.echo(f"tenure: {text}", err=True)


def _say_plan(name: str, steps: int | None, searched: BatchSetting | None) -> None:
    from tenure.fixing import batches
    from tenure.fixing.fix import MOST_RUNS

    until = f"{steps} steps each" if steps else "each to the program's own end; --steps N bounds them"
    _say(f"{name} runs as it is: once where its findings offer no edit, else 3 to {MOST_RUNS} times ({until})")
    if searched is not None:
        size = "" if searched.size is None else f" {searched.size}"
        more = f"where edits are kept at most {batches.MOST_RUNS} more runs say the largest"
        _say(f"batch size{size} from {searched.said}; {more}")


def _check_output(output: str | None) -> None:
    """A name that cannot be written must not cost the runs."""
    if output is not None and not os.access(Path(output).absolute().parent, os.W_OK):
        raise UsageError(f"cannot write {output}; name another file with -o")


def _check_guard(in_place: bool) -> None:
    """Without the guard a program would write to the user's files: that is for them to say."""
    from tenure.fixing.guard import find_library

    if not in_place and find_library() is None:
        raise UsageError(
            "what the program writes cannot be kept away from your files here: that takes Linux, and a C compiler when "
            "Tenure is installed; copy the folder and run there with --in-place"
        )


def _read_memory(memory: str | None) -> int | None:
    from tenure.model.units import parse_memory

    try:
        return None if memory is None else parse_memory(memory)
    except ValueError as error:
        raise UsageError(f"--memory {memory}: {error}") from error


def _find_batch(command: Sequence[str], here: Path, wanted: str | None, memory: int | None) -> BatchSetting | None:
    """Where the program's batch is set; None where it was not asked for and cannot be told."""
    from tenure.fixing.batch_settings import recognise_batch

    try:
        found = recognise_batch(command, here, wanted)
    except UsageError:
        if wanted is None and memory is None:
            return None
        raise
    if wanted is not None and memory is None and found.size is None:
        raise UsageError(f"the size of {wanted} is not known; give it to the program, or --memory 8GiB to search one")
    return found


def from_scratch(command: Sequence[str], here: Path) -> tuple[str, ...]:
    """The command as it reads from another folder: files outside of this one get their whole paths."""
    return tuple(_absolute_outside(argument, here) for argument in command)


def _absolute_outside(argument: str, here: Path) -> str:
    outside = (
        argument.startswith("..") and Path(argument).exists() and not Path(argument).resolve().is_relative_to(here)
    )
    return str(Path(argument).resolve()) if outside else argument


def _hand_over(proof: Proof, asked: dict[str, Any]) -> None:
    from tenure.fixing.apply import apply_texts

    if not proof.fix.patch:
        return
    if asked["output"] is not None:
        Path(asked["output"]).write_bytes(proof.fix.patch.encode("utf-8", "surrogateescape"))
        _say(f"wrote {asked['output']}; `tenure run --with {asked['output']} ...` runs under it")
    elif not asked["as_json"] and not asked["applies"]:
        click.echo(proof.fix.patch, nl=False)
        sys.stdout.flush()
    if asked["applies"]:
        for path in apply_texts(proof.texts):
            _say(f"changed {path}")
