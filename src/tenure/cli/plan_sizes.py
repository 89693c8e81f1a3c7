"""`tenure plan --batch-arg --length-arg`: the program once more with a few sizes, and what follows for others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.model.plan import LargestSize, Plan, TokenBudget
    from tenure.model.stream import StepStream

Watch = Callable[[tuple[str, ...]], "StepStream"]
"""Runs the program with further arguments."""


@dataclass(frozen=True)
class Searched:
    """The program's options for its sizes, None where not asked for, and four sizes for each."""

    batch_option: str | None
    batch_sizes: tuple[int, ...]
    length_option: str | None
    length_sizes: tuple[int, ...]


def with_searches(plan: Plan, searched: Searched, watch: Watch, device_bytes: int) -> Plan:
    """The plan with an answer, or with a note why there is none: what is known is told all the same."""
    try:
        if searched.batch_option is not None and searched.length_option is not None:
            return replace(plan, token_budget=_token_budget(plan, searched, watch, device_bytes))
        if searched.batch_option is not None:
            found = _largest(
                plan, searched.batch_option, searched.batch_sizes, watch, device_bytes, wanted="largest batch"
            )
            return replace(plan, largest_batch=found)
        if searched.length_option is not None:
            found = _largest(
                plan, searched.length_option, searched.length_sizes, watch, device_bytes, wanted="longest input"
            )
            return replace(plan, longest=found)
    except UsageError as error:
        return replace(plan, notes=(*plan.notes, str(error)))
    return plan


def _largest(
    plan: Plan, option: str, sizes: tuple[int, ...], watch: Watch, device_bytes: int, *, wanted: str
) -> LargestSize:
    from tenure.planning.largest_size import find_largest_size

    click.echo(f"tenure: once more with {option} {', '.join(map(str, sizes))} each", err=True)
    streams = [(size, watch((option, str(size)))) for size in sizes]
    return find_largest_size(streams, plan, device_bytes=device_bytes, option=option, wanted=wanted)


def _token_budget(plan: Plan, searched: Searched, watch: Watch, device_bytes: int) -> TokenBudget:
    from tenure.planning.size_model import Axis, sizes_of
    from tenure.planning.token_budget import find_token_budget

    batch_option, length_option = str(searched.batch_option), str(searched.length_option)
    batches = Axis(batch_option, searched.batch_sizes[:-1])
    lengths = Axis(length_option, searched.length_sizes[:-1])
    checked = searched.batch_sizes[-1], searched.length_sizes[-1]

    def watch_at(batch: int, length: int) -> StepStream:
        return watch((batch_option, str(batch), length_option, str(length)))

    told = [f"{axis.option} {', '.join(map(str, axis.sizes))}" for axis in (batches, lengths)]
    click.echo(
        f"tenure: once more with each of {' and '.join(told)}, and with {checked[0]} and {checked[1]} to check",
        err=True,
    )
    streams = [watch_at(*sizes) for sizes in sizes_of([batches, lengths])]
    return find_token_budget(batches, lengths, streams, checked, watch_at(*checked), plan, device_bytes=device_bytes)
