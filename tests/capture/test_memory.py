from __future__ import annotations

import gc
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch

from tenure.capture.memory import DeviceMemory, MemoryReport, TensorMemory, memory
from tenure.capture.system.host_memory import HostMemory

MIB = 1 << 20
HOST = HostMemory(300 * MIB, None, None, 0, 0, None, None, 8192 * MIB, 4096 * MIB)
DEVICE = DeviceMemory("cuda:0", "H100", 600 * MIB, 1000 * MIB, 3000 * MIB, 80000 * MIB, 1500 * MIB)


def cpu_tensors() -> TensorMemory:
    (found,) = (tensors for tensors in memory().tensors if tensors.device == "cpu")
    return found


def test_views_share_one_storage_and_its_bytes_are_counted_once() -> None:
    before = cpu_tensors() if memory().tensors else TensorMemory("cpu", 0, 0, 0)
    kept = torch.zeros(256, 1024)
    views = [kept[0], kept.t(), torch.nn.Parameter(kept)]
    after = cpu_tensors()
    assert after.bytes - before.bytes == MIB
    assert after.num_storages - before.num_storages == 1
    assert after.num_tensors - before.num_tensors == 1 + len(views)


def test_a_sparse_tensor_weighs_what_its_parts_weigh() -> None:
    gc.collect()
    before = cpu_tensors() if memory().tensors else TensorMemory("cpu", 0, 0, 0)
    kept = torch.eye(1024).to_sparse()
    after = cpu_tensors()
    assert kept.is_sparse
    assert (after.bytes - before.bytes, after.num_tensors - before.num_tensors) == (1024 * (2 * 8 + 4), 1)


@pytest.mark.slow
def test_memory_needs_no_numpy() -> None:
    program = (
        "import sys; sys.modules['numpy'] = None; import torch, tenure; t = torch.zeros(256); print(tenure.memory())"
    )
    command = [sys.executable, "-W", "ignore", "-c", program]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0] == "tensors    1.00 KiB on cpu: 1 storages, 1 tensors"


def test_tensors_without_a_storage_of_their_own_are_passed_over() -> None:
    kept = [torch.eye(3).to_sparse(), torch.nn.UninitializedParameter()]
    assert isinstance(memory(), MemoryReport)
    assert len(kept) == 2


def test_a_subclass_does_not_see_the_count() -> None:
    seen = []

    class Nosy(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    kept = torch.zeros(4).as_subclass(Nosy)
    seen.clear()
    memory()
    assert (seen, type(kept)) == ([], Nosy)


@pytest.mark.parametrize("enabled", [True, False])
def test_automatic_collection_is_left_as_it_was(enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        memory()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


def test_a_device_is_told_level_by_level_and_adds_up() -> None:
    tensors = TensorMemory("cpu", MIB, 2, 3), TensorMemory("cuda:0", 568 * MIB, 4, 4)
    report = MemoryReport(tensors, (DEVICE,), HOST, "2.13.0", 0.002)
    assert str(report).splitlines() == [
        "tensors    1.00 MiB on cpu: 2 storages, 3 tensors",
        "tensors    568.00 MiB on cuda:0: 4 storages, 4 tensors",
        "allocator  cuda:0: 600.00 MiB allocated of 1000.00 MiB reserved, 400.00 MiB cache",
        "device     cuda:0 (H100): 2.93 GiB of 78.12 GiB used, this process 1.46 GiB",
        "process    300.00 MiB resident",
        "system     4.00 GiB available of 8.00 GiB",
        "together   cuda:0: 2.93 GiB used = tensors 568.00 MiB + only C++ 32.00 MiB + cache 400.00 MiB "
        "+ context 500.00 MiB + others 1.46 GiB",
        "together   host: 300.00 MiB resident = CPU tensors 1.00 MiB + everything else 299.00 MiB",
        "(read in 2.0 ms; tensors that only C++ holds are not counted)",
    ]


def test_the_levels_of_a_device_add_up_to_what_is_used() -> None:
    parts = (DEVICE.allocated_bytes, DEVICE.cache_bytes, DEVICE.context_bytes, DEVICE.other_bytes)
    assert sum(part or 0 for part in parts) == DEVICE.used_bytes


def test_a_process_the_driver_does_not_list_has_no_context_of_its_own() -> None:
    unlisted = DeviceMemory("cuda:0", "H100", 600 * MIB, 1000 * MIB, 3000 * MIB, 80000 * MIB, None)
    assert (unlisted.context_bytes, unlisted.other_bytes) == (None, 2000 * MIB)
    line = reconciled(unlisted, 600 * MIB)
    assert line == (
        "together   cuda:0: 2.93 GiB used = tensors 600.00 MiB + cache 400.00 MiB + context and others 1.95 GiB"
    )


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (0, "tensors 0 B + only C++ 600.00 MiB + cache"),
        (600, "= tensors 600.00 MiB + cache"),
        (700, "= tensors 600.00 MiB + cache"),  # some lie elsewhere than in the allocator's memory
    ],
)
def test_what_the_allocator_gave_out_beyond_the_tensors_is_a_term_of_its_own(seen: int, told: str) -> None:
    assert told in reconciled(DEVICE, seen * MIB)


def reconciled(device: DeviceMemory, seen_bytes: int) -> str:
    tensors = (TensorMemory(device.device, seen_bytes, 1, 1),) if seen_bytes else ()
    return str(MemoryReport(tensors, (device,), HOST, "2.13.0", 0.002)).splitlines()[-3]


def test_no_device_is_looked_for_before_the_program_starts_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for name in ("is_available", "device_count"):
        monkeypatch.setattr(torch.cuda, name, lambda name=name: bool(asked.append(name)))

    assert (memory().devices, asked) == ((), [])


@pytest.mark.parametrize("capturing", [False, True])
def test_the_driver_is_not_asked_while_a_stream_is_captured(capturing: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stubs = {
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "is_current_stream_capturing": lambda: capturing,
        "get_device_properties": lambda index: SimpleNamespace(name="H100", uuid="none"),
        "mem_get_info": lambda index: (20 * MIB, 100 * MIB),
        "memory_allocated": lambda index: 30 * MIB,
        "memory_reserved": lambda index: 40 * MIB,
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(torch.cuda, name, stub)
    monkeypatch.setattr("tenure.capture.memory._ask_driver", lambda properties: (None, None, None))
    report = memory()
    (device,) = report.devices

    assert (device.used_bytes, device.total_bytes) == ((None, None) if capturing else (80 * MIB, 100 * MIB))
    assert ("cuda:0: the driver does not say what is used" in str(report)) == capturing


def test_tensors_beyond_the_resident_memory_are_explained() -> None:
    report = MemoryReport((TensorMemory("cpu", 400 * MIB, 1, 1),), (), HOST, "2.13.0", 0.002)
    assert "some of them were never written" in str(report).splitlines()[-2]


def test_without_torch_in_the_process_torch_is_not_imported() -> None:
    program = "import sys, tenure; print(tenure.memory()); print('torch' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0] == "tensors    none: this process has not imported torch"
    assert out.splitlines()[-1] == "False"
