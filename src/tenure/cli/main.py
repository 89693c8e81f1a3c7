"""The command `tenure`: one verb, one file; a verb's file is read when the verb is used.

Exit codes: 0 nothing found, 1 findings, 2 usage or input error, 130 interrupted.
Errors that a person can mend are one line on stderr; a traceback is always a bug of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from tenure import __version__
from tenure.errors import TenureError

INPUT_ERROR = 2
INTERRUPTED = 130
CLOSED_PIPE = 141

VERBS = {
    "run": "tenure.cli.run:run_command",
    "diagnose": "tenure.cli.diagnose:diagnose_command",
    "report": "tenure.cli.report:report_command",
    "watch": "tenure.cli.watch:watch_command",
    "export": "tenure.cli.export:export_command",
    "snapshot": "tenure.cli.snapshot:snapshot_command",
    "advise": "tenure.cli.advise:advise_command",
    "explain": "tenure.cli.explain:explain_command",
    "doctor": "tenure.cli.doctor:doctor_command",
    "lint": "tenure.cli.lint:lint_command",
    "fix": "tenure.cli.fix:fix_command",
    "plan": "tenure.cli.plan:plan_command",
    "demo": "tenure.cli.demo:demo_command",
}


class LazyVerbs(click.Group):
    """A group of commands whose modules are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Verbs in the order a newcomer needs them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, or None for an unknown verb."""
        home = VERBS.get(cmd_name)
        if home is None:
            return None
        module, _, name = home.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command


@click.group(cls=LazyVerbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tenure")
def main() -> None:
    """Find what keeps PyTorch memory alive, and the line to change.

    Start with `tenure run` before the command you already use, or with `tenure demo`.
    """


def run_command_line(arguments: Sequence[str]) -> int:
    """Carry out one command and give back the exit code; prints, never raises for a person's mistakes."""
    try:
        # Not `main.main()`: click would answer a closed pipe with 1, which here means findings.
        with main.make_context("tenure", list(arguments)) as context:
            code = main.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_wanted:
        return exit_wanted.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        help_wanted.show()
        return INPUT_ERROR
    except click.ClickException as error:
        error.show()
        return INPUT_ERROR
    except TenureError as error:
        print(f"tenure: {error}", file=sys.stderr)
        return INPUT_ERROR
    except BrokenPipeError:
        # The reader left (`| head`); Python's own flush at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    return code if isinstance(code, int) else 0
