"""Runs a program with fake tensors in place of all that is large: every size is known, no memory is taken.

Fake are parameters, whatever would be made with `LEAST_FAKE_BYTES` or more, and what is computed from fake tensors;
torch's own fake tensors serve for it (torch/_subclasses/fake_tensor.py). All else is as it is: small inputs, lengths,
indices and an optimizer's counts have their values, so that the program may decide by them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.utils._python_dispatch import TorchDispatchMode

from tenure.capture.faking.kernel_sizes import as_kernels_leave, without_rule
from tenure.capture.faking.program_lines import is_for_ranks, refuse
from tenure.capture.faking.values import Values
from tenure.capture.faking.ways_in import open_ways_in
from tenure.capture.tensors.arguments import tensors_in
from tenure.capture.tensors.fakes import ASKS_FOR_DEVICE, Fakes, computes_shapes_alone, put_in_force, take_out_of_force
from tenure.capture.tensors.storages import handles_operations

LEAST_FAKE_BYTES = 1 << 20
"""What is as large is fake wherever it comes from."""
_NEEDS_VALUES = (DataDependentOutputException, DynamicOutputShapeException)
_NO_RULE = (
    "torch has no rule for the shapes that {} gives: register one with torch.library.register_fake, or leave out --fake"
)
_SAYS_NO_RULE = ("no fake impl", "no abstract impl", "from the 'Meta' backend")
"""What torch raises for a kernel of the program's own, by how it was registered (torch/_library, c10's dispatcher)."""
_RAISED_BY_RULES = (RuntimeError, TypeError, ValueError, AssertionError, NotImplementedError, IndexError)
# The program raises, and prints, what goes wrong in it; torch would log it besides.
logging.getLogger("torch._subclasses.fake_tensor").setLevel(logging.CRITICAL)


class FakeMemory:
    """The fake tensors of one process."""

    def __init__(self) -> None:
        # Kernels that would have to run for want of a fake one take memory, and their results depend on values.
        self.owner = FakeTensorMode(allow_non_fake_inputs=True, allow_fallback_kernels=False)
        # Modules that change their type swap tensors, which no weak reference may lead to.
        self.owner.fake_tensor_converter.set_tensor_memo = lambda *_: None
        self.values = Values()
        self.off = False
        self._mode = _FakingMode()
        self._mode.memory = self
        self._may_be_large: dict[Any, bool] = {}
        self._restore: Callable[[], None] = _do_nothing

    def begin(self) -> None:
        """On this thread, and in all that it calls."""
        self._restore = open_ways_in(self)
        put_in_force(Fakes(FakeTensor, self._mode, self.owner, self.values.notes))
        self._mode.__enter__()

    def end(self) -> None:
        """Let the thread be as it was. Our mode has to lie on top."""
        self._mode.__exit__(None, None, None)
        take_out_of_force()
        self._restore()

    def is_fake(self, tensor: Any) -> bool:
        """Whether it is one of ours."""
        return isinstance(tensor, FakeTensor) and tensor.fake_mode is self.owner

    def make_fake(self, tensor: torch.Tensor) -> Any:
        """A fake one of the same shape; its storage, of the same size, is one for all views of a storage."""
        return tensor if self.is_fake(tensor) else self.owner.from_tensor(tensor.detach())

    def run(self, function: Any, types: Sequence[type], args: Any, kwargs: Any) -> Any:
        """One operation of the program, in fake memory or as it is."""
        if function is ASKS_FOR_DEVICE and self.is_fake(args[0]):
            return args[0].device
        if self.off or computes_shapes_alone():
            return function(*args, **kwargs)
        if any(handles_operations(cls) and not issubclass(cls, FakeTensor) for cls in types):
            return NotImplemented  # shards take the operation apart first: what they run comes by again
        tensors = tensors_in((*args, *kwargs.values()))
        if any(map(self.is_fake, tensors)):
            return self._run_fake(function, types, args, kwargs, tensors)
        return self._run_as_it_is(function, types, args, kwargs, tensors)

    def _run_as_it_is(
        self, function: Any, types: Sequence[type], args: Any, kwargs: Any, tensors: Sequence[torch.Tensor]
    ) -> Any:
        """Unless its result would be large, or is a buffer that parameters are gathered in and are views of.

        Where nothing tells that beforehand, as where a size depends on values, it runs.
        """
        may_be_large = self._may_be_large.get(function)
        if may_be_large is None:
            may_be_large = self._may_be_large[function] = _makes_storages(function)
        if may_be_large:
            try:
                made = self.owner.dispatch(function, types, *self._with_stand_ins(args, kwargs, tensors)[:2])
            except _RAISED_BY_RULES:
                return function(*args, **kwargs)
            size = sum(_bytes_of(tensor) for tensor in tensors_in((made,)))
            if size >= LEAST_FAKE_BYTES or is_for_ranks():
                return made
        return function(*args, **kwargs)

    def _run_fake(
        self, function: Any, types: Sequence[type], args: Any, kwargs: Any, tensors: Sequence[torch.Tensor]
    ) -> Any:
        answer = self.values.answer(function, args)
        if answer is None:
            answer = without_rule(function, args, self.is_fake)
        if answer is not None:
            return answer
        args, kwargs, stand_ins = self._with_stand_ins(args, kwargs, tensors)
        try:
            result = self.owner.dispatch(function, types, args, kwargs)
        except _NEEDS_VALUES:
            refuse(f"what {function} gives depends on values, and fake tensors have none")
        except UnsupportedOperatorException:
            refuse(_NO_RULE.format(function))
        except (RuntimeError, NotImplementedError) as error:
            if not _has_no_rule(error):
                raise
            refuse(_NO_RULE.format(function))
        if stand_ins:
            # What is written into a tensor with values does not reach it: the program gets that tensor back.
            originals = {id(stand_ins[id(tensor)]): tensor for tensor in tensors if id(tensor) in stand_ins}
            result = _replaced((result,), originals)[0]
        result = as_kernels_leave(function, args, result)
        self.values.take_result(function, args, result)
        return result

    def _with_stand_ins(self, args: Any, kwargs: Any, tensors: Sequence[torch.Tensor]) -> tuple[Any, Any, Any]:
        """Arguments with fakes in place of tensors that have values, and these fakes by the tensors' ids."""
        stand_ins = {id(tensor): self.make_fake(tensor) for tensor in tensors if not self.is_fake(tensor)}
        if stand_ins:
            args = _replaced(args, stand_ins)
            kwargs = dict(zip(kwargs, _replaced(tuple(kwargs.values()), stand_ins), strict=True))
        return args, kwargs, stand_ins


class _FakingMode(TorchDispatchMode):  # type: ignore[misc]
    memory: FakeMemory
    supports_higher_order_operators = True


def _dispatch(mode: Any, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    return mode.memory.run(function, types, args, kwargs or {})


# Set here and not in the class's body, where torch would wrap it so that its first call loads all of dynamo.
_FakingMode.__torch_dispatch__ = _dispatch


def _do_nothing() -> None:
    pass


def _has_no_rule(error: BaseException) -> bool:
    return any(said in str(error) for said in _SAYS_NO_RULE)


def _makes_storages(function: Any) -> bool:
    """Whether an operation gives new tensors, rather than views, its arguments, or numbers."""
    schema = getattr(function, "_schema", None)
    if schema is None or schema.is_mutable or getattr(function, "is_view", False):
        return False
    return any("Tensor" in str(each.type) for each in schema.returns)


def _bytes_of(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())


def _replaced(values: tuple[Any, ...], by: dict[int, Any]) -> tuple[Any, ...]:
    return tuple(
        type(value)(by.get(id(item), item) for item in value)
        if type(value) in (list, tuple)
        else by.get(id(value), value)
        for value in values
    )


def begin_fake_memory() -> FakeMemory:
    """From now on in this process, until its `end`; to be called before the program makes its model."""
    memory = FakeMemory()
    memory.begin()
    return memory
