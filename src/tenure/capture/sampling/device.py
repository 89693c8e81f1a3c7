"""What the driver counts for the device in use, by NVML: no context, no waiting, nothing of torch."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any


class DeviceReader:
    """Asks NVML from the moment on that `uuid` is set. `on_missing` is told once of what NVML does not say.

    After an error that is not about one quantity (the device is lost, the program closed NVML's descriptors) it asks
    no more.
    """

    def __init__(self, on_missing: Callable[[str], None], *, load: Callable[[], Any] | None = None) -> None:
        self._on_missing = on_missing
        self._load = load or _import_nvml
        self._nvml: Any = None
        self._handle: Any = None
        self._said: set[str] = set()
        self.uuid: str | None = None
        """Of the device to ask for, as torch names it; set by who knows that the program has started CUDA."""
        self.gave_up = False

    def read(self) -> dict[str, int]:
        """Bytes, percent and degrees by name; empty before a device is known, and after NVML has failed.

        Milliseconds at first, then as long as the driver takes; the interpreter is free meanwhile.
        """
        if self.uuid is None or self.gave_up:
            return {}
        if self._handle is None and not self._begin(self.uuid):
            return {}
        nvml, handle = self._nvml, self._handle
        memory = self._ask("memory", lambda: nvml.nvmlDeviceGetMemoryInfo(handle))
        rates = self._ask("utilisation", lambda: nvml.nvmlDeviceGetUtilizationRates(handle))
        heat = self._ask("temperature", lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        processes = self._ask("processes", lambda: nvml.nvmlDeviceGetComputeRunningProcesses(handle))
        found: dict[str, int] = {}
        if memory is not None:
            found |= {"device_used_bytes": int(memory.used), "device_total_bytes": int(memory.total)}
        if rates is not None:
            found["device_busy_percent"] = int(rates.gpu)
        if heat is not None:
            found["device_celsius"] = int(heat)
        own = [each.usedGpuMemory for each in processes or () if each.pid == os.getpid()]
        if own and own[0]:
            found["device_process_bytes"] = int(own[0])
        elif processes is not None:
            self._say("NVML does not name this process's share of the device, as in containers")
        return found

    def _begin(self, uuid: str) -> bool:
        self._nvml = self._load()
        if self._nvml is None:
            return self._give_up("the package nvidia-ml-py is not there")
        try:
            self._nvml.nvmlInit()
            self._handle = self._nvml.nvmlDeviceGetHandleByUUID(uuid)
        except (self._nvml.NVMLError, AttributeError, OSError) as error:
            return self._give_up(str(error))
        return True

    def _ask(self, what: str, question: Callable[[], Any]) -> Any:
        """The answer; None where this device has none, or NVML has failed."""
        if self.gave_up:
            return None
        try:
            return question()
        except self._nvml.NVMLError as error:
            if type(error).__name__ in ("NVMLError_NotSupported", "NVMLError_NoPermission"):
                self._say(f"NVML does not tell this device's {what}: {error}")
            else:
                self._give_up(str(error))
            return None

    def _give_up(self, why: str) -> bool:
        self.gave_up = True
        self._say(f"not counted: what the driver says of the device ({why})")
        return False

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._on_missing(text)


def _import_nvml() -> Any:
    try:
        import pynvml
    except ImportError:
        return None
    return pynvml
