"""`tenure plan --batch-arg --length-arg`: the program once more with a few sizes, and what follows for others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from tenure.capture.system.memory_room import read_host_room
from tenure.errors import UsageError

if TYPE_CHECKING:
    from tenure.model.plan import LargestSize, Plan, TokenBudget
    from tenure.model.stream import StepStream
    from tenure.planning.largest_size import OneMore

Watch = Callable[[tuple[str, ...]], "StepStream"]
"""Runs the program with further arguments."""
MOST_SECONDS = 30.0
LEAST_SECONDS = 0.1
"""Between the quickest run and that of the largest size; less is not told from none."""


@dataclass(frozen=True)
class Searched:
    """The program's options for its sizes, None where not asked for, four sizes for each, and whether tensors are
    fake."""

    batch_option: str | None
    batch_sizes: tuple[int, ...]
    length_option: str | None
    length_sizes: tuple[int, ...]
    fake: bool = False


def with_searches(plan: Plan, searched: Searched, watch: Watch, device_bytes: int) -> Plan:
    """The plan with an answer, or with a note why there is none (`unanswered`): what is known is told all the same."""
    try:
        if searched.batch_option is not None and searched.length_option is not None:
            return replace(plan, token_budget=_token_budget(plan, searched, watch, device_bytes))
        if searched.batch_option is not None:
            runs = _Runs(searched.batch_option, searched.batch_sizes, watch, searched.fake)
            found = runs.find_largest(plan, device_bytes, wanted="largest batch")
            return replace(plan, largest_batch=found)
        if searched.length_option is not None:
            runs = _Runs(searched.length_option, searched.length_sizes, watch, searched.fake)
            found = runs.find_largest(plan, device_bytes, wanted="longest input")
            return replace(plan, longest=found)
    except UsageError as error:
        return replace(plan, notes=(*plan.notes, str(error)), unanswered=str(error))
    return plan


@dataclass(frozen=True)
class _Runs:
    option: str
    sizes: tuple[int, ...]
    watch: Watch
    fake: bool

    def find_largest(self, plan: Plan, device_bytes: int, *, wanted: str) -> LargestSize:
        from tenure.planning.largest_size import find_largest_size

        click.echo(f"tenure: once more with {self.option} {', '.join(map(str, self.sizes))} each", err=True)
        streams, seconds = [], []
        for size in self.sizes:
            started = time.monotonic()
            streams.append((size, self.watch((self.option, str(size)))))
            seconds.append(time.monotonic() - started)
        one_more = self._one_more(seconds)
        return find_largest_size(
            streams, plan, device_bytes=device_bytes, option=self.option, wanted=wanted, one_more=one_more
        )

    def _one_more(self, seconds: list[float]) -> OneMore:
        """One run nearer to a far answer: with fake tensors any, else what takes `MOST_SECONDS` by the time of these
        and half of the memory that is left."""
        from tenure.planning.largest_size import OneMore

        def watch_one(size: int) -> StepStream:
            click.echo(f"tenure: the answer is far from these; once more with {self.option} {size}", err=True)
            return self.watch((self.option, str(size)))

        if self.fake:
            return OneMore(watch_one)
        gained = max(seconds[-1] - min(seconds), LEAST_SECONDS) / (self.sizes[-1] - self.sizes[0])
        room = read_host_room()
        left = [room[name] for name in ("host_available_bytes",) if name in room]
        if "cgroup_limit_bytes" in room:
            left.append(room["cgroup_limit_bytes"] - room.get("cgroup_used_bytes", 0))
        return OneMore(watch_one, int(MOST_SECONDS / gained), min(left, default=0) // 2)


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
