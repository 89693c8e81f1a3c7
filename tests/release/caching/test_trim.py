"""TrimPolicy: gives the cache back only where that helps, rests, backs off, and keeps account."""

from __future__ import annotations

import pytest
import torch

from release.caching.stub_device import StubDevice
from tenure.errors import UsageError
from tenure.release.caching.host_heap import read_host_heap
from tenure.release.caching.trim import AllocatorReading, TrimLedger, TrimPolicy, read_host
from tenure.release.device_bytes import give_back_cache
from tenure.release.outcome import DeviceBytes


class Device:
    """A device of 100 bytes whose allocator keeps what it is told to keep."""

    def __init__(self) -> None:
        self.active = 40
        self.cache = 0
        self.stuck = 0
        self.others = 20
        self.num_trims = 0
        self.goes = 1.0

    def read(self) -> AllocatorReading:
        reserved = self.active + self.cache + self.stuck
        return AllocatorReading(100, reserved + self.others, reserved, self.active, self.stuck)

    def trim(self) -> None:
        self.num_trims += 1
        self.cache -= int(self.cache * self.goes)


@pytest.fixture
def device() -> Device:
    return Device()


def policy_of(device: Device, **options: float) -> TrimPolicy:
    policy = TrimPolicy(device="cpu", **options)  # type: ignore[arg-type]
    policy.read, policy.trim = device.read, device.trim
    return policy


def test_a_reading_tells_what_could_go() -> None:
    reading = AllocatorReading(100, 90, 80, 50, 10)

    assert (reading.free_cache_bytes, reading.pressure, reading.unused_share) == (20, 0.9, 0.25)
    assert AllocatorReading(0, 0, 0, 0, 0).pressure == 0.0


def test_cache_goes_back_under_pressure_and_only_where_there_is_some(device: Device) -> None:
    policy = policy_of(device)
    easy = policy.step()
    device.others = 55
    full_of_use = policy.step()
    device.stuck = 30
    stuck = policy.step()
    device.stuck, device.cache, device.others = 0, 30, 25
    trimmed = policy.step()

    assert [easy.reason, full_of_use.reason, stuck.reason] == [
        "60% of the device are used, below 90%",
        "0% of what is reserved could go, less than 20%",
        "0% of what is reserved could go, less than 20%",
    ]
    assert (trimmed.trimmed, trimmed.freed_bytes, trimmed.step) == (True, 30, 4)
    assert (easy.devices, trimmed.devices) == (
        (DeviceBytes("cpu", 40, 40, None, None, 40, 40),),
        (DeviceBytes("cpu", 40, 40, None, None, 70, 40),),
    )
    assert (easy.survivors, trimmed.survivors) == ((), ())
    assert (device.num_trims, policy.ledger.freed_bytes, policy.ledger.num_steps) == (1, 30, 4)


def test_after_a_trim_it_rests_unless_pressure_has_fallen(device: Device) -> None:
    policy = policy_of(device, rest=3)
    device.cache, device.others = 30, 30
    assert policy.step().trimmed
    device.cache, device.others = 20, 40
    resting = policy.step()
    device.cache, device.others = 20, 10
    fallen = policy.step()
    device.cache, device.others = 20, 40
    again = policy.step()

    assert resting.reason == "resting until step 4 after the last trim"
    assert fallen.reason == "70% of the device are used, below 90%"
    assert again.trimmed


def test_what_is_needed_again_makes_it_wait_twice_as_long_each_time(device: Device) -> None:
    policy = policy_of(device, rest=1)
    trims = []
    for step in range(1, 40):
        device.cache, device.others = 30, 30
        if policy.step().trimmed:
            trims.append(step)

    assert trims == [1, 2, 4, 8, 16, 32]
    assert policy.ledger.taken_back_bytes == 5 * 30
    assert policy.ledger.freed_bytes == 6 * 30


def test_a_trim_that_gives_little_back_makes_it_wait_too(device: Device) -> None:
    policy = policy_of(device, rest=1)
    device.cache, device.others, device.goes = 30, 30, 0.1
    trims = [step for step in range(1, 10) if policy.step().trimmed]

    assert len(trims) < 9


def test_the_ledger_is_told_in_a_line() -> None:
    ledger = TrimLedger(num_steps=1000, num_trims=3, seconds=0.25, freed_bytes=3 << 30, taken_back_bytes=1 << 30)

    assert str(ledger) == "3 trims in 1000 steps: 3.00 GiB given back, 1.00 GiB of it taken again, in 250.0 ms"


@pytest.mark.skipif(read_host_heap() is None, reason="no glibc that tells of its heap here")
def test_on_the_cpu_the_heap_of_the_c_library_is_read_and_trimmed() -> None:
    kept = [torch.ones(12_000) for _ in range(2000)]
    last = torch.ones(12_000)
    del kept
    before = read_host()
    policy = TrimPolicy(pressure=0, unused=0, hysteresis=0, device="cpu")
    outcome = policy.step()

    assert before is not None
    assert before.reserved_bytes > before.active_bytes > 0
    assert outcome.trimmed
    assert outcome.freed_bytes > 50_000_000
    assert (policy.ledger.num_trims, last.numel()) == (1, 12_000)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="given 'cuda'; this process sees no CUDA device"):
        TrimPolicy(device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
def test_on_a_device_the_cache_goes_back() -> None:
    torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    policy = TrimPolicy(pressure=0, unused=0.1)
    outcome = policy.step()

    assert outcome.freed_bytes >= 1 << 28
    assert torch.cuda.memory_reserved() < 1 << 28


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pressure": 1.5}, "pressure is a share, from 0 to 1; 1.5 was given"),
        ({"pressure": "high"}, "pressure is a share, from 0 to 1; 'high' was given"),
        ({"rest": 2.5}, "rest is a number of steps, at least 1; 2.5 was given"),
        ({"device": "nowhere"}, "knows CUDA devices and the CPU; 'nowhere' was given"),
        ({"rest": 0}, "rest is a number of steps, at least 1; 0 was given"),
        ({"device": "meta"}, "knows CUDA devices and the CPU; meta was given"),
    ],
)
def test_mistakes_are_told(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        TrimPolicy(**options)  # type: ignore[arg-type]


def reading_of(stub: StubDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    stats = {"reserved_bytes.all.current": 60, "active_bytes.all.current": 40, "inactive_split_bytes.all.current": 5}
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda device: stats)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (20, 100))
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)


def test_a_device_without_a_number_is_the_one_that_is_current_when_cuda_is_seen_to_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stub = StubDevice(monkeypatch)
    reading_of(stub, monkeypatch)
    policy, named = TrimPolicy(pressure=1), TrimPolicy(pressure=1, device="cuda:3")
    before = policy.step()
    stub.is_started = True
    after = policy.step()
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 2)

    assert (before.devices, before.reason) == ((), "this allocator tells nothing of what it keeps")
    assert after.devices == (DeviceBytes("cuda:1", 40, 40, None, None, 60, 60),)
    assert [each.device for each in (*policy.step().devices, *named.step().devices)] == ["cuda:1", "cuda:3"]


def test_neither_made_nor_asked_a_policy_starts_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = StubDevice(monkeypatch)
    TrimPolicy().step()

    assert set(stub.asked) == {"device_count", "is_initialized"}  # torch counts devices by NVML until CUDA is started


def test_while_a_graph_is_captured_nothing_is_asked_of_the_driver_and_nothing_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stub = StubDevice(monkeypatch, is_started=True)
    reading_of(stub, monkeypatch)
    trims: list[int] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: trims.append(1))
    policy = TrimPolicy(pressure=0, unused=0)
    with stub.captured():
        during = policy.step()
        give_back_cache(["cuda:1"])
    num_during = len(trims)
    after = policy.step()

    assert (during.trimmed, num_during, after.trimmed, len(trims)) == (False, 0, True, 1)
