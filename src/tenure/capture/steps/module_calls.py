"""Calls of modules: three global module hooks, there only while somebody asks and nothing compiled runs.

The hooks must never be seen by dynamo (guards, and a second graph once they are gone; measured on torch 2.13):
the compiled call that begins suspends them, its end resumes them. Installed and removed between compiled calls,
they leave dynamo's counters as they are.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from tenure.capture.guarding.recursion import RoomForFrames
from tenure.capture.steps.call_cost import CallCost
from tenure.capture.steps.calls import has_buffers, has_parameters, is_inside_module_call, is_inside_step_or_backward

MAX_KNOWN_MODULES = 100_000


@dataclass(frozen=True)
class CalledModules:
    """Ids of the modules that were called while somebody watched."""

    roots: set[int] = field(default_factory=set)
    """By the program, while no other module's forward ran."""
    all: dict[int, int] = field(default_factory=dict)
    """By whomever, with the step in which that was last; none at all where the program compiles, for what runs inside
    compiled calls cannot be seen."""


class ModuleCalls:
    """Tells of each root call: `on_new_root()` at a module's first, `on_root_call(inputs, module)` at each, and
    `after_root_call(module, output)` where it has given something back.

    `guard` runs our own code, one piece at a time (`is_busy`). `on_root_call` is called outside of it, for it may
    end the program.
    """

    def __init__(
        self,
        guard: Callable[..., None],
        is_busy: Callable[[], bool],
        on_new_root: Callable[[], None],
        on_root_call: Callable[[Any, Any], None],
        after_root_call: Callable[[Any, Any], None],
    ) -> None:
        self._guard = guard
        self._is_busy = is_busy
        self._on_new_root = on_new_root
        self._on_root_call = on_root_call
        self._after_root_call = after_root_call
        self._handles: tuple[Any, ...] = ()
        self._room = RoomForFrames()
        self._wanted = False
        self.gave_up = False
        self._known: dict[int, tuple[weakref.ref[Any], bool]] = {}
        """By id: a module that was called, and whether it was a root. A later one may get the id of one that went."""
        self._seen_parameters = False
        self._called = CalledModules()
        self.step = 1
        """The step that is going on."""
        self.compiles = False
        """Whether the program has compiled anything: from then on modules may be called where nobody sees it."""
        self._root_call: tuple[int] | None = None
        self.seen_training: set[int] = set()
        """Ids of modules that were called in training mode, by whomever."""
        self._running_root: int | None = None
        """Id of the root that is in its forward."""
        self._running_on = 0
        self.cost = CallCost()
        """What the hooks have been called so far."""
        self.every_root = False
        """Whether roots that are known already are told of too; a module that is no root stays known as such."""

    @property
    def is_watching(self) -> bool:
        """Whether calls are told of, compiled ones left out."""
        return self._wanted and not self.gave_up

    def install(self, *, in_compiled_call: bool = False) -> None:
        """Watch from now on, or from the end of the compiled call on that is running."""
        self._wanted = True
        if not in_compiled_call:
            self.resume()

    def remove(self) -> None:
        """Watch no longer."""
        self._wanted = False
        self.suspend()

    def close(self) -> None:
        """Watch no longer, and leave nothing behind."""
        self.remove()
        self._room.take_back()

    def give_up(self) -> None:
        """Watch never again: the program compiles, and its compiled calls cannot be told from outside."""
        self.gave_up = True
        self.remove()

    def suspend(self) -> None:
        """Take the hooks out of torch until `resume`."""
        for handle in self._handles:
            handle.remove()
        self._handles = ()

    def resume(self) -> None:
        """Three hooks: the first asks torch to give the second the keyword arguments too, for this one call; the last
        comes after each forward."""
        if self._handles or self.gave_up or not self._wanted:
            return

        def tenure_prepare_hook(module: Any, args: Any) -> None:
            if torch.compiler.is_compiling():
                return
            self._before_forward(module)

        def tenure_forward_hook(module: Any, args: Any, kwargs: Any = None) -> None:
            if torch.compiler.is_compiling():
                return
            if self._root_call is not None:
                self._at_root_call(module, args, kwargs)

        def tenure_after_hook(module: Any, args: Any, output: Any) -> None:
            if torch.compiler.is_compiling():
                return
            if self._running_root == id(module) and self._running_on == threading.get_ident():
                self._running_root = None
                self._guard(self._after_root_call, module, output)

        self.cost.num_installed += 1
        first = register_module_forward_pre_hook(tenure_prepare_hook)
        second = register_module_forward_pre_hook(tenure_forward_hook)
        third = register_module_forward_hook(tenure_after_hook)
        self._handles = (first, second, third)
        self._room.give()

    def take_called(self) -> CalledModules:
        """The modules that were called since this was asked last."""
        called, self._called = self._called, CalledModules()
        return CalledModules(called.roots) if self.compiles else called

    def _before_forward(self, module: Any) -> None:
        self.cost.num_calls += 1
        if not self._handles:
            return
        self._called.all[id(module)] = self.step
        if self._is_busy():
            return
        if not self.every_root:
            known = self._known.get(id(module))
            is_part = known is not None and not known[1] and known[0]() is module
            # A part of a loss or a wrapper may be evaluated alone: in evaluation mode, while no root runs.
            if is_part and (getattr(module, "training", True) or self._running_root is not None):
                return
        self._guard(self._find_root, module)

    def _find_root(self, module: Any) -> None:
        """A root call enters a module with parameters while no other module's forward is running; one with buffers
        where none with parameters was called before, as a fixed operator of which the input is sought.

        A loss or an activation called between compiled parts has neither: it is no model's forward.
        """
        known = self._known.get(id(module))
        is_new = known is None or known[0]() is not module
        was_root = known is not None and not is_new and known[1]
        is_root = (was_root or self._is_model(module)) and not is_inside_module_call(sys._getframe(4))
        if is_root and not is_new and not was_root and is_inside_step_or_backward(None):
            return  # a part that is computed again for the gradients
        if is_new or is_root != was_root:
            self._remember(module, is_root)
        if module.training:
            self.seen_training.add(id(module))
        if not is_root:
            return
        self.cost.num_root_calls += 1
        self._called.roots.add(id(module))
        if is_new:
            self._on_new_root()
        second = self._handles[1]
        with_kwargs = module.__dict__.get("_forward_pre_hooks_with_kwargs")
        if with_kwargs is not None:
            with_kwargs[second.id] = True
        self._running_root, self._running_on = id(module), threading.get_ident()
        self._root_call = (self._running_on,)

    def _is_model(self, module: Any) -> bool:
        if has_parameters(module):
            if not self._seen_parameters:
                self._seen_parameters = True
                self._known.clear()  # what counted for its buffers does so no longer
            return True
        return not self._seen_parameters and has_buffers(module)

    def _remember(self, module: Any, is_root: bool) -> None:
        if len(self._known) >= MAX_KNOWN_MODULES:
            self._known.clear()
            self._called = CalledModules()
        self._known[id(module)] = (weakref.ref(module), is_root)

    def _at_root_call(self, module: Any, args: Any, kwargs: Any) -> None:
        if self._root_call != (threading.get_ident(),):
            return
        self._root_call = None
        with_kwargs = module.__dict__.get("_forward_pre_hooks_with_kwargs")
        if with_kwargs is not None and self._handles:
            with_kwargs.pop(self._handles[1].id, None)
        self._on_root_call((args, kwargs), module)
