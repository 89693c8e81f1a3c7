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
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook

from tenure.capture.calls import has_parameters, is_inside_module_call, is_nested_step, optimizer_was_made
from tenure.capture.compiled import CompilationWatch
from tenure.capture.counters import CounterReader
from tenure.capture.folders import OPTIONS_VARIABLE, RECORDING_VARIABLE, claim_process_folder
from tenure.capture.handlers import is_from_signal_handler
from tenure.capture.journal import Journal
from tenure.capture.options import MonitorOptions
from tenure.capture.schedule import Spending, is_due
from tenure.capture.step_profile import PEAK, StepProfiler, choose_step
from tenure.capture.steps import OptimizerSequence, RootCalls
from tenure.store.format import TORCH_SEEN_FILE, name_census_file

if TYPE_CHECKING:
    from tenure.model.heap import Census
    from tenure.model.profile import StepProfile

MAX_KNOWN_MODULES = 100_000
MAX_FIRST_CALLS = 4
"""Root modules whose first call, before any optimizer step, brings a census: what is let go later is seen in use."""
STEP_END, FORWARD_ENTRY, FIRST_CALL = "step-end", "forward-entry", "first-call"


class TakeCensus(Protocol):
    """`capture.census.take_census`, or a stand-in for it."""

    def __call__(
        self,
        *,
        step: int,
        moment: str,
        inputs: object = None,
        optimizers: Sequence[object] = (),
        ignore: Sequence[object] = (),
    ) -> Census:
        """A census of this process, now."""
        ...


class _WeakSequence(Sequence[Any]):
    """Objects that are not held: a list of them would be an owner that a census counts and cannot see."""

    def __init__(self, references: list[weakref.ref[Any]]) -> None:
        self._references = references

    def __len__(self) -> int:
        return len(self._references)

    def __getitem__(self, at: Any) -> Any:
        return self._references[at]()


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
        self._take_census = take_census
        self._lock = threading.RLock()
        self._off = False
        self._busy = False
        self._manual = False
        self._counters = CounterReader()
        self._sequence = OptimizerSequence()
        self._roots = RootCalls()
        self._optimizers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._num_optimizers = 0
        self._known_modules: dict[int, bool] = {}
        self._optimizer_seen = False
        self._entry_due = False
        self._forward_seen = False
        self._called: set[int] = set()
        self._module_hooks: tuple[Any, ...] = ()
        self._root_call: tuple[Any, ...] | None = None
        self._compiles = False
        self._stopped = False
        self._spending = Spending()
        self._schedule = self._options.make_schedule()
        self._start = self._last_step_time = time.perf_counter()
        self._num_censuses = 0
        self._num_first_calls = 0
        self.step = 0
        self.own_seconds = 0.0
        self._profiler = self._make_profiler()
        self._handles = [register_optimizer_step_post_hook(self._make_optimizer_hook())]
        self._watch = CompilationWatch(self._before_compilation, self._at_compiled_call)
        self._install_module_hooks()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_call_weakly(self, Monitor.abandon))

    @property
    def is_recording(self) -> bool:
        """False once closed, forked, or switched off by a failure."""
        return not self._off

    def begin_step(self) -> None:
        """Say in code that a step begins; from then on only such steps count."""
        self._manual = True
        self._remove_module_hooks()
        if self._entry_due or self._profiler.wants_entry(self.step):
            self._guard(self._enter_forward, None)

    def end_step(self) -> None:
        """Say in code that a step ends."""
        self._manual = True
        self._guard(self._end_step, STEP_END)

    def request_census(self) -> str | None:
        """Take a census now, whatever the schedule says; its file name, or None after a failure of ours."""
        before = self._num_censuses
        self._guard(self._record_census, "request", None)
        return name_census_file(self.step, "request") if self._num_censuses > before else None

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
        if self._off or self._manual:
            return
        self._guard(self._take_optimizer_step, optimizer, sys._getframe(2))
        self._stop_if_asked()

    def _take_optimizer_step(self, optimizer: Any, wrapper: Any) -> None:
        if is_nested_step(wrapper):
            return
        # A step after a census is watched to its end: which modules are called tells what is in use.
        self._optimizer_seen = True
        self._remove_module_hooks()
        after_forward, self._forward_seen = self._forward_seen, False
        ends_step = self._sequence.ends_step(self._number_optimizer(optimizer), after_forward=after_forward)
        if self._sequence.asks_for_forward:
            self._install_module_hooks()
        if ends_step:
            self._end_step(STEP_END)

    def _number_optimizer(self, optimizer: Any) -> int:
        known = self._optimizers.get(id(optimizer))
        if known is not None and known[0]() is optimizer:
            return known[1]
        number = self._num_optimizers
        self._num_optimizers += 1
        self._optimizers[id(optimizer)] = (weakref.ref(optimizer), number)
        return number

    def _live_optimizers(self) -> Sequence[Any]:
        found = (reference for reference, _ in self._optimizers.values())
        return _WeakSequence([reference for reference in found if reference() is not None])

    def _install_module_hooks(self) -> None:
        """Two hooks: the first asks torch to give the second the keyword arguments too, for this one call."""
        if self._module_hooks or self._compiles:
            return

        def tenure_prepare_hook(module: Any, args: Any) -> None:
            if torch.compiler.is_compiling():
                return
            self._before_forward(module, args)

        def tenure_forward_hook(module: Any, args: Any, kwargs: Any = None) -> None:
            if torch.compiler.is_compiling():
                return
            if self._root_call is not None:
                self._at_root_call(module, args, kwargs)

        first = register_module_forward_pre_hook(tenure_prepare_hook)
        second = register_module_forward_pre_hook(tenure_forward_hook)
        self._module_hooks = (first, second)

    def _remove_module_hooks(self) -> None:
        for handle in self._module_hooks:
            handle.remove()
        self._module_hooks = ()

    def _before_forward(self, module: Any, args: Any) -> None:
        if self._off or self._busy or not self._module_hooks:
            return
        if self._known_modules.get(id(module)) is False and not self._entry_due:
            return
        self._guard(self._find_root, module)

    def _find_root(self, module: Any) -> None:
        """A root call enters a module with parameters while no other module's forward is running.

        A loss or an activation called between compiled parts has no parameters: it is no model's forward.
        """
        is_root = has_parameters(module) and not is_inside_module_call(sys._getframe(4))
        if len(self._known_modules) >= MAX_KNOWN_MODULES:
            self._known_modules.clear()
            self._called.clear()
        is_new = id(module) not in self._known_modules
        self._known_modules[id(module)] = is_root
        if not is_root:
            return
        self._called.add(id(module))
        if is_new and self._wants_first_call():
            self._num_first_calls += 1
            self._record_census(f"{FIRST_CALL}-{self._num_first_calls}", None)
        second = self._module_hooks[1]
        with_kwargs = module.__dict__.get("_forward_pre_hooks_with_kwargs")
        if with_kwargs is not None:
            with_kwargs[second.id] = True
        self._root_call = (threading.get_ident(),)

    def _wants_first_call(self) -> bool:
        return self.step == 0 and self._num_first_calls < MAX_FIRST_CALLS and self._schedule.steps is None

    def _at_root_call(self, module: Any, args: Any, kwargs: Any) -> None:
        if self._root_call != (threading.get_ident(),):
            return
        self._root_call = None
        with_kwargs = module.__dict__.get("_forward_pre_hooks_with_kwargs")
        if with_kwargs is not None and self._module_hooks:
            with_kwargs.pop(self._module_hooks[1].id, None)
        self._enter_root((args, kwargs))

    def _before_compilation(self) -> None:
        self._compiles = True
        self._profiler.stop("torch.compile is in use")
        self._remove_module_hooks()

    def _at_compiled_call(self, args: Any, kwargs: Any) -> None:
        wanted = self._entry_due or not self._optimizer_seen
        if wanted and not is_inside_module_call(sys._getframe(2), own_calls=0):
            self._enter_root((args, kwargs))

    def _enter_root(self, inputs: Any) -> None:
        if self._off or self._manual:
            return
        if self._optimizer_seen:
            self._forward_seen = True
            self._guard(self._enter_forward, inputs)
            return
        self._guard(self._take_root_call, inputs)
        self._stop_if_asked()

    def _take_root_call(self, inputs: Any) -> None:
        if self._roots.begins_step(optimizer_exists=optimizer_was_made()):
            self._end_step(FORWARD_ENTRY, inputs)
            self._profiler.enter_forward(self.step)

    def _enter_forward(self, inputs: Any) -> None:
        if self._entry_due:
            self._entry_due = False
            self._record_census(FORWARD_ENTRY, inputs)
        self._profiler.enter_forward(self.step)

    def _end_step(self, moment: str, inputs: Any = None) -> None:
        now = time.perf_counter()
        seconds, self._last_step_time = now - self._last_step_time, now
        self.step += 1
        counters = self._counters.read_after_step(self.step, seconds)
        self._write_step(now - self._start, seconds, counters)
        due = is_due(
            self._schedule,
            self._spending,
            step=self.step,
            elapsed=now - self._start,
            counters=counters,
        )
        if due:
            self._record_census(moment, inputs)
            self._entry_due = moment == STEP_END
            if self._entry_due and not self._manual:
                self._install_module_hooks()
        if self._profiler.wants_entry(self.step) and not self._manual:
            self._install_module_hooks()
        self._last_step_time = time.perf_counter()

    def _write_step(self, at: float, seconds: float, counters: dict[str, int]) -> None:
        self._journal.write_step(self.step, time=at, seconds=seconds, counters=counters)
        if self._journal.failure is not None:
            self._say_once(self._journal.failure)
            self._switch_off()

    def _record_census(self, moment: str, inputs: Any) -> None:
        started = time.perf_counter()
        census = self._load_take_census()(
            step=self.step,
            moment=moment,
            inputs=inputs,
            optimizers=self._live_optimizers(),
            ignore=(self, self.__dict__, inputs),
        )
        _mark_called(census, self._called)
        self._called.clear()
        try:
            self._journal.write_census(census)
        except OSError as error:
            if is_from_signal_handler(error):  # TimeoutError is an OSError
                raise
            self._switch_off(f"cannot write the recording: {error.strerror or error}")
            return
        spent = time.perf_counter() - started
        self._spending.add(spent, step=self.step, counters=self._counters.last)
        self._num_censuses += 1

    def _make_profiler(self) -> StepProfiler:
        def take_census(step: int) -> Census:
            started = time.perf_counter()
            census = self._load_take_census()(
                step=step,
                moment=PEAK,
                optimizers=self._live_optimizers(),
                ignore=(self, self.__dict__),
            )
            spent = time.perf_counter() - started
            self.own_seconds += spent
            self._last_step_time += spent
            self._spending.seconds += spent
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

    def _load_take_census(self) -> TakeCensus:
        if self._take_census is None:
            from tenure.capture.census import take_census

            self._take_census = take_census
        return self._take_census

    def _finish(self, reason: str, exit_code: int | None) -> None:
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
            "census_seconds": round(self._spending.seconds, 6),
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
            self._remove_module_hooks()
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


def _mark_called(census: Census, called: set[int]) -> None:
    """Say of the modules with these ids that they were called; here, for NumPy is loaded with the first census."""
    import numpy as np

    from tenure.model.heap import CALLED

    census.nodes.flags[np.isin(census.nodes.address, np.array(sorted(called), dtype=np.int64))] |= CALLED


def _describe_failure(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = "\n".join(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames)
    return f"{type(error).__name__}: {error}\n{places}"
