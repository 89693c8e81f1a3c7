"""`tenure fix`: run a program again with the edits that its findings offer, and keep what helps and changes nothing."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenure.capture.writing.folders import SWITCH_VARIABLE
from tenure.cli.program import CODE, COMMAND, MODULE, STDIN, ProgramCommand, find_program
from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.fixing.batches import BatchSearch

FINDINGS_LEFT = 1


@click.command("fix", cls=ProgramCommand, short_help="Try the edits of a program's findings; prove what they do.")
@click.option("-o", "--output", metavar="FILE", help="Write the patch to FILE (default: print it).")
@click.option("--apply", "applies", is_flag=True, help="Change the files, where edits are kept.")
@click.option("--steps", type=click.IntRange(min=4), metavar="N", help="End each run after N steps.")
@click.option("--timeout", type=click.FloatRange(min=1), metavar="SECONDS", help="End a run that takes longer.")
@click.option("--in-place", is_flag=True, help="Run in the working folder itself, not in a scratch copy of it.")
@click.option("--batch-arg", metavar="OPTION", help="The program's option for its batch size: search the largest.")
@click.option("--memory", metavar="BYTES", help="The budget of that search, as 8GiB: peak of tensor memory.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON instead of the table.")
@click.pass_context
def fix_command(ctx: click.Context, /, **asked: Any) -> int:
    """Run a program unchanged and edited, and keep the edits that give memory back and change nothing else.

    The program runs several times, each time with the same seeds, in a scratch folder; your files stay as they are
    unless --apply is given. `tenure run --with FILE` runs a program under the patch.
    """
    from tenure.fixing.fix import fix
    from tenure.fixing.runs import Order, Runner
    from tenure.report.fix import fix_as_json, write_fix

    if os.environ.get(SWITCH_VARIABLE) == "0":
        raise UsageError("TENURE=0 switches everything off; unset it")
    program = find_program(*ctx.meta["tenure.program"])
    if program.kind == CODE or program.arguments[0] == STDIN:
        raise UsageError("code without a file cannot be fixed; write it to a file first")
    here = Path.cwd()
    command = tuple(program.command) if asked["in_place"] else from_scratch(program.command, here)
    _check_output(asked["output"])
    batches = _read_search(asked["batch_arg"], asked["memory"])
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    scratch = Path(tempfile.mkdtemp(prefix="tenure-fix-")).resolve()
    try:
        order = Order(command, here, scratch, asked["in_place"], asked["steps"], asked["timeout"])
        before = {MODULE: ["-m"], COMMAND: ["--"]}.get(program.kind, [])
        name = " ".join([*before, *program.arguments])
        _say_plan(name, asked["steps"])
        proof = fix(Runner(order), program=name, say=_say, batches=batches)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if asked["as_json"]:
        click.echo(fix_as_json(proof.fix), nl=False)
    else:
        write_fix(proof.fix, sys.stdout)
    if proof.fix.patch:
        _hand_over(proof.fix.patch, proof.texts, asked)
    left = proof.fix.after.findings if proof.fix.after is not None else proof.fix.before.findings
    return FINDINGS_LEFT if left else 0


def _say(text: str) -> None:
    click.echo(f"tenure: {text}", err=True)


def _say_plan(name: str, steps: int | None) -> None:
    until = f"{steps} steps each" if steps else "each to the program's own end; --steps N bounds them"
    _say(f"{name} runs as it is; where its findings offer edits again, once per edit, and once with all ({until})")


def _check_output(output: str | None) -> None:
    """A name that cannot be written must not cost the runs."""
    if output is not None and not os.access(Path(output).absolute().parent, os.W_OK):
        raise UsageError(f"cannot write {output}; name another file with -o")


def _read_search(option: str | None, memory: str | None) -> BatchSearch | None:
    from tenure.fixing.batches import BatchSearch
    from tenure.model.units import parse_memory

    if (option is None) != (memory is None):
        raise UsageError("the search for the largest batch takes both: --batch-arg --batch-size --memory 8GiB")
    if option is None or memory is None:
        return None
    try:
        return BatchSearch(option, parse_memory(memory))
    except ValueError as error:
        raise UsageError(f"--memory {memory}: {error}") from error


def from_scratch(command: Sequence[str], here: Path) -> tuple[str, ...]:
    """The command as it reads from another folder: files outside of this one get their whole paths."""
    return tuple(_absolute_outside(argument, here) for argument in command)


def _absolute_outside(argument: str, here: Path) -> str:
    outside = (
        argument.startswith("..") and Path(argument).exists() and not Path(argument).resolve().is_relative_to(here)
    )
    return str(Path(argument).resolve()) if outside else argument


def _hand_over(patch: str, texts: dict[Path, tuple[bytes, bytes]], asked: dict[str, Any]) -> None:
    from tenure.fixing.apply import apply_texts

    if asked["output"] is not None:
        Path(asked["output"]).write_bytes(patch.encode("utf-8", "surrogateescape"))
        _say(f"wrote {asked['output']}; `tenure run --with {asked['output']} ...` runs under it")
    elif not asked["as_json"] and not asked["applies"]:
        click.echo(patch, nl=False)
    if asked["applies"]:
        for path in apply_texts(texts):
            _say(f"changed {path}")
