"""The sampler of a recording: which sources it reads, and what becomes of those that are missing."""

from __future__ import annotations

import time
from collections.abc import Callable

from tenure.capture.sampling.device import DeviceReader
from tenure.capture.sampling.host import HostReader
from tenure.capture.sampling.sampler import Rows, Sampler


class BetweenSteps:
    """Opened with a recording's first step, closed with the recording."""

    def __init__(
        self,
        rows: Rows,
        *,
        current_step: Callable[[], int],
        is_busy: Callable[[], bool],
        note: Callable[[str, str], None],
        start: float,
    ) -> None:
        self._opened = False
        host = HostReader(lambda text: note("info", text))
        self._device = device = DeviceReader(lambda text: note("info", text))
        self._sampler = Sampler(
            rows,
            lambda: host.read(time.perf_counter()) | device.read(),
            current_step=current_step,
            is_busy=is_busy,
            on_failure=lambda error: note("failure", f"no samples any more: {type(error).__name__}: {error}"),
            start=start,
        )

    @property
    def own_seconds(self) -> float:
        """What reading took; not within the program's steps, though beside them."""
        return self._sampler.own_seconds

    def open(self, device_uuid: str | None) -> None:
        """Begin, or tell of the device that the program has started since."""
        self._device.uuid = device_uuid
        if not self._opened:
            self._opened = True
            self._sampler.start()

    def take_request(self) -> bool:
        """Whether somebody outside has asked for a census since the last time."""
        wanted, self._sampler.census_wanted = self._sampler.census_wanted, False
        return wanted

    def close(self) -> None:
        """End the thread."""
        self._sampler.pause()

    def abandon(self) -> None:
        """In a forked child, where there is no thread."""
        self._sampler.abandon()
