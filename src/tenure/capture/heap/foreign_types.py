"""Types of other libraries whose arrays lie on a device, and how the memory of each is read without their help.

Only slots of the libraries' own compiled types and plain instance dictionaries are looked at. No attribute of a
program's class is asked for, nothing of it is called: neither `__cuda_array_interface__` nor `__dlpack__()`.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenure.capture.guarding.classes import bases_of, module_of, name_of, own_of
from tenure.capture.heap.descriptions import type_name
from tenure.capture.tensors.nested import instance_dict

_C_POINTERS = frozenset(map(id, (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64)))


@dataclass(frozen=True)
class ForeignMemory:
    """What one array's memory is: the block of its pool, what was allocated for it, or its part of that.

    No bytes: it has none of its own, for it is empty, on the host, or what it refers to has them.
    """

    pointer: int
    num_bytes: int
    device: str
    dtype: str
    shape: str


NOTHING = ForeignMemory(0, 0, "", "", "")

Read = Callable[[object], ForeignMemory | None]
"""None where the library keeps it in another way than is known here."""


@dataclass(frozen=True)
class ForeignType:
    """Objects of the class `name`, and of those that derive from it; any class of the modules where it is empty."""

    modules: tuple[str, ...]
    name: str
    read: Read

    def fits(self, cls: type) -> bool:
        """By names alone; libraries may lie below a package that carries them along (`numba_cuda.numba...`)."""
        if self.name and self.name != name_of(cls):
            return False
        module = module_of(cls)
        return any(module == each or module.endswith("." + each) for each in self.modules)


def _read_cupy(item: object) -> ForeignMemory | None:
    memory = _slot(_slot(item, "data", "cupy"), "mem", "cupy")
    pointer, size, device = (_slot(memory, name, "cupy") for name in ("ptr", "size", "device_id"))
    dtype, shape = _slot(item, "dtype", "cupy"), _slot(item, "shape", "cupy")
    return _measured(pointer, size, device, dtype, shape)


def _read_numba(item: object) -> ForeignMemory | None:
    about = instance_dict(item) or {}
    memory = instance_dict(about.get("gpu_data")) or {}
    if "_view" in memory:  # a pointer that shares the ownership of another
        memory = instance_dict(memory["_view"]) or {}
    device = (instance_dict((instance_dict(memory.get("context")) or {}).get("device")) or {}).get("id")
    pointer = _address(memory.get("device_pointer"), "cuda")
    return _measured(pointer, memory.get("size"), device, about.get("dtype"), about.get("shape"))


def _read_pycuda(item: object) -> ForeignMemory | None:
    """Of a part the array that it is a part of: a part's bytes say nothing of its strides."""
    whole = _follow(item, "base", GPU_ARRAY)
    about = instance_dict(whole) or {}
    if about.get("base") is not None or ("gpudata" in about and about["gpudata"] is None):
        return NOTHING  # of what it refers to, or empty
    return _measured(_address(about.get("gpudata"), "pycuda"), about.get("nbytes"), None, about.get("dtype"),
                     (instance_dict(item) or {}).get("shape"))  # fmt: skip


def _read_warp(item: object) -> ForeignMemory | None:
    whole = _follow(item, "_ref", WARP_ARRAY)
    about = instance_dict(whole) or {}
    ordinal = (instance_dict(about.get("device")) or {}).get("ordinal")
    if about.get("_ref") is not None or ("ptr" in about and about["ptr"] is None):
        return NOTHING  # of what it refers to, empty, or an annotation
    if type(ordinal) is not int:
        return None
    return NOTHING if ordinal < 0 else _measured(about.get("ptr"), about.get("capacity"), ordinal, None,
                                                 (instance_dict(item) or {}).get("shape"))  # fmt: skip


def _read_rmm(item: object) -> ForeignMemory | None:
    return _measured(_slot(item, "ptr", "rmm"), _slot(item, "size", "rmm"), None, None, None)


def _read_cudf_owner(item: object) -> ForeignMemory | None:
    """A buffer that is spilled to the host has no address."""
    about = instance_dict(item) or {}
    pointer = about.get("_ptr")
    if "_ptr" in about and (pointer is None or (type(pointer) is int and pointer == 0)):
        return NOTHING
    return _measured(pointer, about.get("_size"), None, None, None)


def _read_cudf_buffer(item: object) -> ForeignMemory | None:
    """Its owner's; before there were owners, its own."""
    about = instance_dict(item) or {}
    return NOTHING if "_owner" in about and "_ptr" not in about else _read_cudf_owner(item)


def _of_what_it_holds(item: object) -> ForeignMemory | None:
    return NOTHING


_CUDF = "cudf.core."
GPU_ARRAY = ForeignType(("pycuda.gpuarray",), "GPUArray", _read_pycuda)
WARP_ARRAY = ForeignType(("warp.types", "warp._src.types"), "array", _read_warp)
FOREIGN_TYPES = (
    ForeignType(("cupy", "cupy._core.core"), "ndarray", _read_cupy),
    ForeignType(("cupy._core.core",), "_ndarray_base", _read_cupy),
    ForeignType(("numba.cuda.cudadrv.devicearray",), "DeviceNDArrayBase", _read_numba),
    GPU_ARRAY,
    WARP_ARRAY,
    ForeignType(("warp.types", "warp._src.types"), "indexedarray", _of_what_it_holds),
    ForeignType(("rmm._lib.device_buffer", "rmm.pylibrmm.device_buffer"), "DeviceBuffer", _read_rmm),
    ForeignType((_CUDF + "buffer.buffer",), "BufferOwner", _read_cudf_owner),
    ForeignType((_CUDF + "buffer.buffer", _CUDF + "buffer"), "Buffer", _read_cudf_buffer),
    ForeignType((_CUDF + "single_column_frame", _CUDF + "series", _CUDF + "index"), "", _of_what_it_holds),
    ForeignType((_CUDF + "column.column",), "ColumnBase", _of_what_it_holds),
    ForeignType(("pylibcudf.gpumemoryview", "pylibcudf.column"), "", _of_what_it_holds),
)
"""By library: module, name, how its memory is read. Others that offer theirs are counted and said, without bytes: of
JAX (`ArrayImpl`) and TensorFlow (`EagerTensor`) only code of theirs says where it lies."""


def reader_of(cls: type) -> Read | None:
    """By the first of its bases that is known; None for types that are not."""
    rows = (row for base in bases_of(cls) for row in FOREIGN_TYPES if row.fits(base))
    return next((row.read for row in rows), None)


def _measured(pointer: object, size: object, device: object, dtype: object, shape: object) -> ForeignMemory | None:
    if type(pointer) is not int or type(size) is not int or pointer <= 0 or size < 0:
        return None
    where = f"cuda:{device}" if type(device) is int else "cuda"
    return ForeignMemory(pointer, size, where, _dtype_text(dtype), _shape_text(shape))


def _follow(item: object, name: str, kind: ForeignType) -> object:
    """The array that an array is a part of, or of whose parts; itself where it is none."""
    for _ in range(100):
        further = (instance_dict(item) or {}).get(name)
        if further is None or not any(map(kind.fits, bases_of(type(further)))):
            break
        item = further
    return item


def _slot(item: object, name: str, package: str) -> object:
    """What a compiled type of a package keeps under `name`; None where there is no such slot."""
    for base in bases_of(type(item)):
        if module_of(base).partition(".")[0] == package:
            slot = own_of(base).get(name)
            if isinstance(slot, types.MemberDescriptorType | types.GetSetDescriptorType):
                try:
                    return slot.__get__(item)
                except (AttributeError, ValueError):
                    return None
    return None


def _address(pointer: object, package: str) -> int | None:
    """Of a pointer as `ctypes` has it, or a compiled type of the package."""
    if id(type(pointer)) in _C_POINTERS:
        return getattr(pointer, "value", None) or 0
    if type(pointer) is int:
        return pointer
    if module_of(type(pointer)).partition(".")[0] != package:
        return None
    convert = next((own["__int__"] for own in map(own_of, bases_of(type(pointer))) if "__int__" in own), None)
    is_compiled = convert is not None and type(convert) is not types.FunctionType
    return int(pointer) if is_compiled else None  # type: ignore[call-overload]


def _dtype_text(dtype: Any) -> str:
    return str(dtype) if type_name(type(dtype)).startswith("numpy.") else ""


def _shape_text(shape: object) -> str:
    return str(list(shape)) if type(shape) is tuple and all(type(size) is int for size in shape) else ""
