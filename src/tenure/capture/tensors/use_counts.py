"""How many C++ owners a tensor has, and how many references to its Python object are theirs.

Where a tensor's C++ part outlives its last Python reference, the Python object is kept. Up to 2.9 or so it then
changes hands: C++ owns the object, and the object no longer owns the tensor (a flag in the object, which is read in
place and learned first). Later the tensor holds one reference to its object whenever C++ has a share in it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import lru_cache
from typing import Any

import torch

from tenure.capture.guarding.aside import run_aside

HAS_USE_COUNT = hasattr(torch._C.TensorBase, "_use_count")


def count_native(tensor: Any) -> tuple[int, int]:
    """C++ owners of a tensor, and the references to its Python object that are C++'s; zeros if torch tells nothing."""
    if not HAS_USE_COUNT:
        return 0, 0
    if changes_hands() and _flag_of(id(tensor)):
        return tensor._use_count(), 1
    num_native = max(0, tensor._use_count() - 1)
    return num_native, int(num_native > 0 and not changes_hands())


@lru_cache(maxsize=1)
def changes_hands() -> bool:
    """Whether this torch is of the older kind. The first call asks torch once and lets other threads in."""
    return sys.maxsize > 2**32 and bool(run_aside(_learn))


def _learn() -> bool:
    base = torch.zeros(2, device="cpu", dtype=torch.float32)
    address, implementation = id(base), base._cdata
    view = base[:1]
    if (_flag_of(address), _word_at(address, 1)) != (0, implementation):
        return False
    del base
    flag = _flag_of(address)
    del view
    return flag == 1


def _flag_of(address: int) -> int:
    return ctypes.c_ubyte.from_address(address + object.__basicsize__).value


def _word_at(address: int, number: int) -> int:
    return ctypes.c_size_t.from_address(address + object.__basicsize__ + number * ctypes.sizeof(ctypes.c_size_t)).value
