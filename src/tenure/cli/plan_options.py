"""`tenure plan --options` and `--option NAME`: the program again under each option, and the best of them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from tenure.fixing.runs import Run
    from tenure.model.plan import Plan
    from tenure.model.stream import StepStream
    from tenure.planning.options import Watch

NO_SURVEY = "options were not tried: no optimizer of the program was seen to step"


def with_options(
    plan: Plan,
    stream: StepStream,
    run: Run,
    *,
    predict: Callable[[StepStream], Plan],
    watch: Watch,
    arguments: Sequence[str],
    batch_option: str | None,
    chosen: Sequence[str],
) -> Plan:
    """The plan with a row for each option chosen; a note where the program trains nothing."""
    from tenure.planning.options import Trials, micro_batch_of, try_options
    from tenure.store.survey_file import read_survey

    survey = read_survey(run.recording)
    if survey is None:
        return replace(plan, notes=(*plan.notes, NO_SURVEY))
    trials = Trials(watch, predict, stream, plan, survey, micro_batch_of(arguments, batch_option))
    rows = try_options(trials, chosen, lambda name: click.echo(f"tenure: once more with {name}", err=True))
    return replace(plan, options=rows)
