"""What is recorded of steps that were found: rows, censuses and profiles when they are due, copies and histories.

Everything here runs within the guard, and knows no hook: a monitor says where forwards begin and steps end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tenure.capture.copies.experiment_copy import ExperimentCopies
from tenure.capture.counters import CounterReader
from tenure.capture.guarding.collector import collector_rests
from tenure.capture.guarding.guard import Guard
from tenure.capture.guarding.handlers import is_from_signal_handler
from tenure.capture.options import MonitorOptions
from tenure.capture.profile.profile_planning import ProfilePlan
from tenure.capture.sampling.between_steps import BetweenSteps
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
from tenure.capture.steps.unusual_calls import UnusualCalls
from tenure.capture.steps.watched_steps import WatchedSteps
from tenure.capture.system.ranks import find_place
from tenure.capture.writing.census_writing import CensusWriter, TakeCensus
from tenure.capture.writing.history_writing import TREND, HistoryOfRecording, WrittenHistory
from tenure.capture.writing.journal import Journal
from tenure.capture.writing.parameter_hashes import hash_parameters
from tenure.capture.writing.profile_writing import ProfileOfRecording
from tenure.model.recording import OUT_OF_MEMORY, is_within_step
from tenure.store.format import name_census_file

MAX_FIRST_CALLS = 4
"""Root modules whose first call, before any optimizer step, brings a census: what is let go later is seen in use."""
STEP_END, FORWARD_ENTRY, FIRST_CALL, REQUEST = "step-end", "forward-entry", "first-call", "request"


class StepRecorder:
    """Writes nothing before the first step. `modules` are watched where `watch_modules` is called, until it asks them
    not to be; `period` gives how many root calls make one turn of a program without an optimizer."""

    def __init__(
        self,
        journal: Journal,
        guard: Guard,
        modules: ModuleCalls,
        options: MonitorOptions,
        *,
        take_census: TakeCensus | None,
        watch_modules: Callable[[], None],
        period: Callable[[], int],
    ) -> None:
        self._journal = journal
        self._guard = guard
        self._modules = modules
        self._watch_modules = watch_modules
        self._options = options
        self._schedule = Schedule()
        self.step = 0
        """Steps that have ended."""
        self.trains = False
        """Whether an optimizer has stepped."""
        self._clock = RunClock()
        self._counters = CounterReader()
        self.phases = PhaseCounters(self._counters.read_within_step)
        self._inputs = InputSizes()
        self._evaluation_calls = EvaluationCalls()
        self._unusual_calls = UnusualCalls()
        self._watches_silence = False
        self.optimizers = KnownOptimizers()
        self._censuses = CensusWriter(journal, take_census)
        self._entry_due = False
        self._num_first_calls = 0
        self._extra_seconds = 0.0
        guard.run(self._find_place)
        self._copies = ExperimentCopies(journal, step=self._options.copy_step)
        self._samples = self._make_samples()
        self._history = HistoryOfRecording(
            lambda reason: journal.write_history(reason, step=self.step),
            self._write_note,
            entries=self._options.history_entries,
            on_out_of_memory=lambda: guard.run(self._take_out_of_memory),
        )
        self.profiler = ProfileOfRecording(
            journal,
            self._censuses,
            self.optimizers,
            ignore=(self, self.__dict__),
            current_step=lambda: self.step,
            on_pause=self._count_pause,
            on_cost=self._count_cost,
            is_busy=lambda: guard.busy,
            period=lambda: 1 if self.trains else period(),
            as_stream=self._options.plans,
        ).profiler
        self._watched = WatchedSteps(modules, self.phases)
        self._next_decision = NextDecision(self._watched)
        self._plan = ProfilePlan(self.profiler, lambda: self._schedule, self._options.profile_step)
        guard.run(self._plan.begin)

    def _make_samples(self) -> BetweenSteps:
        return BetweenSteps(
            self._journal,
            current_step=lambda: self.step,
            is_busy=lambda: self._guard.busy,
            note=self._write_note,
            start=self._clock.start,
            closer_looks=lambda: self._schedule.has_extra,
            on_look=self._watch_where_no_step_ends,
            lost_descriptors=lambda: self._counters.lost_descriptor,
        )

    @property
    def wants_entry(self) -> bool:
        """Whether something is due at the beginning of the next forward."""
        return self._entry_due or self.profiler.wants_entry(self.step)

    @property
    def has_whole_stream(self) -> bool:
        """Whether the run was asked for a memory stream, and has it: of the last step only the beginning was needed."""
        return self._options.plans and self.profiler.is_over

    def mark_steps(self) -> None:
        """From now on steps are marked in code, and calls of modules tell nothing."""
        self._watched.marked = True
        self._modules.remove()

    def take_optimizer(self, optimizer: Any) -> int:
        """An optimizer has stepped, maybe as the first of all or for its first time; its number."""
        if not self.trains:
            self._schedule = self._schedule.begin_training(self.step)
            self._plan.at_first_optimizer_step(self.step)
            self.trains = True
            self._next_decision.at_once()
        number = self.optimizers.number(optimizer)
        if number > self._plan.newest_optimizer:
            self._plan.at_new_optimizer(number, self.step)
            self._next_decision.at_once()
        return number

    def take_new_root(self) -> None:
        """A root module is called that was not called before."""
        wanted = self.step == 0 and self._num_first_calls < MAX_FIRST_CALLS and self._schedule.steps is None
        if wanted:
            self._num_first_calls += 1
            self.record_census(f"{FIRST_CALL}-{self._num_first_calls}", None)
        self._plan.at_new_root(self.step, training=self.trains)
        self._next_decision.at_once()
        self._history.begin()

    def enter_forward(self, inputs: Any) -> None:
        """A forward begins: the census that is due there, and the profile's own beginning and end."""
        if self._entry_due:
            self._set_entry_due(False)
            with collector_rests():
                self.record_census(FORWARD_ENTRY, inputs)
                self._copies.leave_after(self.step, FORWARD_ENTRY)
        self.profiler.enter_forward(self.step)

    def measure_forward(self, inputs: Any) -> None:
        """What it is given, and the counters as it begins."""
        self._inputs.take(inputs)
        self.phases.enter_forward()

    def leave_forward(self, module: Any, output: Any) -> None:
        """The forward of this root is over."""
        trains = bool(getattr(module, "training", True))
        self.phases.leave_forward(evaluates=self.trains and not trains)
        unusual = self._unusual_calls.take_return(output) if self.trains and trains else None
        moment = self._evaluation_calls.take_return(output) or unusual
        if moment and self._can_afford_within():
            self.record_census(moment, None)

    def take_evaluation_call(self, inputs: Any, module: Any, *, with_graph: bool) -> None:
        """A root is called that trains nothing, after an optimizer has stepped; `with_graph`, with autograd on."""
        moment = self._evaluation_calls.take_call(with_graph=with_graph and id(module) in self._modules.seen_training)
        if moment and self._can_afford_within():
            self.record_census(moment, inputs)
        if self._evaluation_calls.is_over and self._watches_silence:
            self._watches_silence = False
            self._modules.remove()

    def can_look_at_state(self) -> bool:
        """Before the first step as at a model's first call; later as within a step."""
        return self._schedule.steps is None if self.step == 0 else self._can_afford_within()

    def end_step(self, moment: str, inputs: Any = None) -> None:
        """A step is over: its row, and what is due after it."""
        elapsed = self._clock.end_step()
        self.step = step = self.step + 1
        self._modules.step = step + 1
        if step == 1:  # programs that start their own ranks may say only now which is which
            self._find_place()
        within = bool(self.phases.found or self._inputs.largest)
        counters = self._counters.read_after_step(step, self._clock.step_seconds, wanted=within)
        if within:
            counters = counters | self.phases.end_step() | self._inputs.end_step()
        counters = counters | self._evaluation_calls.take_backward() | self._unusual_calls.take_backward()
        self._write_step(elapsed, counters)
        if self._samples.asks or self._next_decision.has_come(step, elapsed=elapsed, counters=counters):
            with collector_rests():  # rings that the census sees must be there in the copy that is left after it
                self._decide(moment, inputs, elapsed, counters)
            spending = self._censuses.spending
            self._next_decision.plan(step, self._schedule, spending, elapsed=elapsed, find_planned=self._find_planned)
        self._clock.begin_step()

    def record_census(self, moment: str, inputs: Any) -> None:
        """Take and write one; what it takes within a step is not counted as the step's."""
        # Those within a step leave to the next one which modules were called.
        called = CalledModules() if is_within_step(moment) else self._modules.take_called()
        try:
            with self._clock.left_out():
                self._censuses.write(
                    step=self.step,
                    moment=moment,
                    inputs=inputs,
                    optimizers=self.optimizers.live(),
                    ignore=(self, self.__dict__, inputs),
                    called=called,
                    counters=self._counters.last,
                )
        except OSError as error:
            if is_from_signal_handler(error):  # TimeoutError is an OSError
                raise
            self._guard.switch_off(f"cannot write the recording: {error.strerror or error}")

    def request_census(self) -> str | None:
        """Take a census now, whatever the schedule says; its file name, or None after a failure of ours."""
        before = self._censuses.num_written
        self._guard.run(self.record_census, REQUEST, None)
        return name_census_file(self.step, REQUEST) if self._censuses.num_written > before else None

    def write_history(self, reason: str) -> WrittenHistory | None:
        """Copy what the allocator has and its record, if it keeps one; None without a device."""
        return self._history.write(reason)

    def leave_copy(self) -> None:
        """The program is over: leave a copy of its process for experiments, where none was left."""
        self._copies.leave_at_end(self.step)

    def finish(self) -> None:
        """What is written at the end only, but for the end row."""
        self.profiler.stop("the program ended first", steps=self.step)
        self._history.finish()
        self._journal.copy_last_sources()
        self._samples.tell_last()
        if self._journal.num_lost:
            self._write_note("warning", f"{self._journal.num_lost} rows are missing: the disk did not answer for long")

    def write_end(self, reason: str, exit_code: int | None) -> None:
        """The end row: after it no other comes."""
        row = {
            "reason": reason,
            "exit_code": exit_code,
            "steps": self.step,
            "seconds": round(self._clock.elapsed, 6),
            "own_seconds": round(self._guard.own_seconds, 6),
            "census_seconds": round(self._censuses.spending.total.seconds, 6),
            "sample_seconds": round(self._samples.own_seconds, 6),
        }
        self._journal.write_end(row | ({"num_forks": self._samples.num_forks} if self._samples.num_forks else {}))

    def let_go(self) -> None:
        """Close what is open; nothing is recorded any more."""
        self._samples.close()
        self._modules.close()
        self.profiler.stop("the recording stopped")
        self._journal.close()
        self._counters.close()

    def give_back_signal(self) -> None:
        """Leave the signal that asks for a census as it was found."""
        self._samples.give_back_signal()

    def abandon(self) -> None:
        """Go silent without a trace, in a forked child."""
        self._journal.abandon()
        self.profiler.abandon()
        self._samples.abandon()
        self._counters.close()

    def _decide(self, moment: str, inputs: Any, elapsed: float, counters: dict[str, int]) -> None:
        """What depends on the step's number, on the time, or on what was asked for: a census, what is watched next."""
        self._evaluation_calls.end_step(watched=self._modules.is_watching)
        self._unusual_calls.end_step(watched=self._modules.is_watching)
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
            self.record_census(REQUEST, inputs)
        if due:
            self.record_census(moment, inputs)
            self._set_entry_due(moment == STEP_END and self._wants_entry(elapsed))
            self._plan.after_census(self.step, self._censuses.tensor_bytes, training=self.trains)
            self._copies.leave_after(self.step, moment)
        if asked or looks_closer:
            self._history.write(REQUEST if asked else TREND)
        self._choose_watching(due or self.profiler.wants_entry(self.step) or watches_calls(self.step))
        self._stop_above_budget(elapsed, hook_seconds)

    def _choose_watching(self, wanted: bool) -> None:
        self._watches_silence = False
        watches = self._watched.choose(self.step, wanted=wanted)
        if watches:
            self._watch_modules()
        elif self.trains or self._watched.marked:
            self._modules.remove()
        self.phases.begin_step(self.step, elapsed=self._watched.counted_seconds, watched=watches)

    def _watch_where_no_step_ends(self, now: float) -> None:
        """On the sampler's thread: a program that has trained may go on with calls of its models alone."""
        if not self.trains or self._guard.off or self._watched.marked or not self._clock.is_silent(now):
            return
        if not (self._modules.is_watching or self._modules.compiles or self._evaluation_calls.is_over):
            self._watches_silence = True
            self._guard.run(self._watch_modules)

    def _find_planned(self, step: int, last: int) -> int:
        """The first step after `step` and before `last` after which there is something to decide by its number alone;
        `last` where there is none. What the census schedule plans by itself is the caller's."""
        if self._options.hash_at is not None:
            return step + 1
        planned = self._schedule.find_planned(step, min(last, next_watched_calls(step)))
        return self.profiler.find_entry(step, planned)

    def _wants_entry(self, elapsed: float) -> bool:
        affordable = can_afford_entry(self._schedule, self._censuses.spending, step=self.step, elapsed=elapsed)
        return affordable and self._schedule.wants_entry(self.step)

    def _set_entry_due(self, due: bool) -> None:
        self._entry_due = self._modules.every_root = due

    def _can_afford_look(self) -> bool:
        return can_afford_look(self._schedule, self._censuses.spending, elapsed=self._clock.elapsed)

    def _can_afford_within(self) -> bool:
        return can_afford_within(self._schedule, self._censuses.spending, elapsed=self._clock.elapsed)

    def _find_place(self) -> None:
        place = find_place()
        self._options = self._options.at(place)
        self._schedule = self._options.make_schedule(place)

    def _take_out_of_memory(self) -> None:
        with self._clock.left_out():
            is_first = self._history.write_out_of_memory()
        if is_first:
            self.record_census(OUT_OF_MEMORY, None)

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
            self.write_end("budget", None)
            self._guard.say_once(excess)
            self._guard.switch_off()

    def _record_parameters(self) -> None:
        for optimizer in self.optimizers.live():
            found = hash_parameters([optimizer])
            if found is not None:
                number = self.optimizers.number(optimizer)
                self._journal.write_parameters(found, step=self.step, optimizer=number)

    def _write_step(self, elapsed: float, counters: dict[str, int]) -> None:
        seconds = self._clock.step_seconds
        if not self._journal.write_step(self.step, time=elapsed, seconds=seconds, counters=counters):
            self._guard.say_once(str(self._journal.failure))
            self._guard.switch_off()
        elif counters:
            self._samples.take_step(self.step, counters)

    def _write_note(self, level: str, text: str) -> None:
        self._journal.write_note(level, text, step=self.step)

    def _count_pause(self, seconds: float) -> None:
        self._count_cost(seconds)
        self._clock.leave_out(seconds)

    def _count_cost(self, seconds: float) -> None:
        self._extra_seconds += seconds
        self._guard.own_seconds += seconds
