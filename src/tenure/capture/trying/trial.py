"""Switches options on in this process, and says which of them its program can take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from tenure.capture.trying.accumulation import accumulate
from tenure.capture.trying.around_forward import AutocastUpToBackward, call_around_models, saved_on_host
from tenure.capture.trying.checkpointing import checkpoint_blocks, find_blocks
from tenure.capture.trying.data_parallel import run_on_first_device, why_not_divided
from tenure.capture.trying.distributed import reduce_in_buckets
from tenure.capture.trying.eight_bit import keep_state_in_eight_bits, why_not_eight_bit
from tenure.capture.trying.gradients import drop_gradients
from tenure.capture.trying.in_place import why_not_in_place, work_in_place
from tenure.capture.trying.loss_scaling import LossScaling
from tenure.capture.trying.one_rank import why_no_ranks
from tenure.capture.trying.optimizer_steps import step_fused, step_single, why_not_fused, why_not_single
from tenure.capture.trying.program import BeforeCall, Program, find_program
from tenure.capture.trying.sharding import shard_over, why_not_sharded
from tenure.model.trial import (
    DATA_PARALLEL,
    DISTRIBUTED,
    EIGHT_BIT,
    NUM_RANKS,
    SHARDED_OVER,
    SOME_BLOCKS,
    Blocks,
    Survey,
    num_checkpointed,
)

LOOKS = 2
"""Calls of models, and steps of optimizers, before which the program's modules and optimizers are looked for."""
_CHANGES: dict[str, Callable[[Program], None]] = {
    "checkpointing": checkpoint_blocks,
    "no-foreach": step_single,
    "fused": step_fused,
    "accumulation": accumulate,
    "in-place": work_in_place,
}
_BEFORE_CALLS: dict[str, Callable[[Program], None]] = {EIGHT_BIT: keep_state_in_eight_bits}
"""What comes too late at an optimizer's step."""
_HALVES = {"autocast-bf16": torch.bfloat16, "autocast-fp16": torch.float16}
_WRAPS: dict[str, Callable[[str], BeforeCall]] = {
    **dict.fromkeys(SHARDED_OVER, lambda option: shard_over(NUM_RANKS[option])),
    DISTRIBUTED: lambda option: reduce_in_buckets(NUM_RANKS[option]),
    DATA_PARALLEL: lambda option: run_on_first_device(),
}


def begin_trial(options: tuple[str, ...], write: Callable[[Survey], None]) -> None:
    """Before the program runs. `write` is given a survey of it at its first optimizer step."""
    if "set-to-none" in options:
        drop_gradients()
    changes = [_CHANGES[option] for option in options if option in _CHANGES]
    for option in options:
        if option.startswith(SOME_BLOCKS):
            changes.append(functools.partial(checkpoint_blocks, number=num_checkpointed(option)))
    enters: list[Any] = []
    if "autocast-fp16" in options:
        scaling = LossScaling()
        scaling.install()  # within what leaves autocast
        changes.append(scaling.step_scaled)
    for option in _HALVES.keys() & set(options):
        autocast = AutocastUpToBackward(_HALVES[option])
        autocast.install()
        enters.append(autocast.enter)
    if "save-on-cpu" in options:
        enters.append(saved_on_host)
    wraps = [_WRAPS[option](option) for option in options if option in _WRAPS]
    look = _Looks(changes, [_BEFORE_CALLS[option] for option in options if option in _BEFORE_CALLS], write)
    call_around_models(lambda module: _enter_all(module, look, wraps, enters))
    register_optimizer_step_pre_hook(lambda *_: look.at_step())


def _enter_all(
    module: torch.nn.Module, look: _Looks, before: list[BeforeCall], enters: list[Any]
) -> AbstractContextManager[Any]:
    for work in before:
        work(module)
    look.at_call()
    entered: AbstractContextManager[Any] = nullcontext()
    for enter in enters:
        entered = enter(module)
    return entered


class _Looks:
    """Applies what changes modules and optimizers as soon as they are there: before the first calls and steps."""

    def __init__(
        self,
        changes: list[Callable[[Program], None]],
        before_calls: list[Callable[[Program], None]],
        write: Callable[[Survey], None],
    ) -> None:
        self._changes = changes
        self._at_calls = [*changes, *before_calls]
        self._write = write
        self._calls = self._steps = 0

    def at_call(self) -> None:
        """A model is about to be called."""
        self._calls += 1
        if self._calls <= LOOKS and self._at_calls:
            _apply(self._at_calls, find_program())

    def at_step(self) -> None:
        """An optimizer is about to step."""
        self._steps += 1
        if self._steps <= LOOKS and (self._changes or self._steps == 1):
            program = find_program()
            _apply(self._changes, program)
            if self._steps == 1:
                self._write(survey_of(program))


def _apply(changes: list[Callable[[Program], None]], program: Program) -> None:
    for change in changes:
        change(program)


def survey_of(program: Program) -> Survey:
    """What options find in a program, and why some cannot be tried."""
    groups = find_blocks(program)
    refused = {
        "no-foreach": why_not_single(program),
        "fused": why_not_fused(program),
        EIGHT_BIT: why_not_eight_bit(program),
        "in-place": why_not_in_place(program),
    }
    if not groups:
        refused["checkpointing"] = "no block of several modules repeats in a ModuleList or Sequential"
    refused |= dict.fromkeys(SHARDED_OVER, why_not_sharded())
    refused[DATA_PARALLEL] = why_not_divided(program)
    refused[DISTRIBUTED] = why_no_ranks("`DistributedDataParallel`")
    return Survey(
        blocks=tuple(Blocks(each.container, each.of_class, len(each.blocks)) for each in groups),
        optimizers=tuple(sorted({type(each).__name__ for each in program.optimizers})),
        refused={name: why for name, why in refused.items() if why is not None},
    )
