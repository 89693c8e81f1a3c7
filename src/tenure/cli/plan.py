"""`tenure plan`: what a program would need on a device, from a few of its steps run anywhere."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenure.capture.writing.folders import SWITCH_VARIABLE
from tenure.cli.fix import from_scratch
from tenure.cli.program import CODE, COMMAND, MODULE, STDIN, Program, ProgramCommand, find_program
from tenure.errors import NoStreamError, UsageError

if TYPE_CHECKING:
    from tenure.fixing.runs import Run, Runner
    from tenure.model.known import Known
    from tenure.model.plan import Plan
    from tenure.model.stream import StepStream

DOES_NOT_FIT = 1
NO_ANSWER = 2
WATCHED_STEP = 2
"""The first of the two: optimizers make their state in the first step."""
_AS_WRITTEN = ("TORCHDYNAMO_DISABLE", "1")
"""Operations inside of compiled code cannot be watched; without it the program runs them one by one."""


class FourSizes(click.ParamType):  # type: ignore[type-arg]  # generic only in newer clicks
    """Four sizes separated by commas."""

    name = "sizes"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """`4,8,12,16` as (4, 8, 12, 16)."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        sizes = tuple(int(part) for part in parts if part.strip().isdigit())
        if len(parts) != 4 or len(sizes) != 4 or min(sizes) < 1 or list(sizes) != sorted(set(sizes)):
            self.fail(f"{value!r} is no list of four rising sizes such as 4,8,12,16", param, ctx)
        return sizes


@click.command("plan", cls=ProgramCommand, short_help="What a program needs on a device, before there is one.")
@click.option("--device-memory", metavar="SIZE", help="Say whether it fits, as 80GiB.")
@click.option("--allocator", "settings", default="", metavar="SETTINGS", help="The device's PYTORCH_ALLOC_CONF.")
@click.option("--step", type=click.IntRange(min=1), default=WATCHED_STEP, show_default=True, metavar="N",
              help="Watch step N and the next; later where memory still grows.")  # fmt: skip
@click.option("--batch-arg", metavar="OPTION", help="The program's option for its batch size: say what the largest is.")
@click.option("--batch-sizes", type=FourSizes(), default="4,8,12,16", show_default=True, metavar="SIZES",
              help="Four to run for that; the last one checks.")  # fmt: skip
@click.option("--length-arg", metavar="OPTION",
              help="The same for its input's length; with --batch-arg: the largest batch for each length.")  # fmt: skip
@click.option("--length-sizes", type=FourSizes(), default="32,64,96,128", show_default=True, metavar="SIZES",
              help="Four to run for that; the last one checks.")  # fmt: skip
@click.option("--world-size", type=click.IntRange(min=2), metavar="N",
              help="Plan the first of N ranks, in one process; collectives do nothing.")  # fmt: skip
@click.option("--fake", is_flag=True, help="Give large tensors no memory: plan a model that this machine cannot hold.")
@click.option("--options", is_flag=True, help="Run it again under checkpointing, autocast and others; compare them.")
@click.option("--option", "chosen", multiple=True, metavar="NAME",
              help="The same under this option alone, as fused; may stand several times.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=1), metavar="SECONDS", help="End a run that takes longer.")
@click.option("--in-place", is_flag=True, help="Run in the working folder itself, not in a scratch copy of it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@click.pass_context
def plan_command(ctx: click.Context, /, **asked: Any) -> int:
    """Run a few steps of a program here, and say what its training would need on a CUDA device.

    The program runs unchanged, on the CPU where there is nothing else, in a scratch folder, and is ended after the
    steps that are watched. Exits with 1 where --device-memory is not enough, with 2 where a size that was asked for has
    no answer.
    """
    from tenure.allocator.settings import parse_settings
    from tenure.report.plan import plan_as_dict, render_plan
    from tenure.report.terminal import terminal_form

    if os.environ.get(SWITCH_VARIABLE) == "0":
        raise UsageError("TENURE=0 switches everything off; unset it")
    program = find_program(*ctx.meta["tenure.program"])
    if program.kind == CODE or program.arguments[0] == STDIN:
        raise UsageError("code without a file cannot be planned; write it to a file first")
    device_bytes = _read_size(asked["device_memory"])
    asked["chosen"] = _chosen_options(asked)
    _check_searches(asked, device_bytes)
    parse_settings(asked["settings"])
    plan = _plan(program, asked, device_bytes)
    if isinstance(plan, Unplanned):
        _tell_known(plan, as_json=asked["as_json"])
        raise UsageError(plan.why)
    if asked["as_json"]:
        import json

        print(json.dumps(plan_as_dict(plan)))
    else:
        width, _, ascii_only = terminal_form(sys.stdout)
        click.echo(render_plan(plan, width=width, ascii_only=ascii_only), nl=False)
    if plan.unanswered is not None:
        click.echo(f"tenure: {plan.unanswered}", err=True)
        return NO_ANSWER
    return DOES_NOT_FIT if plan.fit is not None and not plan.fit.fits else 0


@dataclass(frozen=True)
class Unplanned:
    """Why there is no plan, the steps that were seen, and what is known all the same."""

    why: str
    steps: int
    known: Known | None


def _tell_known(found: Unplanned, *, as_json: bool) -> None:
    from tenure.report.known import known_as_dict, render_known
    from tenure.report.terminal import terminal_form

    if as_json:
        import json

        print(json.dumps(known_as_dict(found.known, found.why, found.steps)))
    elif found.known is not None:
        width, _, ascii_only = terminal_form(sys.stdout)
        click.echo(render_known(found.known, width=width, ascii_only=ascii_only), nl=False)


def _plan(program: Program, asked: dict[str, Any], device_bytes: int | None) -> Plan | Unplanned:
    from tenure.cli.plan_options import with_options
    from tenure.cli.plan_sizes import Searched, with_searches
    from tenure.fixing.runs import Order, Runner
    from tenure.planning.predict import predict
    from tenure.planning.recorded import is_distributed
    from tenure.store.known_file import read_known

    here, step = Path.cwd(), int(asked["step"])
    command = tuple(program.command) if asked["in_place"] else from_scratch(program.command, here)
    name = " ".join([*{MODULE: ["-m"], COMMAND: ["--"]}.get(program.kind, []), program.arguments[0]])
    click.echo(f"tenure: {name} runs for {step + 2} steps, of which {step} and {step + 1} are watched", err=True)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    scratch, runner = Path(tempfile.mkdtemp(prefix="tenure-plan-")).resolve(), None
    try:
        environment = (_AS_WRITTEN, *place_of_first(asked["world_size"]))
        runner = Runner(
            Order(command, here, scratch, asked["in_place"], None, asked["timeout"], environment, _runs_often(asked))
        )
        watch = partial(watch_run, runner, name, step, world_size=asked["world_size"], fake=asked["fake"])
        try:
            run, stream = _watch_first(runner, lambda: watch(tries=() if asked["chosen"] else None))
        except NoStreamError as error:
            return Unplanned(str(error), error.steps, read_known(error.folder))

        def predict_as_asked(stream: StepStream, world_size: int | None = asked["world_size"]) -> Plan:
            return predict(
                stream,
                device_bytes=device_bytes,
                settings=asked["settings"],
                is_distributed=is_distributed(run.recording) or world_size is not None,
                world_size=world_size,
            )

        plan = predict_as_asked(stream)
        if asked["chosen"]:
            plan = with_options(
                plan,
                stream,
                run,
                predict=predict_as_asked,
                watch=lambda tries, arguments: watch(arguments, tries=tuple(tries))[1],
                arguments=program.arguments[1:],
                batch_option=asked["batch_arg"],
                chosen=asked["chosen"],
            )
        if device_bytes is None:
            return plan
        searched = Searched(
            asked["batch_arg"], asked["batch_sizes"], asked["length_arg"], asked["length_sizes"], asked["fake"]
        )
        return with_searches(plan, searched, lambda more: watch(more)[1], device_bytes)
    finally:
        if runner is not None:
            runner.close()
        shutil.rmtree(scratch, ignore_errors=True)


def _watch_first(runner: Runner, watch: Callable[[], tuple[Run, StepStream]]) -> tuple[Run, StepStream]:
    """The first run; where it failed as a copy of a process that had imported torch, once more without, for that is
    what is told."""
    try:
        return watch()
    except UsageError:
        if not runner.start_afresh():
            raise
    return watch()


def _runs_often(asked: dict[str, Any]) -> bool:
    return bool(asked["chosen"]) or asked["batch_arg"] is not None or asked["length_arg"] is not None


def place_of_first(world_size: int | None) -> tuple[tuple[str, str], ...]:
    """What launchers tell the first of so many ranks in its environment."""
    if world_size is None:
        return ()
    size = str(world_size)
    return (
        ("RANK", "0"),
        ("LOCAL_RANK", "0"),
        ("WORLD_SIZE", size),
        ("LOCAL_WORLD_SIZE", size),
        ("MASTER_ADDR", "localhost"),
        ("MASTER_PORT", "29500"),
    )


def watch_run(
    runner: Runner,
    name: str,
    step: int,
    arguments: Sequence[str] = (),
    *,
    tries: tuple[str, ...] | None = None,
    world_size: int | None = None,
    fake: bool = False,
) -> tuple[Run, StepStream]:
    """The stream of one run, with further arguments, and with options switched on.

    A UsageError says why a run left none.
    """
    from tenure.capture.options import MonitorOptions
    from tenure.planning.recorded import stream_of_run

    options = MonitorOptions(
        stop_after=step + 2,
        profile_step=step,
        experiment_step=0,
        census_at=(),
        budget_percent=100.0,
        plans=True,
        tries=tries,
        world_size=world_size,
        fake=fake,
    )
    run = runner.run(options=options, arguments=arguments)
    called = " ".join([name, *arguments])
    stream = stream_of_run(
        run.recording,
        program=called,
        exit_code=run.exit_code,
        last_line=run.last_line,
        timed_out=run.timed_out,
        step=step,
        last_words=run.last_words,
    )
    return run, run.in_the_tree(stream)


def _chosen_options(asked: dict[str, Any]) -> tuple[str, ...]:
    """Those that are named, or all with --options; none where nobody asks."""
    from tenure.planning.changes import OPTIONS

    unknown = [name for name in asked["chosen"] if name not in OPTIONS]
    if unknown:
        raise UsageError(f"--option {unknown[0]}: there is no such option; there are {', '.join(OPTIONS)}")
    return tuple(name for name in OPTIONS if asked["options"] or name in asked["chosen"])


def _check_searches(asked: dict[str, Any], device_bytes: int | None) -> None:
    if device_bytes is not None:
        return
    if asked["length_arg"] is not None:
        raise UsageError("the longest input for how much memory? add --device-memory 80GiB")
    if asked["batch_arg"] is not None and not asked["chosen"]:
        raise UsageError("the largest batch for how much memory? add --device-memory 80GiB")


def _read_size(text: str | None) -> int | None:
    from tenure.model.units import parse_memory

    if text is None:
        return None
    try:
        return parse_memory(text)
    except ValueError as error:
        raise UsageError(f"--device-memory {text}: {error}") from error
