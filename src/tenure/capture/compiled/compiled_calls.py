"""What the recorder does at compiled calls: its hooks step aside, steps and forward entries are read from outside."""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, Protocol

from tenure.capture.compiled.compiled import CompilationWatch
from tenure.capture.compiled.compiled_steps import CompiledSteps
from tenure.capture.guarding.guard import Guard
from tenure.capture.guarding.replaced import Replaced
from tenure.capture.heap.frames import locals_of
from tenure.capture.profile.step_profile import StepProfiler
from tenure.capture.steps.calls import is_inside_module_call, is_inside_step_or_backward
from tenure.capture.steps.module_calls import ModuleCalls

UNSEEN_COMPILED_CALLS = (
    "This torch does not tell of compiled calls (2.6 and later do): forward entries were seen at calls of compiled "
    "modules only, and steps of compiled optimizers were not counted."
)


class StepCounting(Protocol):
    """What is told of steps and forwards; a `Monitor`."""

    @property
    def is_listening(self) -> bool:
        """Whether steps are found by hooks, and still recorded."""
        ...

    def wants_root_calls(self) -> bool:
        """Whether a root module's call would be of use now."""
        ...

    def enter_root(self, inputs: Any) -> None:
        """A root forward begins; runs outside of the guard and may raise SystemExit."""

    def take_root_call(self, inputs: Any) -> None:
        """The same, within the guard."""

    def take_unseen_step(self, optimizer: Any) -> None:
        """An optimizer has stepped of which no hook told; within the guard."""

    def stop_if_asked(self) -> None:
        """End the program where its steps are over."""


class CompiledCalls:
    """A `CompiledCallListener`. Holds optimizers of running calls weakly."""

    def __init__(
        self, steps: StepCounting, guard: Guard, modules: ModuleCalls, scalers: Replaced, profiler: StepProfiler
    ) -> None:
        self._steps = steps
        self._guard = guard
        self._modules = modules
        self._scalers = scalers
        self._profiler = profiler
        self.running: dict[int, CompiledSteps] = {}
        """By thread: the compiled calls that run now."""
        self._watch = CompilationWatch(self)

    @property
    def is_in_call(self) -> bool:
        """Whether a thread runs a compiled call now, or is just entering or leaving one."""
        return self._watch.is_in_compiled_call

    def close(self) -> None:
        """Leave torch as it was found."""
        self._watch.close()

    def count(self, optimizer: Any) -> None:
        """This optimizer's step was seen by its hook, maybe within a compiled call."""
        running = self.running.get(threading.get_ident())
        if running is not None:
            running.count(optimizer)

    def before_compilation(self, *, sees_calls: bool) -> None:
        """As `CompiledCallListener` says."""
        self._modules.compiles = True
        self._profiler.stop("torch.compile is in use")
        if not sees_calls:
            self._modules.give_up()
            self._scalers.close()

    def before_compiled_module(self, args: Any, kwargs: Any) -> None:
        """As `CompiledCallListener` says."""
        self._modules.suspend()
        if self._steps.wants_root_calls() and not is_inside_module_call(sys._getframe(2), own_calls=0):
            self._steps.enter_root((args, kwargs))

    def at_compiled_call(self, wrapper: FrameType) -> None:
        """As `CompiledCallListener` says."""
        self._suspend()
        if self._steps.is_listening:
            self._guard.run(self._begin, wrapper)

    def after_compiled_call(self) -> None:
        """As `CompiledCallListener` says."""
        call = self.running.pop(threading.get_ident(), None)
        if not self._steps.is_listening:
            return
        if call is not None:
            self._guard.run(self._end, call)
        self._resume()
        self._steps.stop_if_asked()

    def before_capture(self) -> None:
        """As `CompiledCallListener` says."""
        self._suspend()

    def after_capture(self) -> None:
        """As `CompiledCallListener` says."""
        if self._steps.is_listening:
            self._resume()

    def _suspend(self) -> None:
        self._modules.suspend()
        self._scalers.suspend()

    def _resume(self) -> None:
        if not self._watch.is_in_compiled_call:
            self._modules.resume()
            self._scalers.resume()

    def _begin(self, wrapper: FrameType) -> None:
        values = dict(locals_of(wrapper))
        function, args, kwargs = values.get("fn"), values.get("args"), values.get("kwargs")
        del values
        call = CompiledSteps(function, args, kwargs)
        self.running[threading.get_ident()] = call
        del function
        if call.is_step or not self._steps.wants_root_calls() or is_inside_step_or_backward(wrapper):
            return
        if not is_inside_module_call(wrapper, own_calls=0):
            self._steps.take_root_call((args, kwargs))

    def _end(self, call: CompiledSteps) -> None:
        for optimizer in call.unseen():
            self._steps.take_unseen_step(optimizer)
