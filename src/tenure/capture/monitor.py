"""The recorder inside the user's program: finds steps, takes censuses when due, writes rows, and does no harm.

Holds the program's objects only weakly between hooks, never synchronises, frees or collects, and counts the
time spent in its own hooks. A failure of ours is noted in the recording, switches us off, and training goes on.
"""

from __future__ import annotations

import _thread
import atexit
import os
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

from tenure.capture.calls import (
    is_inside_module_call,
    is_inside_step_or_backward,
    is_nested_step,
    optimizer_was_made,
)
from tenure.capture.census_writing import CensusWriter, TakeCensus
from tenure.capture.compiled import CompilationWatch
from tenure.capture.compiled_steps import CompiledSteps
from tenure.capture.counters import CounterReader
from tenure.capture.folders import OPTIONS_VARIABLE, RECORDING_VARIABLE, claim_process_folder
from tenure.capture.frames import locals_of
from tenure.capture.handlers import is_from_signal_handler
from tenure.capture.journal import Journal
from tenure.capture.known_optimizers import KnownOptimizers
from tenure.capture.module_calls import ModuleCalls
from tenure.capture.options import MonitorOptions
from tenure.capture.schedule import is_due, watches_calls
from tenure.capture.skipped_steps import ScalerWatch
from tenure.capture.step_profile import StepProfiler, choose_step
from tenure.capture.steps import OptimizerSequence, RootCalls
from tenure.store.format import TORCH_SEEN_FILE, name_census_file

if TYPE_CHECKING:
    from tenure.model.heap import Census
    from tenure.model.profile import StepProfile

MAX_FIRST_CALLS = 4
"""Root modules whose first call, before any optimizer step, brings a census: what is let go later is seen in use."""
UNSEEN_COMPILED_CALLS = (
    "This torch does not tell of compiled calls (2.6 and later do): forward entries were seen at calls of compiled "
    "modules only, and steps of compiled optimizers were not counted."
)
STEP_END, FORWARD_ENTRY, FIRST_CALL = "step-end", "forward-entry", "first-call"


class StoppedAfterSteps(SystemExit):
    """Ends the program after --stop-after steps, as `sys.exit(0)` would: finally blocks and atexit run."""


class Monitor:
    """Opened in a process that has imported torch; closed at its end. Writes nothing before the first step."""

    def __init__(
        self,
        claim_folder: Callable[[], Path],
        *,
        options: MonitorOptions | None = None,
        take_census: TakeCensus | None = None,
    ) -> None:
        self._journal = Journal(claim_folder)
        self._options = options or MonitorOptions()
        self._lock = threading.RLock()
        self._off = False
        self._busy = False
        self._manual = False
        self._counters = CounterReader()
        self._sequence = OptimizerSequence()
        self._roots = RootCalls()
        self._optimizers = KnownOptimizers()
        self._optimizer_seen = False
        self._optimizer_steps = 0
        self._entry_due = False
        self._forward_seen = False
        self._compiled_calls: dict[int, CompiledSteps] = {}
        self._stopped = False
        self._schedule = self._options.make_schedule()
        self._start = self._last_step_time = time.perf_counter()
        self._censuses = CensusWriter(self._journal, take_census)
        self._num_first_calls = 0
        self.step = 0
        self.own_seconds = 0.0
        self._profiler = self._make_profiler()
        self._modules = ModuleCalls(self._guard, lambda: self._off or self._busy, self._at_new_root, self._enter_root)
        self._handles = [register_optimizer_step_post_hook(self._make_optimizer_hook())]
        self._scalers = ScalerWatch(lambda: self._optimizer_steps, self._after_skipped_step)
        self._watch = CompilationWatch(self)
        self._modules.install(in_compiled_call=self._watch.is_in_compiled_call)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_call_weakly(self, Monitor.abandon))

    @property
    def is_recording(self) -> bool:
        """False once closed, forked, or switched off by a failure."""
        return not self._off

    def begin_step(self) -> None:
        """Say in code that a step begins; from then on only such steps count."""
        self._manual = True
        self._modules.remove()
        if self._entry_due or self._profiler.wants_entry(self.step):
            self._guard(self._enter_forward, None)

    def end_step(self) -> None:
        """Say in code that a step ends."""
        self._manual = True
        self._guard(self._end_step, STEP_END)

    def request_census(self) -> str | None:
        """Take a census now, whatever the schedule says; its file name, or None after a failure of ours."""
        before = self._censuses.num_written
        self._guard(self._record_census, "request", None)
        return name_census_file(self.step, "request") if self._censuses.num_written > before else None

    def close(self, reason: str = "exit", exit_code: int | None = None) -> None:
        """Write what is left and the end row. Later steps are not recorded."""
        with self._lock:
            self._guard(self._finish, reason, exit_code)
            self._switch_off()
            # Only here, outside all hooks: torch iterates over its optimizer hooks while they run.
            for handle in self._handles:
                handle.remove()
            self._handles.clear()
            self._watch.close()
            self._scalers.close()

    def abandon(self) -> None:
        """Go silent without a trace: a forked child must not write into its parent's recording."""
        self._off = True
        self._profiler.stop("the process was forked")
        self._lock = threading.RLock()
        self._journal.abandon()

    def _make_optimizer_hook(self) -> Callable[[Any, Any, Any], None]:
        # is_compiling comes first so that dynamo, which traces hooks, sees nothing of us (torch >= 2.1).
        # The closure keeps dynamo from looking at the monitor behind it.
        def tenure_optimizer_hook(optimizer: Any, args: Any, kwargs: Any) -> None:
            if torch.compiler.is_compiling():
                return
            self._after_optimizer_step(optimizer)

        return tenure_optimizer_hook

    def _after_optimizer_step(self, optimizer: Any) -> None:
        self._optimizer_steps += 1
        if self._off or self._manual:
            return
        running = self._compiled_calls.get(threading.get_ident())
        if running is not None:
            running.count(optimizer)
        self._guard(self._take_hooked_step, optimizer, sys._getframe(2))
        self._stop_if_asked()

    def _after_skipped_step(self, optimizer: Any) -> None:
        if self._off or self._manual or not isinstance(optimizer, Optimizer):
            return
        self._guard(self._take_optimizer_step, optimizer)
        self._stop_if_asked()

    def _take_hooked_step(self, optimizer: Any, wrapper: Any) -> None:
        if not is_nested_step(wrapper):
            self._take_optimizer_step(optimizer)

    def _take_optimizer_step(self, optimizer: Any) -> None:
        # A step after a census is watched to its end: which modules are called tells what is in use.
        self._optimizer_seen = True
        after_forward, self._forward_seen = self._forward_seen, False
        ends_step = self._sequence.ends_step(self._optimizers.number(optimizer), after_forward=after_forward)
        if ends_step:
            self._modules.remove()
        if self._sequence.asks_for_forward:
            self._watch_modules()
        if ends_step:
            self._end_step(STEP_END)

    def _watch_modules(self) -> None:
        self._modules.install(in_compiled_call=self._watch.is_in_compiled_call)

    def _at_new_root(self) -> None:
        wanted = self.step == 0 and self._num_first_calls < MAX_FIRST_CALLS and self._schedule.steps is None
        if wanted:
            self._num_first_calls += 1
            self._record_census(f"{FIRST_CALL}-{self._num_first_calls}", None)

    def before_compilation(self, *, sees_calls: bool) -> None:
        """As `CompiledCallListener` says."""
        self._profiler.stop("torch.compile is in use")
        if not sees_calls:
            self._modules.give_up()
            self._scalers.close()

    def before_compiled_module(self, args: Any, kwargs: Any) -> None:
        """As `CompiledCallListener` says."""
        self._modules.suspend()
        if self._wants_root_calls() and not is_inside_module_call(sys._getframe(2), own_calls=0):
            self._enter_root((args, kwargs))

    def at_compiled_call(self, wrapper: Any) -> None:
        """As `CompiledCallListener` says."""
        self._modules.suspend()
        self._scalers.suspend()
        if not self._manual:
            self._guard(self._begin_compiled_call, wrapper)

    def after_compiled_call(self) -> None:
        """As `CompiledCallListener` says."""
        call = self._compiled_calls.pop(threading.get_ident(), None)
        if self._off or self._manual:
            return
        if call is not None:
            self._guard(self._end_compiled_call, call)
        if not self._watch.is_in_compiled_call:
            self._modules.resume()
            self._scalers.resume()
        self._stop_if_asked()

    def _begin_compiled_call(self, wrapper: Any) -> None:
        values = dict(locals_of(wrapper))
        function, args, kwargs = values.get("fn"), values.get("args"), values.get("kwargs")
        del values
        call = CompiledSteps(function, args, kwargs)
        self._compiled_calls[threading.get_ident()] = call
        del function
        if call.is_step or not self._wants_root_calls() or is_inside_step_or_backward(wrapper):
            return
        if not is_inside_module_call(wrapper, own_calls=0):
            self._take_root_call((args, kwargs))

    def _end_compiled_call(self, call: CompiledSteps) -> None:
        for optimizer in call.unseen():
            self._optimizer_steps += 1
            self._take_optimizer_step(optimizer)

    def _wants_root_calls(self) -> bool:
        entry_wanted = self._entry_due or self._profiler.wants_entry(self.step)
        return not self._manual and (entry_wanted or self._sequence.asks_for_forward or not self._optimizer_seen)

    def _enter_root(self, inputs: Any) -> None:
        if self._off or self._manual:
            return
        self._guard(self._take_root_call, inputs)
        if not self._optimizer_seen:
            self._stop_if_asked()

    def _take_root_call(self, inputs: Any) -> None:
        if self._optimizer_seen:
            self._forward_seen = True
            self._enter_forward(inputs)
        elif self._roots.begins_step(optimizer_exists=optimizer_was_made()):
            self._end_step(FORWARD_ENTRY, inputs)
            self._profiler.enter_forward(self.step)

    def _enter_forward(self, inputs: Any) -> None:
        if self._entry_due:
            self._set_entry_due(False)
            self._record_census(FORWARD_ENTRY, inputs)
        self._profiler.enter_forward(self.step)

    def _set_entry_due(self, due: bool) -> None:
        self._entry_due = self._modules.every_root = due

    def _end_step(self, moment: str, inputs: Any = None) -> None:
        now = time.perf_counter()
        seconds, self._last_step_time = now - self._last_step_time, now
        self.step += 1
        counters = self._counters.read_after_step(self.step, seconds)
        self._write_step(now - self._start, seconds, counters)
        due = is_due(
            self._schedule,
            self._censuses.spending,
            step=self.step,
            elapsed=now - self._start,
            counters=counters,
        )
        if due:
            self._record_census(moment, inputs)
            self._set_entry_due(moment == STEP_END)
            if self._entry_due and not self._manual:
                self._watch_modules()
        calls_wanted = self._profiler.wants_entry(self.step) or watches_calls(self.step)
        if calls_wanted and not self._manual:
            self._watch_modules()
        self._last_step_time = time.perf_counter()

    def _write_step(self, at: float, seconds: float, counters: dict[str, int]) -> None:
        self._journal.write_step(self.step, time=at, seconds=seconds, counters=counters)
        if self._journal.failure is not None:
            self._say_once(self._journal.failure)
            self._switch_off()

    def _record_census(self, moment: str, inputs: Any) -> None:
        try:
            self._censuses.write(
                step=self.step,
                moment=moment,
                inputs=inputs,
                optimizers=self._optimizers.live(),
                ignore=(self, self.__dict__, inputs),
                called=self._modules.take_called(),
                counters=self._counters.last,
            )
        except OSError as error:
            if is_from_signal_handler(error):  # TimeoutError is an OSError
                raise
            self._switch_off(f"cannot write the recording: {error.strerror or error}")

    def _make_profiler(self) -> StepProfiler:
        def take_census(step: int) -> Census:
            census, spent = self._censuses.take_peak(step, self._optimizers.live(), ignore=(self, self.__dict__))
            self.own_seconds += spent
            self._last_step_time += spent
            return census

        def write(profile: StepProfile, census: Census | None) -> None:
            self.own_seconds += profile.seconds
            if census is not None:
                self._journal.write_census(census)
            self._journal.write_profile(profile)

        chosen = self._options.profile_step
        return StepProfiler(
            choose_step(self._schedule) if chosen is None else chosen,
            take_census=take_census,
            write=write,
            note=lambda text: self._journal.write_note("info", text, step=self.step),
            is_busy=lambda: self._busy,
        )

    def _finish(self, reason: str, exit_code: int | None) -> None:
        if self._modules.gave_up and self.step:
            self._journal.write_note("info", UNSEEN_COMPILED_CALLS, step=self.step)
        self._profiler.stop("the program ended first", steps=self.step)
        self._journal.copy_last_sources()
        self._write_end(reason, exit_code)

    def _write_end(self, reason: str, exit_code: int | None) -> None:
        row = {
            "reason": "stopped" if self._stopped else reason,
            "exit_code": exit_code,
            "steps": self.step,
            "seconds": round(time.perf_counter() - self._start, 6),
            "own_seconds": round(self.own_seconds, 6),
            "census_seconds": round(self._censuses.spending.seconds, 6),
        }
        self._journal.write_end(row)

    def _stop_if_asked(self) -> None:
        if self._options.stop_after is None or self.step < self._options.stop_after:
            return
        self._stopped = True
        if threading.current_thread() is threading.main_thread():
            raise StoppedAfterSteps(0)
        _thread.interrupt_main()

    def _guard(self, work: Callable[..., None], *args: Any) -> None:
        """Run our own code so that nothing of it reaches the program, and count its time."""
        if self._off:
            return
        with self._lock:
            if self._busy:
                return
            self._busy = True
            started = time.perf_counter()
            try:
                work(*args)
            except Exception as error:
                if is_from_signal_handler(error):
                    raise
                self._switch_off(_describe_failure(error))
            finally:
                self._busy = False
                self.own_seconds += time.perf_counter() - started

    def _switch_off(self, failure: str | None = None) -> None:
        if failure is not None:
            with suppress(Exception):
                self._journal.write_note("failure", failure, step=self.step)
                self._write_end("recorder-failure", None)
            self._say_once(failure.splitlines()[0])
        self._off = True
        with suppress(Exception):
            self._modules.remove()
            self._profiler.stop("the recording stopped")
            self._journal.close()

    def _say_once(self, text: str) -> None:
        if not self._off:
            with suppress(Exception):
                print(f"tenure: recording stopped, the program goes on: {text}", file=sys.stderr)


def start_from_environment() -> Monitor | None:
    """Begin to record this process as `tenure run` asked through the environment; None when it did not."""
    run_folder = os.environ.get(RECORDING_VARIABLE)
    if not run_folder:
        return None
    with suppress(OSError):
        (Path(run_folder) / TORCH_SEEN_FILE).touch()
    options = MonitorOptions.from_json(os.environ.get(OPTIONS_VARIABLE, ""))
    monitor = Monitor(lambda: claim_process_folder(Path(run_folder)), options=options)
    atexit.register(_close_at_exit, monitor)
    return monitor


def _close_at_exit(monitor: Monitor) -> None:
    # Python itself leaves the uncaught exception here before atexit runs; no hook of ours is needed to see it.
    error = getattr(sys, "last_type", None)
    monitor.close("exit" if error is None else "exception", None if error is None else 1)


def _call_weakly(monitor: Monitor, method: Callable[[Monitor], None]) -> Callable[[], None]:
    reference = weakref.ref(monitor)

    def call() -> None:
        target = reference()
        if target is not None:
            method(target)

    return call


def _describe_failure(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = "\n".join(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames)
    return f"{type(error).__name__}: {error}\n{places}"
