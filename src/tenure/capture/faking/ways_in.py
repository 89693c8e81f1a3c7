"""Where tensors come to a program past torch's operations, and where it takes values out of them: made fit for fakes.

Parameters become fake as they are made, files of weights are read without their data, and what tensors are asked for
besides operations (`tolist`, `numpy`, a format) is answered. Workers that load data keep real memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.parameter import UninitializedTensorMixin  # type: ignore[attr-defined]  # it is not in torch's stubs
from torch.optim import optimizer as optimizers
from torch.utils import _foreach_utils
from torch.utils.data._utils import worker

from tenure.capture.faking.program_lines import refuse

if TYPE_CHECKING:
    from tenure.capture.faking.fake_memory import FakeMemory

MOST_READ_BYTES = 1 << 20
"""Files up to this size are read with their values."""


def open_ways_in(memory: FakeMemory) -> Callable[[], None]:
    """Until the function that is given back is called."""
    changes = _Changes()
    changes.set(torch.nn.Parameter, "__new__", staticmethod(_make_parameter(memory)))
    changes.set(UninitializedTensorMixin, "materialize", _materialize)
    changes.set(torch, "load", _load(memory))
    changes.set(worker, "_worker_loop", _with_real_memory(memory))
    changes.set(torch.nn.parallel.DistributedDataParallel, "__init__", _refuse_replica)
    for name, answer in _answers(memory).items():
        changes.set(FakeTensor, name, answer)
    for module in (optimizers, _foreach_utils):
        changes.set(module, "_foreach_supported_types", [*module._foreach_supported_types, FakeTensor])
    torch.serialization.add_safe_globals([from_description])
    return changes.undo


class _Changes:
    """Attributes that were set, with what was there before."""

    def __init__(self) -> None:
        self._made: list[tuple[Any, str, Any, bool]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        own = vars(owner)
        self._made.append((owner, name, own.get(name), name in own))
        setattr(owner, name, value)

    def undo(self) -> None:
        while self._made:
            owner, name, value, was_own = self._made.pop()
            if was_own:
                setattr(owner, name, value)
            else:
                delattr(owner, name)


def _make_parameter(memory: FakeMemory) -> Callable[..., Any]:
    made = torch.nn.Parameter.__new__

    def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        if not memory.off and type(data) in (torch.Tensor, torch.nn.Parameter):
            data = memory.make_fake(data)
        return made(cls, data, requires_grad)

    return new


def _materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
    """Lazy modules give their parameters a size at the first call: a new one, put in the place of the old."""
    data = torch.empty(shape, device=device or self.data.device, dtype=dtype or self.data.dtype)
    made = torch.nn.Parameter(data, self.requires_grad) if self.cls_to_become is torch.nn.Parameter else data
    torch.utils.swap_tensors(self, made)


def _load(memory: FakeMemory) -> Callable[..., Any]:
    read = torch.load

    @functools.wraps(read)
    def load(f: Any, *args: Any, **named: Any) -> Any:
        if memory.off or _is_small_file(f):
            return read(f, *args, **named)
        with memory.owner:
            return read(f, *args, **named)

    return load


def _is_small_file(file: Any) -> bool:
    return isinstance(file, (str, Path)) and Path(file).is_file() and Path(file).stat().st_size <= MOST_READ_BYTES


def _with_real_memory(memory: FakeMemory) -> Callable[..., Any]:
    loop = worker._worker_loop

    @functools.wraps(loop)
    def work(*args: Any, **named: Any) -> Any:
        memory.off = True
        return loop(*args, **named)

    return work


def _refuse_replica(*_: Any, **__: Any) -> None:
    refuse("DistributedDataParallel reads its parameters' memory, and fake tensors have none; FSDP2 does not")


def _answers(memory: FakeMemory) -> dict[str, Callable[..., Any]]:
    values = memory.values

    def tolist(self: Any) -> Any:
        return values.filled(self).tolist() if self.dim() else values.read(self)

    def numpy(self: Any, *, force: bool = False) -> Any:
        return values.filled(self)

    def as_array(self: Any, dtype: Any = None, copy: Any = None) -> Any:
        found = values.filled(self)
        return found if dtype is None else found.astype(dtype)

    def formatted(self: Any, spec: str) -> str:
        return format(self.item() if not self.dim() else repr(self), spec)

    def copied(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = _copy(self)
        return memo[id(self)]

    return {
        "tolist": tolist,
        "numpy": numpy,
        "__array__": as_array,
        "__format__": formatted,
        "__deepcopy__": copied,
        "__reduce_ex__": _described,
    }


def _copy(tensor: Any) -> Any:
    if not tensor.is_leaf:
        raise RuntimeError("Only Tensors created explicitly by the user support the deepcopy protocol at the moment")
    copied = tensor.detach().clone(memory_format=torch.preserve_format)
    if getattr(tensor, "_is_param", False):
        return torch.nn.Parameter(copied, tensor.requires_grad)
    return copied.requires_grad_(tensor.requires_grad)


def _described(tensor: Any, _: Any) -> tuple[Any, ...]:
    """What is written of a fake tensor, into a file or to another process: what it takes to make one as large."""
    is_parameter = bool(getattr(tensor, "_is_param", False))
    return from_description, (tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.requires_grad, is_parameter)


def from_description(
    shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype, requires_grad: bool, is_parameter: bool
) -> torch.Tensor:
    """A tensor of this size, without values of its own; below `LEAST_FAKE_BYTES` it need not be fake."""
    made = torch.empty_strided(shape, stride, dtype=dtype)
    return torch.nn.Parameter(made, requires_grad) if is_parameter else made.requires_grad_(requires_grad)
