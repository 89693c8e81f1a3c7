"""Finds steps inside the user's program, from hooks of optimizers and modules, and has them recorded without harm.

Holds the program's objects only weakly between hooks, never synchronises, frees or collects, and counts the
time spent in its own hooks. A failure of ours is noted in the recording, switches us off, and training goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from tenure.capture.compiled.compiled_calls import UNSEEN_COMPILED_CALLS, CompiledCalls
from tenure.capture.guarding.forks import call_in_forked_children
from tenure.capture.guarding.guard import Guard
from tenure.capture.options import MonitorOptions
from tenure.capture.state_calls import StateCalls
from tenure.capture.step_recorder import FORWARD_ENTRY, STEP_END, StepRecorder
from tenure.capture.steps.boundaries import OptimizerSequence, RootCalls
from tenure.capture.steps.calls import RunningSteps, has_gradients, optimizer_was_made
from tenure.capture.steps.module_calls import ModuleCalls
from tenure.capture.steps.skipped_steps import ScalerWatch
from tenure.capture.steps.stopping import Stopper
from tenure.capture.tensors.storage_serials import ask_early
from tenure.capture.writing.census_writing import TakeCensus
from tenure.capture.writing.history_writing import WrittenHistory
from tenure.capture.writing.journal import Journal
from tenure.model.recording import COMPILES


class Monitor:
    """Opened in a process that has imported torch; closed at its end. Writes nothing before the first step."""

    def __init__(
        self,
        claim_folder: Callable[[], Path],
        *,
        options: MonitorOptions | None = None,
        take_census: TakeCensus | None = None,
    ) -> None:
        options = options or MonitorOptions()
        self._journal = Journal(claim_folder, time_origin=time.time())
        self._guard = Guard(self._note_failure, lambda: self._recorder.let_go())
        self._manual = False
        self._sequence = OptimizerSequence()
        self._roots = RootCalls()
        self._optimizer_steps = 0
        self._forward_seen = False
        self._running_steps = RunningSteps()
        self._stopper = Stopper(options.stop_after)
        self._modules = ModuleCalls(
            self._guard.run,
            self._guard.is_shut,
            lambda: self._recorder.take_new_root(),
            self.enter_root,
            lambda module, output: self._recorder.leave_forward(module, output),
        )
        self._recorder = StepRecorder(
            self._journal,
            self._guard,
            self._modules,
            options,
            take_census=take_census,
            watch_modules=self._watch_modules,
            period=lambda: self._roots.period,
        )
        self._handles = [
            register_optimizer_step_pre_hook(self._make_hook(self._before_optimizer_step)),
            register_optimizer_step_post_hook(self._make_hook(self._after_optimizer_step)),
        ]
        self._scalers = ScalerWatch(lambda: self._optimizer_steps, self._after_skipped_step)
        recorder = self._recorder
        self._state_calls = StateCalls(
            self._guard.run, recorder.optimizers.live, recorder.can_look_at_state, recorder.record_census
        )
        self._compiled = CompiledCalls(self, self._guard, self._modules, self._scalers, recorder.profiler)
        self._guard.run(ask_early)
        self._guard.run(self._watch_modules)
        call_in_forked_children(self, Monitor.abandon)

    @property
    def step(self) -> int:
        """Steps that have ended."""
        return self._recorder.step

    @property
    def is_recording(self) -> bool:
        """False once closed, forked, or switched off by a failure."""
        return not self._guard.off

    @property
    def own_seconds(self) -> float:
        """What recording has taken until now, censuses and the profiled steps included."""
        return self._guard.own_seconds

    @property
    def is_listening(self) -> bool:
        """Whether steps are found by hooks, and still recorded."""
        return not (self._guard.off or self._manual)

    def begin_step(self) -> None:
        """Say in code that a step begins; from then on only such steps count."""
        self._mark_steps()
        if self._recorder.wants_entry:
            self._guard.run(self._recorder.enter_forward, None)

    def end_step(self) -> None:
        """Say in code that a step ends."""
        self._mark_steps()
        self._guard.run(self._recorder.end_step, STEP_END)

    def request_census(self) -> str | None:
        """Take a census now, whatever the schedule says; its file name, or None after a failure of ours."""
        return self._recorder.request_census()

    def write_history(self, reason: str) -> str | None:
        """Copy the allocator's blocks and its record, if it has one, into the recording now; the file's name.

        None without a device, after a failure of ours, or within one of our own hooks.
        """
        written: list[WrittenHistory | None] = []
        self._guard.run(lambda: written.append(self._recorder.write_history(reason)))
        return written[0].file if written and written[0] is not None else None

    def leave_copy(self) -> None:
        """The program is over: leave a copy of its process for experiments, where none was left."""
        self._guard.run(self._recorder.leave_copy)

    def close(self, reason: str = "exit", exit_code: int | None = None) -> None:
        """Write what is left and the end row. Later steps are not recorded."""
        with self._guard.lock:
            self._guard.run(self._finish, reason, exit_code)
            self._guard.switch_off()
            # Only here, outside all hooks: torch iterates over its optimizer hooks while they run.
            for handle in self._handles:
                handle.remove()
            self._handles.clear()
            self._compiled.close()
            self._scalers.close()
            self._state_calls.close()
            self._recorder.give_back_signal()

    def abandon(self) -> None:
        """Go silent without a trace: a forked child must not write into its parent's recording."""
        self._guard.abandon()
        self._recorder.abandon()

    def take_unseen_step(self, optimizer: Any) -> None:
        """An optimizer has stepped of which no hook told; within the guard."""
        self._optimizer_steps += 1
        self._take_optimizer_step(optimizer)

    def wants_root_calls(self) -> bool:
        """Whether a root module's call would be of use now."""
        recorder = self._recorder
        return not self._manual and (recorder.wants_entry or self._sequence.asks_for_forward or not recorder.trains)

    def enter_root(self, inputs: Any, module: Any = None) -> None:
        """A root forward begins, of `module` where that is known; outside of the guard, and may raise SystemExit."""
        if self._guard.off or self._manual:
            return
        recorder = self._recorder
        if not recorder.trains:
            self._guard.run(self._roots.note, (id(module), torch.is_grad_enabled()))
        self._guard.run(self.take_root_call, inputs, module)
        with_graph = torch.is_grad_enabled()
        may_train = getattr(module, "training", True) and with_graph
        if recorder.trains and module is not None and not may_train:
            self._guard.run(partial(recorder.take_evaluation_call, with_graph=with_graph), inputs, module)
        if recorder.has_whole_stream:
            self._stopper.check(self.step + 1)
        if not recorder.trains:
            self.stop_if_asked()

    def take_root_call(self, inputs: Any, module: Any = None) -> None:
        """The same, within the guard; modes and tensor classes of the program see nothing of what is asked."""
        with torch._C.DisableTorchFunction():
            self._take_root_call(inputs, module)

    def _take_root_call(self, inputs: Any, module: Any) -> None:
        recorder = self._recorder
        if recorder.trains:
            self._forward_seen = True
            recorder.enter_forward(inputs)
        elif self._roots.begins_step(
            optimizer_exists=optimizer_was_made(), has_gradients=lambda: module is None or has_gradients(module)
        ):
            recorder.end_step(FORWARD_ENTRY, inputs)
            recorder.enter_forward(inputs)
        recorder.measure_forward(inputs)

    def stop_if_asked(self) -> None:
        """End the program where it was asked to run for so many steps only."""
        self._stopper.check(self.step)

    def _make_hook(self, take: Callable[[Any], None]) -> Callable[[Any, Any, Any], None]:
        # is_compiling comes first so that dynamo, which traces hooks, sees nothing of us (torch >= 2.1).
        # The closure keeps dynamo from looking at the monitor behind it.
        def tenure_optimizer_hook(optimizer: Any, args: Any, kwargs: Any) -> None:
            if torch.compiler.is_compiling():
                return
            take(optimizer)

        return tenure_optimizer_hook

    def _before_optimizer_step(self, optimizer: Any) -> None:
        self._running_steps.begin()
        phases = self._recorder.phases
        if phases.wanted and self.is_listening and self._modules.is_watching:
            self._guard.run(phases.enter_optimizer)

    def _after_optimizer_step(self, optimizer: Any) -> None:
        self._optimizer_steps += 1
        if self._guard.off or self._manual:
            return
        if self._compiled.running:
            self._compiled.count(optimizer)
        self._guard.run(self._take_optimizer_step, optimizer, sys._getframe(2))
        if self._stopper.is_asked:
            self.stop_if_asked()

    def _after_skipped_step(self, optimizer: Any) -> None:
        if self._guard.off or self._manual or not isinstance(optimizer, Optimizer):
            return
        self._guard.run(self._take_optimizer_step, optimizer)
        self.stop_if_asked()

    def _take_optimizer_step(self, optimizer: Any, wrapper: Any = None) -> None:
        if wrapper is not None and self._running_steps.end(wrapper):
            return
        after_forward, self._forward_seen = self._forward_seen, False
        number = self._recorder.take_optimizer(optimizer)
        if self._sequence.ends_step(number, after_forward=after_forward):
            self._recorder.end_step(STEP_END)
        if self._sequence.asks_for_forward:
            self._watch_modules()

    def _watch_modules(self) -> None:
        self._modules.install(in_compiled_call=self._compiled.is_in_call)

    def _mark_steps(self) -> None:
        self._manual = True
        self._recorder.mark_steps()

    def _finish(self, reason: str, exit_code: int | None) -> None:
        if self._modules.gave_up and self.step:
            self._journal.write_note("info", UNSEEN_COMPILED_CALLS, step=self.step)
        elif self._modules.compiles:
            self._journal.write_note("info", COMPILES, step=self.step)
        self._recorder.finish()
        self._write_end(reason, exit_code)

    def _write_end(self, reason: str, exit_code: int | None) -> None:
        self._recorder.write_end("stopped" if self._stopper.stopped else reason, exit_code)

    def _note_failure(self, failure: str) -> None:
        self._journal.write_note("failure", failure, step=self.step)
        self._write_end("recorder-failure", None)
