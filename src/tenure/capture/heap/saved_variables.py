"""Saved tensors where `SavedTensor` has no `data` (missing in 2.8, there in 2.10): read in place, never unpacked.

There the only public way is `node._saved_*`, which runs unpack hooks: it copies, recomputes a checkpoint, or raises.
So the C++ `SavedVariable` behind a `SavedTensor` is read as it lies in memory: its first word is the tensor, a later
one its hooks. Which one is not assumed but learned, from slots of our own whose tensors, hooks and packed objects are
known (`learn`); where a single answer is not the expected one, nothing is ever read.

A slot that a backward pass in another thread frees meanwhile must not be read (`is_backward_running`): a pass starts
in Python and a census holds the interpreter, so none can begin while one reads.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from tenure.capture.guarding.aside import run_aside
from tenure.capture.heap import frames

_NUM_WORDS = 9
"""Words of a SavedVariable that are looked at; it has ten to fourteen."""
_HOOK_WORDS = 4
"""Of its hooks: the C++ class, the pack hook, the unpack hook, and what was packed."""

_Words = ctypes.c_size_t * _NUM_WORDS
_HookWords = ctypes.c_size_t * _HOOK_WORDS


@dataclass(frozen=True)
class Reader:
    """Where this torch keeps what: the word of the hooks, the class of Python's hooks, the tensor that is none."""

    hooks_word: int
    python_hooks: int
    undefined: int

    def read(self, raw: Any) -> tuple[object | None, object | None] | None:
        """Tensor or packed object of a slot, and its unpack hook; (None, None) if freed, None if C++ packed it or, on
        torch 2.4, it is a fake tensor without memory.

        Took 40 us on torch 2.4.1, measured once on a busy machine. The tensor is the saved one itself, not a copy,
        and keeps the Python object this gives it.
        """
        words = _words_of(raw)
        hooks = words[self.hooks_word]
        if not hooks:
            try:
                return (None if words[0] == self.undefined else _tensor_at(words[0])), None
            except RuntimeError:
                return None
        cls, _, unpack, packed = _HookWords.from_address(hooks)
        if cls != self.python_hooks or not unpack or not packed:
            return None
        return _object_at(packed), _object_at(unpack)


@lru_cache(maxsize=1)
def reader() -> Reader | None:
    """The reader for this torch, or None.

    The first call (20 ms, measured once on a busy machine) lets other threads in.
    """
    return run_aside(learn) if sys.maxsize > 2**32 and hasattr(torch._C, "_wrap_tensor_impl") else None


def is_backward_running() -> bool:
    """Whether any thread is inside autograd's engine, or that cannot be told."""
    enter = getattr(getattr(torch.autograd.graph, "_engine_run_backward", None), "__code__", None)
    return enter is None or frames.is_running(enter)


def learn() -> Reader:
    """Reads slots of which all is known; raises ValueError where one of them does not look as expected."""
    one = torch.zeros(1, device="cpu", dtype=torch.float32, requires_grad=True)
    other = torch.zeros(1, device="cpu", dtype=torch.float32, requires_grad=True)
    result = one.exp()
    product = one * other
    scaled = one * other.detach()
    slot = result.grad_fn._raw_saved_result
    left, right = product.grad_fn._raw_saved_self, product.grad_fn._raw_saved_other
    empty = scaled.grad_fn._raw_saved_self
    before, undefined = list(_words_of(slot)), _words_of(empty)[0]
    _expect(_words_of(left)[0] == one._cdata and _words_of(right)[0] == other._cdata)
    _expect(torch._C._storage_id(_tensor_at(before[0])) == torch._C._storage_id(result))
    packed = _Packed()
    pack, unpack = packed.pack, packed.unpack
    slot.register_hooks(pack, unpack)
    after = list(_words_of(slot))
    changed = [word for word in range(_NUM_WORDS) if before[word] != after[word]]
    _expect(len(changed) == 2 and changed[0] == 0 and after[0] == undefined and not before[changed[1]])
    cls, *known = _HookWords.from_address(after[changed[1]])
    _expect(known == [id(pack), id(unpack), id(packed)])
    found = Reader(changed[1], cls, undefined)
    _expect(found.read(slot) == (packed, unpack) and found.read(empty) == (None, None))
    return found


class _Packed:
    """What our own hooks pack; nothing ever unpacks it."""

    def pack(self, _: object) -> object:
        return self

    def unpack(self, _: object) -> object:
        raise AssertionError("nothing unpacks this slot")


def _expect(answer: bool) -> None:
    if not answer:
        raise ValueError("this torch keeps saved tensors in another way")


def _words_of(raw: Any) -> Any:
    return _Words.from_address(ctypes.c_size_t.from_address(id(raw) + object.__basicsize__).value)


_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def _tensor_at(address: int) -> Any:
    return torch._C._wrap_tensor_impl(_new_capsule(address, None, None))


def _object_at(address: int) -> object:
    return ctypes.cast(address, ctypes.py_object).value
