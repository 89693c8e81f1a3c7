"""Switches options on in this process, and says which of them its program can take."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from tenure.capture.trying.accumulation import accumulate
from tenure.capture.trying.around_forward import AutocastUpToBackward, call_around_models, saved_on_host
from tenure.capture.trying.checkpointing import checkpoint_blocks, find_blocks
from tenure.capture.trying.gradients import drop_gradients
from tenure.capture.trying.optimizer_steps import step_fused, step_single, why_not_fused, why_not_single
from tenure.capture.trying.program import Program, find_program
from tenure.model.trial import Blocks, Survey

LOOKS = 2
"""Calls of models, and steps of optimizers, before which the program's modules and optimizers are looked for."""
_CHANGES: dict[str, Callable[[Program], None]] = {
    "checkpointing": checkpoint_blocks,
    "no-foreach": step_single,
    "fused": step_fused,
    "accumulation": accumulate,
}


def begin_trial(options: tuple[str, ...], write: Callable[[Survey], None]) -> None:
    """Before the program runs. `write` is given a survey of it at its first optimizer step."""
    if "set-to-none" in options:
        drop_gradients()
    autocast = AutocastUpToBackward()
    if "autocast-bf16" in options:
        autocast.install()
    enters = [autocast.enter] * ("autocast-bf16" in options) + [saved_on_host] * ("save-on-cpu" in options)
    look = _Looks(options, write)
    call_around_models(lambda module: _enter_all(module, look, enters))
    register_optimizer_step_pre_hook(lambda *_: look.at_step())


def _enter_all(module: torch.nn.Module, look: _Looks, enters: list[Any]) -> AbstractContextManager[Any]:
    look.at_call()
    entered: AbstractContextManager[Any] = nullcontext()
    for enter in enters:
        entered = enter(module)
    return entered


class _Looks:
    """Applies what changes modules and optimizers as soon as they are there: before the first calls and steps."""

    def __init__(self, options: tuple[str, ...], write: Callable[[Survey], None]) -> None:
        self._changes = [_CHANGES[option] for option in options if option in _CHANGES]
        self._write = write
        self._calls = self._steps = 0

    def at_call(self) -> None:
        """A model is about to be called."""
        self._calls += 1
        if self._calls <= LOOKS and self._changes:
            self._apply(find_program())

    def at_step(self) -> None:
        """An optimizer is about to step."""
        self._steps += 1
        if self._steps <= LOOKS and (self._changes or self._steps == 1):
            program = find_program()
            self._apply(program)
            if self._steps == 1:
                self._write(survey_of(program))

    def _apply(self, program: Program) -> None:
        for change in self._changes:
            change(program)


def survey_of(program: Program) -> Survey:
    """What options find in a program, and why some cannot be tried."""
    groups = find_blocks(program)
    refused = {"no-foreach": why_not_single(program), "fused": why_not_fused(program)}
    if not groups:
        refused["checkpointing"] = "no block of several modules repeats in a ModuleList or Sequential"
    return Survey(
        blocks=tuple(Blocks(each.container, each.of_class, len(each.blocks)) for each in groups),
        optimizers=tuple(sorted({type(each).__name__ for each in program.optimizers})),
        refused={name: why for name, why in refused.items() if why is not None},
    )
