"""Arrays that look like those of CuPy, Numba and others: types of their names, with their memory where these have it.

None of the libraries shows its memory without a device. What is a slot of a compiled type there is one of a class
with `__slots__` here; properties that a program must not be made to run raise.
"""

from __future__ import annotations

import ctypes
from typing import Any, NoReturn

import numpy as np


def _named(cls: Any, module: str, name: str) -> Any:
    cls.__module__, cls.__name__, cls.__qualname__ = module, name, name
    return cls


def _must_not_run(self: object, *args: object) -> NoReturn:
    raise AssertionError("this ran code of the array's class")


class _CupyMemory:
    __slots__ = ("device_id", "ptr", "size")


class _CupyPointer:
    __slots__ = ("mem",)


class _CupyBase:
    __slots__ = ("__weakref__", "data", "dtype", "shape")
    __cuda_array_interface__ = property(_must_not_run)
    nbytes = property(_must_not_run)
    __dlpack__ = __getattr__ = __len__ = _must_not_run


CupyMemory = _named(_CupyMemory, "cupy.cuda.memory", "PooledMemory")
_named(_CupyPointer, "cupy.cuda.memory", "MemoryPointer")
_named(_CupyBase, "cupy._core.core", "_ndarray_base")
CupyArray = _named(type("ndarray", (_CupyBase,), {}), "cupy", "ndarray")


class SubclassOfCupyArray(CupyArray):
    data = mem = property(_must_not_run)  # a program's own, which must not be asked


def cupy_memory(pointer: int, size: int, device: int = 0) -> Any:
    memory = CupyMemory()
    memory.ptr, memory.size, memory.device_id = pointer, size, device
    return memory


def cupy_array(memory: Any, cls: Any = CupyArray, shape: tuple[int, ...] = (2, 3)) -> Any:
    array, pointer = cls(), _CupyPointer()
    pointer.mem = memory
    for name, value in (("data", pointer), ("dtype", np.dtype("float32")), ("shape", shape)):
        _CupyBase.__dict__[name].__set__(array, value)
    return array


class _NumbaBase:
    __cuda_array_interface__ = property(_must_not_run)
    nbytes = property(_must_not_run)
    __getattr__ = _must_not_run


class _Plain:
    def __init__(self, **attributes: object) -> None:
        self.__dict__.update(attributes)


_named(_NumbaBase, "numba.cuda.cudadrv.devicearray", "DeviceNDArrayBase")
NumbaArray = _named(type("DeviceNDArray", (_NumbaBase,), {}), "numba.cuda.cudadrv.devicearray", "DeviceNDArray")


def numba_array(pointer: int, size: int, device: int = 0, *, owned: bool = False) -> Any:
    """With `owned` as a part of an array has its pointer."""
    context = _Plain(device=_Plain(id=device))
    memory = _Plain(context=context, device_pointer=ctypes.c_size_t(pointer), size=size)
    array = NumbaArray()
    gpu_data = _Plain(_mem=None, _view=memory) if owned else memory
    array.__dict__.update(gpu_data=gpu_data, shape=(size,), dtype=np.dtype("uint8"), alloc_size=size)
    return array


class Offers:
    """Some other library's array: who knows how large."""

    __cuda_array_interface__ = property(_must_not_run)
    __getattr__ = _must_not_run


class OffersDlpack:
    __dlpack__ = __dlpack_device__ = __getattr__ = _must_not_run


class _OffersIt:
    __cuda_array_interface__ = property(_must_not_run)
    __dlpack__ = __getattr__ = __len__ = __eq__ = __bool__ = _must_not_run
    __hash__ = object.__hash__


def standing_in(module: str, name: str, **attributes: object) -> Any:
    """An object of a class of that name whose instances have a plain dictionary, and offer their memory."""
    item = _named(type(name, (_OffersIt,), {}), module, name)()
    item.__dict__.update(attributes)
    return item


class _CompiledBuffer:
    __slots__ = ("__weakref__", "ptr", "size")
    __cuda_array_interface__ = property(_must_not_run)


RmmBuffer = _named(_CompiledBuffer, "rmm.pylibrmm.device_buffer", "DeviceBuffer")


def rmm_buffer(pointer: int, size: int) -> Any:
    buffer = RmmBuffer()
    buffer.ptr, buffer.size = pointer, size
    return buffer


def pycuda_array(pointer: object, size: int, base: object = None) -> Any:
    about = {"gpudata": pointer, "nbytes": size, "base": base, "dtype": np.dtype("uint8"), "shape": (size,)}
    return standing_in("pycuda.gpuarray", "GPUArray", **about)


def pycuda_allocation(pointer: int, *, compiled: bool = True) -> Any:
    """As `int` does of what `__int__` of a compiled type does; or of one that a program has made itself."""
    own = {} if compiled else {"__int__": _must_not_run}
    return _named(type("DeviceAllocation", (int,), own), "pycuda._driver", "DeviceAllocation")(pointer)


def warp_array(pointer: int | None, size: int, ordinal: int | None = 0, part_of: object = None) -> Any:
    device = None if ordinal is None else _Plain(ordinal=ordinal)
    about = {"ptr": pointer, "capacity": size, "device": device, "_ref": part_of, "shape": (size,)}
    return standing_in("warp._src.types", "array", **about)
