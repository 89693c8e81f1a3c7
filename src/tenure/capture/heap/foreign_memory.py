"""Device memory that torch does not own: arrays of CuPy and Numba, told by their types, and read without their help.

Only slots of the libraries' own compiled types and plain instance dictionaries are looked at. No attribute of a
program's class is asked for, nothing is called: neither `__cuda_array_interface__` nor `__dlpack__()`.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenure.capture.guarding.classes import bases_of, module_of, name_of, own_of
from tenure.capture.heap.descriptions import type_name
from tenure.capture.heap.labels import instance_dict

_CUPY_ARRAYS = frozenset({("cupy", "ndarray"), ("cupy._core.core", "ndarray"), ("cupy._core.core", "_ndarray_base")})
_NUMBA_MODULE = "numba.cuda.cudadrv.devicearray"
_NUMBA_ARRAY = "DeviceNDArrayBase"
_C_POINTERS = frozenset(map(id, (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64)))
_COUNTED_ELSEWHERE = frozenset({"torch", "numpy", "pyarrow"})
"""Packages whose arrays are tensors, or lie in the host's memory."""


@dataclass(frozen=True)
class ForeignMemory:
    """What one array's memory is: of CuPy the block of its pool, of Numba what was allocated, or its part of that."""

    pointer: int
    num_bytes: int
    device: str
    dtype: str
    shape: str


def is_foreign(cls: type) -> bool:
    """Whether objects of a type may hold device memory of their own; about two microseconds, asked once per type."""
    for base in bases_of(cls):
        own = own_of(base)
        if "__cuda_array_interface__" in own or "__dlpack__" in own:
            return not any(module_of(each).partition(".")[0] in _COUNTED_ELSEWHERE for each in bases_of(cls))
    return False


def read_foreign(item: object) -> ForeignMemory | None:
    """The memory of an object of a foreign type; None where this library keeps it in a way that is not known here."""
    read = _reader_of(type(item))
    return None if read is None else read(item)


def describe_unread(names: dict[str, int]) -> str:
    """The note that says which objects were seen whose memory could not be measured."""
    told = ", ".join(f"{count} of {name}" for name, count in sorted(names.items()))
    return f"objects that may hold memory of a device which torch does not own, of a size not known here: {told}"


def _reader_of(cls: type) -> Callable[[object], ForeignMemory | None] | None:
    for base in bases_of(cls):
        module, name = module_of(base), name_of(base)
        if (module, name) in _CUPY_ARRAYS:
            return _read_cupy
        if name == _NUMBA_ARRAY and (module == _NUMBA_MODULE or module.endswith("." + _NUMBA_MODULE)):
            return _read_numba
    return None


def _read_cupy(item: object) -> ForeignMemory | None:
    memory = _slot(_slot(item, "data"), "mem")
    pointer, size, device = (_slot(memory, name) for name in ("ptr", "size", "device_id"))
    if not (isinstance(pointer, int) and isinstance(size, int)):
        return None
    where = f"cuda:{device}" if isinstance(device, int) else "cuda"
    return ForeignMemory(pointer, size, where, _dtype_text(_slot(item, "dtype")), _shape_text(_slot(item, "shape")))


def _read_numba(item: object) -> ForeignMemory | None:
    about = instance_dict(item) or {}
    memory = instance_dict(about.get("gpu_data")) or {}
    if "_view" in memory:  # a pointer that shares the ownership of another
        memory = instance_dict(memory["_view"]) or {}
    pointer, size = _address(memory.get("device_pointer")), memory.get("size")
    if pointer is None or type(size) is not int:
        return None
    device = (instance_dict((instance_dict(memory.get("context")) or {}).get("device")) or {}).get("id")
    where = f"cuda:{device}" if type(device) is int else "cuda"
    return ForeignMemory(pointer, size, where, _dtype_text(about.get("dtype")), _shape_text(about.get("shape")))


def _slot(item: object, name: str) -> object:
    """What a compiled type of CuPy's keeps under `name`; None where there is no such slot."""
    for base in bases_of(type(item)):
        if module_of(base).partition(".")[0] == "cupy":
            slot = own_of(base).get(name)
            if isinstance(slot, types.MemberDescriptorType | types.GetSetDescriptorType):
                try:
                    return slot.__get__(item)
                except (AttributeError, ValueError):
                    return None
    return None


def _address(pointer: object) -> int | None:
    """Of a pointer as `ctypes` or NVIDIA's own bindings have it."""
    if id(type(pointer)) in _C_POINTERS:
        return getattr(pointer, "value", None) or 0
    if module_of(type(pointer)).partition(".")[0] == "cuda":
        return int(pointer)  # type: ignore[call-overload, no-any-return]
    return pointer if type(pointer) is int else None


def _dtype_text(dtype: Any) -> str:
    return str(dtype) if type_name(type(dtype)).startswith("numpy.") else ""


def _shape_text(shape: object) -> str:
    return str(list(shape)) if type(shape) is tuple and all(type(size) is int for size in shape) else ""
