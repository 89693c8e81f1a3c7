"""The recorder inside the user's program: finds steps, takes censuses when due, writes rows, and does no harm.

Holds the program's objects only weakly between hooks, never synchronises, frees or collects, and counts the
time spent in its own hooks. A failure of ours is noted in the recording, switches us off, and training goes on.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from tenure.capture.compiled.compiled_calls import UNSEEN_COMPILED_CALLS, CompiledCalls
from tenure.capture.copies.experiment_copy import ExperimentCopies
from tenure.capture.counters import CounterReader
from tenure.capture.guarding.collector import collector_rests
from tenure.capture.guarding.forks import call_in_forked_children
from tenure.capture.guarding.guard import Guard
from tenure.capture.guarding.handlers import is_from_signal_handler
from tenure.capture.options import MonitorOptions
from tenure.capture.profile.profile_planning import ProfilePlan
from tenure.capture.sampling.between_steps import BetweenSteps
from tenure.capture.state_calls import StateCalls
from tenure.capture.steps.boundaries import OptimizerSequence, RootCalls
from tenure.capture.steps.calls import RunningSteps, has_gradients, optimizer_was_made
from tenure.capture.steps.census_steps import is_geometric, next_watched_calls, watches_calls
from tenure.capture.steps.evaluation_calls import EvaluationCalls
from tenure.capture.steps.input_size import InputSizes
from tenure.capture.steps.known_optimizers import KnownOptimizers
from tenure.capture.steps.module_calls import CalledModules, ModuleCalls
from tenure.capture.steps.next_decision import NextDecision
from tenure.capture.steps.own_cost import describe_excess
from tenure.capture.steps.phase_counters import PhaseCounters
from tenure.capture.steps.run_clock import RunClock
from tenure.capture.steps.schedule import (
    Schedule,
    can_afford_entry,
    can_afford_look,
    can_afford_within,
    is_due,
)
from tenure.capture.steps.skipped_steps import ScalerWatch
from tenure.capture.steps.stopping import Stopper
from tenure.capture.steps.watched_steps import WatchedSteps
from tenure.capture.system.ranks import find_place
from tenure.capture.writing.census_writing import CensusWriter, TakeCensus
from tenure.capture.writing.history_writing import TREND, HistoryOfRecording, WrittenHistory
from tenure.capture.writing.journal import Journal
from tenure.capture.writing.parameter_hashes import hash_parameters
from tenure.capture.writing.profile_writing import ProfileOfRecording
from tenure.model.recording import COMPILES, OUT_OF_MEMORY, is_within_step
from tenure.store.format import name_census_file

MAX_FIRST_CALLS = 4
"""Root modules whose first call, before any optimizer step, brings a census: what is let go later is seen in use."""
STEP_END, FORWARD_ENTRY, FIRST_CALL, REQUEST = "step-end", "forward-entry", "first-call", "request"


class Monitor:
    """Opened in a process that has imported torch; closed at its end. Writes nothing before the first step."""

    def __init__(
        self,
        claim_folder: Callable[[], Path],
        *,
        options: MonitorOptions | None = None,
        take_census: TakeCensus | None = None,
    ) -> None:
        self._journal = Journal(claim_folder, time_origin=time.time())
        self._options = options or MonitorOptions()
        self._schedule = Schedule()
        self._guard = Guard(self._note_failure, self._let_go)
        self._manual = False
        self._counters = CounterReader()
        self._sequence = OptimizerSequence()
        self._roots = RootCalls()
        self._evaluation_calls = EvaluationCalls()
        self._inputs = InputSizes()
        self._phases = PhaseCounters(self._counters.read_within_step)
        self._optimizers = KnownOptimizers()
        self._optimizer_seen = False
        self._optimizer_steps = 0
        self._entry_due = False
        self._forward_seen = False
        self._running_steps = RunningSteps()
        self._stopper = Stopper(self._options.stop_after)
        self._clock = RunClock()
        self._censuses = CensusWriter(self._journal, take_census)
        self._num_first_calls = 0
        self._extra_seconds = 0.0
        self._watches_silence = False
        self.step = 0
        self._guard.run(self._find_place)
        self._copies = ExperimentCopies(self._journal, step=self._options.copy_step)
        self._samples = BetweenSteps(
            self._journal,
            current_step=lambda: self.step,
            is_busy=lambda: self._guard.busy,
            note=self._write_note,
            start=self._clock.start,
            closer_looks=lambda: self._schedule.has_extra,
            on_look=self._watch_where_no_step_ends,
            lost_descriptors=lambda: self._counters.lost_descriptor,
        )
        self._history = HistoryOfRecording(
            lambda reason: self._journal.write_history(reason, step=self.step),
            self._write_note,
            entries=self._options.history_entries,
            on_out_of_memory=lambda: self._guard.run(self._take_out_of_memory),
        )
        self._profiler = ProfileOfRecording(
            self._journal,
            self._censuses,
            self._optimizers,
            ignore=(self, self.__dict__),
            current_step=lambda: self.step,
            on_pause=self._count_pause,
            on_cost=self._count_cost,
            is_busy=lambda: self._guard.busy,
            period=lambda: 1 if self._optimizer_seen else self._roots.period,
            as_stream=self._options.plans,
        ).profiler
        self._modules = ModuleCalls(
            self._guard.run, self._guard.is_shut, self._at_new_root, self.enter_root, self._leave_root
        )
        self._watched = WatchedSteps(self._modules, self._phases)
        self._next_decision = NextDecision(self._watched)
        self._handles = [
            register_optimizer_step_pre_hook(self._make_hook(self._before_optimizer_step)),
            register_optimizer_step_post_hook(self._make_hook(self._after_optimizer_step)),
        ]
        self._scalers = ScalerWatch(lambda: self._optimizer_steps, self._after_skipped_step)
        self._state_calls = StateCalls(
            self._guard.run, self._optimizers.live, self._can_look_at_state, self._record_census
        )
        self._plan = ProfilePlan(self._profiler, lambda: self._schedule, self._options.profile_step)
        self._guard.run(self._plan.begin)
        self._compiled = CompiledCalls(self, self._guard, self._modules, self._scalers, self._profiler)
        self._guard.run(self._watch_modules)
        call_in_forked_children(self, Monitor.abandon)

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
        self._manual = True
        self._modules.remove()
        if self._entry_due or self._profiler.wants_entry(self.step):
            self._guard.run(self._enter_forward, None)

    def end_step(self) -> None:
        """Say in code that a step ends."""
        self._manual = True
        self._guard.run(self._end_step, STEP_END)

    def request_census(self) -> str | None:
        """Take a census now, whatever the schedule says; its file name, or None after a failure of ours."""
        before = self._censuses.num_written
        self._guard.run(self._record_census, REQUEST, None)
        return name_census_file(self.step, REQUEST) if self._censuses.num_written > before else None

    def write_history(self, reason: str) -> str | None:
        """Copy the allocator's blocks and its record, if it has one, into the recording now; the file's name.

        None without a device, after a failure of ours, or within one of our own hooks.
        """
        written: list[WrittenHistory | None] = []
        self._guard.run(lambda: written.append(self._history.write(reason)))
        return written[0].file if written and written[0] is not None else None

    def leave_copy(self) -> None:
        """The program is over: leave a copy of its process for experiments, where none was left."""
        self._guard.run(self._copies.leave_at_end, self.step)

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
            self._samples.give_back_signal()

    def abandon(self) -> None:
        """Go silent without a trace: a forked child must not write into its parent's recording."""
        self._guard.abandon()
        self._profiler.stop("the process was forked")
        self._samples.abandon()
        self._journal.abandon()
        self._counters.close()

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
        if self._phases.wanted and self.is_listening and self._modules.is_watching:
            self._guard.run(self._phases.enter_optimizer)

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
        # A step after a census is watched to its end: which modules are called tells what is in use.
        if wrapper is not None and self._running_steps.end(wrapper):
            return
        if not self._optimizer_seen:
            self._schedule = self._schedule.begin_training(self.step)
            self._plan.at_first_optimizer_step(self.step)
            self._optimizer_seen = True
            self._next_decision.at_once()
        after_forward, self._forward_seen = self._forward_seen, False
        number = self._optimizers.number(optimizer)
        if number > self._plan.newest_optimizer:
            self._plan.at_new_optimizer(number, self.step)
            self._next_decision.at_once()
        if self._sequence.ends_step(number, after_forward=after_forward):
            self._end_step(STEP_END)
        if self._sequence.asks_for_forward:
            self._watch_modules()

    def _watch_modules(self) -> None:
        self._modules.install(in_compiled_call=self._compiled.is_in_call)

    def _at_new_root(self) -> None:
        wanted = self.step == 0 and self._num_first_calls < MAX_FIRST_CALLS and self._schedule.steps is None
        if wanted:
            self._num_first_calls += 1
            self._record_census(f"{FIRST_CALL}-{self._num_first_calls}", None)
        self._plan.at_new_root(self.step, training=self._optimizer_seen)
        self._next_decision.at_once()
        self._history.begin()

    def _take_out_of_memory(self) -> None:
        with self._clock.left_out():
            is_first = self._history.write_out_of_memory()
        if is_first:
            self._record_census(OUT_OF_MEMORY, None)

    def take_unseen_step(self, optimizer: Any) -> None:
        """An optimizer has stepped of which no hook told; within the guard."""
        self._optimizer_steps += 1
        self._take_optimizer_step(optimizer)

    def wants_root_calls(self) -> bool:
        """Whether a root module's call would be of use now."""
        entry_wanted = self._entry_due or self._profiler.wants_entry(self.step)
        return not self._manual and (entry_wanted or self._sequence.asks_for_forward or not self._optimizer_seen)

    def enter_root(self, inputs: Any, module: Any = None) -> None:
        """A root forward begins, of `module` where that is known; outside of the guard, and may raise SystemExit."""
        if self._guard.off or self._manual:
            return
        if not self._optimizer_seen:
            self._guard.run(self._roots.note, (id(module), torch.is_grad_enabled()))
        self._guard.run(self.take_root_call, inputs, module)
        may_train = getattr(module, "training", True) and torch.is_grad_enabled()
        if self._optimizer_seen and module is not None and not may_train:
            self._guard.run(self._take_evaluation_call, inputs)
        if self._options.plans and self._profiler.is_over:
            self._stopper.check(self.step + 1)  # the stream is whole: of the last step only the beginning was needed
        if not self._optimizer_seen:
            self.stop_if_asked()

    def take_root_call(self, inputs: Any, module: Any = None) -> None:
        """The same, within the guard."""
        if self._optimizer_seen:
            self._forward_seen = True
            self._enter_forward(inputs)
        elif self._roots.begins_step(
            optimizer_exists=optimizer_was_made(), has_gradients=lambda: module is None or has_gradients(module)
        ):
            self._end_step(FORWARD_ENTRY, inputs)
            self._profiler.enter_forward(self.step)
        self._inputs.take(inputs)
        self._phases.enter_forward()

    def _leave_root(self, module: Any) -> None:
        evaluates = self._optimizer_seen and not getattr(module, "training", True)
        self._phases.leave_forward(evaluates=evaluates)

    def _take_evaluation_call(self, inputs: Any) -> None:
        moment = self._evaluation_calls.take_call()
        if moment and can_afford_within(self._schedule, self._censuses.spending, elapsed=self._clock.elapsed):
            self._record_census(moment, inputs)
        if self._evaluation_calls.is_over and self._watches_silence:
            self._watches_silence = False
            self._modules.remove()

    def _watch_where_no_step_ends(self, now: float) -> None:
        """On the sampler's thread: a program that has trained may go on with calls of its models alone."""
        if not self._optimizer_seen or not self.is_listening or not self._clock.is_silent(now):
            return
        if not (self._modules.is_watching or self._modules.compiles or self._evaluation_calls.is_over):
            self._watches_silence = True
            self._guard.run(self._watch_modules)

    def _can_afford_look(self) -> bool:
        return can_afford_look(self._schedule, self._censuses.spending, elapsed=self._clock.elapsed)

    def _can_look_at_state(self) -> bool:
        """Before the first step as at a model's first call; later as within a step."""
        if self.step == 0:
            return self._schedule.steps is None
        return can_afford_within(self._schedule, self._censuses.spending, elapsed=self._clock.elapsed)

    def _enter_forward(self, inputs: Any) -> None:
        if self._entry_due:
            self._set_entry_due(False)
            with collector_rests():
                self._record_census(FORWARD_ENTRY, inputs)
                self._copies.leave_after(self.step, FORWARD_ENTRY)
        self._profiler.enter_forward(self.step)

    def _wants_entry(self, elapsed: float) -> bool:
        affordable = can_afford_entry(self._schedule, self._censuses.spending, step=self.step, elapsed=elapsed)
        return affordable and self._schedule.wants_entry(self.step)

    def _set_entry_due(self, due: bool) -> None:
        self._entry_due = self._modules.every_root = due

    def _end_step(self, moment: str, inputs: Any = None) -> None:
        elapsed = self._clock.end_step()
        self.step = step = self.step + 1
        self._modules.step = step + 1
        if step == 1:  # programs that start their own ranks may say only now which is which
            self._find_place()
        within = bool(self._phases.found or self._inputs.largest)
        counters = self._counters.read_after_step(step, self._clock.step_seconds, wanted=within)
        if within:
            counters = counters | self._phases.end_step() | self._inputs.end_step()
        self._write_step(elapsed, counters)
        if self._samples.asks or self._next_decision.has_come(step, elapsed=elapsed, counters=counters):
            with collector_rests():  # rings that the census sees must be there in the copy that is left after it
                self._decide(moment, inputs, elapsed, counters)
            spending = self._censuses.spending
            self._next_decision.plan(step, self._schedule, spending, elapsed=elapsed, find_planned=self._find_planned)
        self._clock.begin_step()

    def _decide(self, moment: str, inputs: Any, elapsed: float, counters: dict[str, int]) -> None:
        """What depends on the step's number, on the time, or on what was asked for: a census, what is watched next."""
        self._evaluation_calls.end_step()
        hook_seconds = self._guard.own_seconds - self._extra_seconds - self._censuses.spending.total.seconds
        self._watched.measure(self.step, elapsed, hook_seconds)
        self._counters.every_other = self._watched.is_overdrawn
        if counters:
            self._samples.open(self._counters.device_uuid)
        if self._options.hashes_after(self.step):
            self._record_parameters()
        if is_geometric(self.step):
            self._history.begin()
        asked = self._samples.take_request()
        due = is_due(self._schedule, self._censuses.spending, step=self.step, elapsed=elapsed, counters=counters)
        looks_closer = self._samples.is_closer_look_due(self.step, self._can_afford_look)
        due = looks_closer or due
        if asked and not due:
            self._record_census(REQUEST, inputs)
        if due:
            self._record_census(moment, inputs)
            self._set_entry_due(moment == STEP_END and self._wants_entry(elapsed))
            self._plan.after_census(self.step, self._censuses.tensor_bytes, training=self._optimizer_seen)
            self._copies.leave_after(self.step, moment)
        if asked or looks_closer:
            self._history.write(REQUEST if asked else TREND)
        self._choose_watching(due or self._profiler.wants_entry(self.step) or watches_calls(self.step))
        self._stop_above_budget(elapsed, hook_seconds)

    def _choose_watching(self, wanted: bool) -> None:
        self._watches_silence = False
        self._watched.marked = self._manual
        watches = self._watched.choose(self.step, wanted=wanted)
        if watches:
            self._watch_modules()
        elif self._optimizer_seen or self._manual:
            self._modules.remove()
        self._phases.begin_step(self.step, elapsed=self._watched.counted_seconds, watched=watches)

    def _find_planned(self, step: int, last: int) -> int:
        """The first step after `step` and before `last` after which there is something to decide by its number alone;
        `last` where there is none. What the census schedule plans by itself is the caller's."""
        if self._options.hash_at is not None:
            return step + 1
        planned = self._schedule.find_planned(step, min(last, next_watched_calls(step)))
        return self._profiler.find_entry(step, planned)

    def _find_place(self) -> None:
        place = find_place()
        self._options = self._options.at(place)
        self._schedule = self._options.make_schedule(place)

    def _stop_above_budget(self, elapsed: float, hook_seconds: float) -> None:
        spent = self._censuses.spending.total.seconds
        excess = describe_excess(
            hook_seconds=hook_seconds,
            census_seconds=spent,
            budget_percent=self._options.budget_percent,
            elapsed=elapsed,
            censuses_are_held_back=self._schedule.has_extra,
        )
        if excess is not None:
            self._write_note("warning", f"the recorder stopped looking: {excess}")
            self._write_end("budget", None)
            self._guard.say_once(excess)
            self._guard.switch_off()

    def _write_step(self, elapsed: float, counters: dict[str, int]) -> None:
        seconds = self._clock.step_seconds
        if not self._journal.write_step(self.step, time=elapsed, seconds=seconds, counters=counters):
            self._guard.say_once(str(self._journal.failure))
            self._guard.switch_off()
        elif counters:
            self._samples.take_step(self.step, counters)

    def _write_note(self, level: str, text: str) -> None:
        self._journal.write_note(level, text, step=self.step)

    def _record_parameters(self) -> None:
        for optimizer in self._optimizers.live():
            found = hash_parameters([optimizer])
            if found is not None:
                number = self._optimizers.number(optimizer)
                self._journal.write_parameters(found, step=self.step, optimizer=number)

    def _record_census(self, moment: str, inputs: Any) -> None:
        """Take and write one; what it takes within a step is not counted as the step's."""
        # Those within a step leave to the next one which modules were called.
        called = CalledModules() if is_within_step(moment) else self._modules.take_called()
        try:
            with self._clock.left_out():
                self._censuses.write(
                    step=self.step,
                    moment=moment,
                    inputs=inputs,
                    optimizers=self._optimizers.live(),
                    ignore=(self, self.__dict__, inputs),
                    called=called,
                    counters=self._counters.last,
                )
        except OSError as error:
            if is_from_signal_handler(error):  # TimeoutError is an OSError
                raise
            self._guard.switch_off(f"cannot write the recording: {error.strerror or error}")

    def _count_pause(self, seconds: float) -> None:
        self._count_cost(seconds)
        self._clock.leave_out(seconds)

    def _count_cost(self, seconds: float) -> None:
        self._extra_seconds += seconds
        self._guard.own_seconds += seconds

    def _finish(self, reason: str, exit_code: int | None) -> None:
        if self._modules.gave_up and self.step:
            self._journal.write_note("info", UNSEEN_COMPILED_CALLS, step=self.step)
        elif self._modules.compiles:
            self._journal.write_note("info", COMPILES, step=self.step)
        self._profiler.stop("the program ended first", steps=self.step)
        self._history.finish()
        self._journal.copy_last_sources()
        self._samples.tell_last()
        if self._journal.num_lost:
            self._write_note("warning", f"{self._journal.num_lost} rows are missing: the disk did not answer for long")
        self._write_end(reason, exit_code)

    def _write_end(self, reason: str, exit_code: int | None) -> None:
        row = {
            "reason": "stopped" if self._stopper.stopped else reason,
            "exit_code": exit_code,
            "steps": self.step,
            "seconds": round(self._clock.elapsed, 6),
            "own_seconds": round(self._guard.own_seconds, 6),
            "census_seconds": round(self._censuses.spending.total.seconds, 6),
            "sample_seconds": round(self._samples.own_seconds, 6),
        }
        self._journal.write_end(row | ({"num_forks": self._samples.num_forks} if self._samples.num_forks else {}))

    def stop_if_asked(self) -> None:
        """End the program where it was asked to run for so many steps only."""
        self._stopper.check(self.step)

    def _note_failure(self, failure: str) -> None:
        self._journal.write_note("failure", failure, step=self.step)
        self._write_end("recorder-failure", None)

    def _let_go(self) -> None:
        self._samples.close()
        self._modules.remove()
        self._profiler.stop("the recording stopped")
        self._journal.close()
        self._counters.close()
