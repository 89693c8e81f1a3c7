"""Which program `tenure run` is asked to start, and the lists that its options take."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tenure.capture.options import read_percent
from tenure.capture.steps.census_ranks import takes_censuses
from tenure.capture.system.host import hide_secrets
from tenure.errors import UsageError

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
    def typed(self) -> str:
        """What follows `tenure run` to start it again, as a shell takes it; "" of code, which is no file to go on with,
        and where an argument is named like a secret."""
        if self.kind == CODE or self.arguments[0] == STDIN or hide_secrets(self.arguments) != list(self.arguments):
            return ""
        return shlex.join([*{MODULE: ["-m"], COMMAND: ["--"]}.get(self.kind, []), *self.arguments])

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


class Percent(click.ParamType):  # type: ignore[type-arg]
    """A share from 0 to 100, with or without the sign."""

    name = "percent"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """`1%` as 1.0."""
        try:
            return read_percent(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class RankList(click.ParamType):  # type: ignore[type-arg]
    """Ranks and ranges of them separated by commas."""

    name = "ranks"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text as it was given, which each rank reads for itself."""
        try:
            takes_censuses(0, str(value))
        except ValueError:
            self.fail(f"{value!r} is no list of ranks such as 0,1 or 0-7, or 0-:8 for each eighth", param, ctx)
        return str(value)


def find_program(kind: str, arguments: Sequence[str]) -> Program:
    """The program to start; a UsageError that says what is there where it cannot be started."""
    verb = _verb()
    if not arguments:
        raise UsageError(
            f"which program? `tenure {verb} train.py`, `tenure {verb} -m module` or `tenure {verb} -- command`"
        )
    name = arguments[0]
    if kind == COMMAND and shutil.which(name) is None:
        raise UsageError(f"{name}: no such command; a Python script is started with `tenure {verb} {name}`")
    if kind == SCRIPT and name != STDIN and not Path(name).exists():
        raise UsageError(_describe_missing_script(name, verb))
    if kind == SCRIPT and Path(name).suffix in (".sh", ".bash"):
        raise UsageError(f"{name} is a shell script; start it with `tenure {verb} -- sh {shlex.join(arguments)}`")
    return Program(kind, tuple(arguments))


def _verb() -> str:
    """The command that was typed, as messages repeat it."""
    context = click.get_current_context(silent=True)
    return (context.info_name if context is not None else None) or "run"


def _describe_missing_script(name: str, verb: str) -> str:
    if shutil.which(name):
        return f"{name} is a command and no script here; start it with `tenure {verb} -- {name} ...`"
    folder = Path(name).parent
    if not folder.is_dir():
        return f"{name}: no such file, nor a folder {folder}"
    scripts = sorted(path.name for path in folder.glob("*.py"))
    shown = ", ".join(scripts[:5]) + (", ..." if len(scripts) > 5 else "")
    return f"{name}: no such file; {'there is ' + shown if scripts else f'{folder} holds no Python files'}"
