"""Where this process's memory is, level by level: tensors, allocator, device, process, cgroup, system.

Watches only: no synchronisation, no collection, no CUDA context is made, torch is not imported where the
program has not imported it (then there are no tensors).
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenure.capture.guarding.classes import name_of
from tenure.capture.guarding.collector import collector_rests
from tenure.capture.system.host_memory import HostMemory, read_host_memory
from tenure.model.units import format_bytes, format_seconds

if TYPE_CHECKING:
    from tenure.capture.tensors.storages import StorageTable


@dataclass(frozen=True)
class TensorMemory:
    """Storages that Python objects refer to, each counted once; what only C++ holds is not here.

    Bytes are rounded as the device's allocator rounds. Tensors without memory of their own are not counted.
    """

    device: str
    bytes: int
    num_storages: int
    num_tensors: int


@dataclass(frozen=True)
class DeviceMemory:
    """One CUDA device. None: not measured (no NVML, this process is not listed inside its container, or the driver
    cannot be asked while a stream is captured into a CUDA graph).

    `reserved_bytes` is what torch's allocator took from the device, `allocated_bytes` what of it tensors use;
    the difference is its cache. `process_bytes` is what the driver charges this process for.
    """

    device: str
    name: str
    allocated_bytes: int
    reserved_bytes: int
    used_bytes: int | None
    total_bytes: int | None
    process_bytes: int | None

    @property
    def cache_bytes(self) -> int:
        """Taken from the device and not in use by tensors: free for torch, lost for others."""
        return self.reserved_bytes - self.allocated_bytes

    @property
    def context_bytes(self) -> int | None:
        """What this process uses beyond the allocator: CUDA context, kernels, libraries' own workspaces."""
        return None if self.process_bytes is None else max(self.process_bytes - self.reserved_bytes, 0)

    @property
    def other_bytes(self) -> int | None:
        """Used by anyone else; with an unlisted process its own context is in here too."""
        if self.used_bytes is None:
            return None
        own = self.reserved_bytes if self.process_bytes is None else self.process_bytes
        return max(self.used_bytes - own, 0)


@dataclass(frozen=True)
class MemoryReport:
    """What every level says at one moment; `str()` is one line per level and one that reconciles them."""

    tensors: tuple[TensorMemory, ...]
    devices: tuple[DeviceMemory, ...]
    host: HostMemory
    torch_version: str | None
    seconds: float

    def __str__(self) -> str:
        return "\n".join(describe_memory(self))


def memory() -> MemoryReport:
    """Where this process's memory is, now; about the time of one `gc.get_objects()` and some system calls.

    Numbers of different levels are read one after another, not at one instant.
    """
    start = time.perf_counter()
    torch: Any = sys.modules.get("torch")
    loaded = torch is not None and hasattr(torch, "Tensor")
    return MemoryReport(
        tensors=count_tensors(torch) if loaded else (),
        devices=_read_devices(torch) if loaded else (),
        host=read_host_memory(),
        torch_version=str(torch.__version__) if loaded else None,
        seconds=time.perf_counter() - start,
    )


def count_tensors(torch: Any) -> tuple[TensorMemory, ...]:
    """Tensors that Python sees, by device; `torch` is the module. One look at all objects the collector knows."""
    from tenure.capture.tensors.storages import StorageTable

    storages = StorageTable()
    is_tensor = _IsTensor(torch.Tensor)
    # Subclasses must not see our reads in their `__torch_function__`.
    with collector_rests(), torch._C.DisableTorchFunctionSubclass():
        found = [item for item in gc.get_objects() if is_tensor.of(type(item))]
        num_tensors = Counter(device for item in found if (device := _add_tensor(storages, item)))
        del found
    sizes_on: dict[str, list[int]] = {}
    for facts in storages.by_id.values():
        sizes_on.setdefault(facts.device, []).append(facts.num_bytes)
    return tuple(
        TensorMemory(device, sum(sizes), len(sizes), num_tensors[device]) for device, sizes in sorted(sizes_on.items())
    )


class _IsTensor:
    """Whether objects of a type are tensors; each type is asked once, and has to stay meanwhile."""

    def __init__(self, tensor_type: type) -> None:
        self.tensor_type = tensor_type
        self._known: dict[int, bool] = {}

    def of(self, cls: type) -> bool:
        answer = self._known.get(id(cls))
        if answer is None:
            answer = self._known[id(cls)] = issubclass(cls, self.tensor_type)
        return answer


def _add_tensor(storages: StorageTable, tensor: Any) -> str:
    """The device that a tensor's memory lies on; "" where it has none: fake, functional and half-built tensors."""
    try:
        ids = storages.add(tensor) if name_of(type(tensor)) != "FakeTensor" else []
    except (RuntimeError, AttributeError, TypeError, ValueError):
        return ""
    return storages.by_id[ids[0]].device if ids and ids[0] in storages.by_id else ""


def _read_devices(torch: Any) -> tuple[DeviceMemory, ...]:
    # `is_available()` would start the driver, and a forked child could not use the device any more.
    if not torch.cuda.is_initialized():
        return ()
    return tuple(
        _read_device(torch, index)
        for index in range(torch.cuda.device_count())
        if torch.cuda.memory_reserved(index) or index == torch.cuda.current_device()
    )


def _read_device(torch: Any, index: int) -> DeviceMemory:
    properties = torch.cuda.get_device_properties(index)
    used, total, process = _ask_driver(properties)
    if used is None and not torch.cuda.is_current_stream_capturing():
        # Reads through this process's existing context; the caller checked that there is one.
        free, total = torch.cuda.mem_get_info(index)
        used = total - free
    return DeviceMemory(
        device=f"cuda:{index}",
        name=str(properties.name),
        allocated_bytes=torch.cuda.memory_allocated(index),
        reserved_bytes=torch.cuda.memory_reserved(index),
        used_bytes=used,
        total_bytes=total,
        process_bytes=process,
    )


def _ask_driver(properties: Any) -> tuple[int | None, int | None, int | None]:
    """Used, total and this process's bytes as NVML counts them; None each where it cannot say."""
    try:
        import pynvml
    except ImportError:
        return None, None, None
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{properties.uuid}")
        information = pynvml.nvmlDeviceGetMemoryInfo(handle)
        processes = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except (pynvml.NVMLError, AttributeError):
        return None, None, None
    own = [process.usedGpuMemory for process in processes if process.pid == os.getpid()]
    process_bytes = int(own[0]) if own and own[0] else None
    return int(information.used), int(information.total), process_bytes


def describe_memory(report: MemoryReport) -> list[str]:
    """One line per level, the last one reconciling them."""
    lines = [_tensor_line(tensors) for tensors in report.tensors]
    if report.torch_version is None:
        lines.append("tensors    none: this process has not imported torch")
    elif not report.tensors:
        lines.append("tensors    none are alive")
    for device in report.devices:
        lines += _device_lines(device)
    lines += report.host.lines()
    seen = {tensors.device: tensors.bytes for tensors in report.tensors}
    lines += [_reconcile_device(device, seen.get(device.device, 0)) for device in report.devices]
    lines.append(_reconcile_host(report))
    lines.append(f"(read in {format_seconds(report.seconds)}; tensors that only C++ holds are not counted)")
    return lines


def _tensor_line(tensors: TensorMemory) -> str:
    return (
        f"tensors    {format_bytes(tensors.bytes)} on {tensors.device}: "
        f"{tensors.num_storages:,} storages, {tensors.num_tensors:,} tensors"
    )


def _device_lines(device: DeviceMemory) -> list[str]:
    allocator = (
        f"allocator  {device.device}: {format_bytes(device.allocated_bytes)} allocated of "
        f"{format_bytes(device.reserved_bytes)} reserved, {format_bytes(device.cache_bytes)} cache"
    )
    used = _or_unknown(device.used_bytes)
    total = _or_unknown(device.total_bytes)
    process = _or_unknown(device.process_bytes)
    return [
        allocator,
        f"device     {device.device} ({device.name}): {used} of {total} used, this process {process}",
    ]


def _reconcile_device(device: DeviceMemory, seen_bytes: int) -> str:
    """`seen_bytes` are the tensors' that Python sees. What the allocator has given out beyond them belongs to C++ alone
    (cuBLAS's workspaces, gradients under way), or is the rest of a block that was not split."""
    if device.used_bytes is None:
        return f"together   {device.device}: the driver does not say what is used"
    beyond = max(device.allocated_bytes - seen_bytes, 0)
    parts = [f"tensors {format_bytes(device.allocated_bytes - beyond)}"]
    if beyond:
        parts.append(f"only C++ {format_bytes(beyond)}")
    parts.append(f"cache {format_bytes(device.cache_bytes)}")
    if device.context_bytes is None:
        parts.append(f"context and others {_or_unknown(device.other_bytes)}")
    else:
        parts.append(f"context {format_bytes(device.context_bytes)}")
        parts.append(f"others {_or_unknown(device.other_bytes)}")
    return f"together   {device.device}: {format_bytes(device.used_bytes)} used = {' + '.join(parts)}"


def _reconcile_host(report: MemoryReport) -> str:
    resident = report.host.resident_bytes
    held = sum(tensors.bytes for tensors in report.tensors if tensors.device == "cpu")
    if resident is None:
        return "together   host: the system does not say what is resident"
    if held > resident:
        return (
            f"together   host: {format_bytes(resident)} resident, below the tensors' {format_bytes(held)}: "
            "some of them were never written, or are swapped out"
        )
    return (
        f"together   host: {format_bytes(resident)} resident = CPU tensors {format_bytes(held)} "
        f"+ everything else {format_bytes(resident - held)}"
    )


def _or_unknown(num_bytes: int | None) -> str:
    return "unknown" if num_bytes is None else format_bytes(num_bytes)
