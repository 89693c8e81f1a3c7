"""The allocator's record: fakes of torch's functions, as there is no device here."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tenure.capture.sampling import allocator_history


class FakeDevice:
    """What torch has for one kind of device, and what was asked of it."""

    def __init__(
        self, *, started: bool = True, recording: bool = False, tells: bool = True, newer: bool = False
    ) -> None:
        self.calls: list[Any] = []
        self.recording = recording
        names = {"attach": "_xpu_attachOutOfMemoryObserver" if newer else "_cuda_attach_out_of_memory_observer"}
        extensions: dict[str, Any] = {names["attach"]: lambda told: self.calls.append(("attach", told))}
        if tells:
            extensions[f"_{'xpu' if newer else 'cuda'}_isHistoryEnabled"] = lambda: self.recording
        memory = SimpleNamespace(_record_memory_history=self.record, _snapshot=self.copy)
        module = SimpleNamespace(is_initialized=lambda: started, memory=memory)
        self.torch = SimpleNamespace(_C=SimpleNamespace(**extensions), **{"xpu" if newer else "cuda": module})

    def record(self, **how: object) -> None:
        self.calls.append(how)
        self.recording = True

    def copy(self) -> dict[str, Any]:
        return {"segments": [], "device_traces": [[{"action": "alloc"}] if self.recording else []]}


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Any:
    def put(device: FakeDevice) -> FakeDevice:
        monkeypatch.setitem(sys.modules, "torch", device.torch)
        return device

    return put


def test_nothing_is_there_before_the_program_has_started_a_device(put: Any) -> None:
    put(FakeDevice(started=False))

    assert allocator_history.started_backend() is None


@pytest.mark.parametrize(("newer", "name"), [(False, "cuda"), (True, "xpu")])
def test_recording_begins_bounded_and_with_pythons_stacks_alone(put: Any, newer: bool, name: str) -> None:
    device = put(FakeDevice(newer=newer))

    assert allocator_history.started_backend() == name
    assert allocator_history.begin(name, entries=500)
    assert device.calls == [{"enabled": "all", "context": "alloc", "stacks": "python", "max_entries": 500}]


@pytest.mark.parametrize("tells", [True, False])
def test_a_record_of_the_program_s_own_is_left_as_it_is(put: Any, tells: bool) -> None:
    device = put(FakeDevice(recording=True, tells=tells))

    assert not allocator_history.begin("cuda")
    assert device.calls == []
    assert allocator_history.copy_history("cuda") == {"segments": [], "device_traces": [[{"action": "alloc"}]]}


@pytest.mark.parametrize("newer", [False, True])
def test_errors_are_told_of_where_torch_has_a_call_for_it(put: Any, newer: bool) -> None:
    device = put(FakeDevice(newer=newer))

    assert allocator_history.call_when_out_of_memory("xpu" if newer else "cuda", print)
    assert device.calls == [("attach", print)]
    assert not allocator_history.call_when_out_of_memory("cuda" if newer else "xpu", print)


def test_a_torch_without_these_functions_has_no_record(put: Any) -> None:
    device = put(FakeDevice())
    device.torch.cuda.memory = SimpleNamespace()

    assert not allocator_history.begin("cuda")
    assert allocator_history.copy_history("cuda") == {}
