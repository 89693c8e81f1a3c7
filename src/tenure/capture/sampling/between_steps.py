"""The sampler of a recording: which sources it reads, and what becomes of those that are missing."""

from __future__ import annotations

import time
from collections.abc import Callable

from tenure.capture.sampling.census_signal import CensusSignal
from tenure.capture.sampling.closer_looks import CloserLooks
from tenure.capture.sampling.device import DeviceReader
from tenure.capture.sampling.happenings import Happenings
from tenure.capture.sampling.host import HostReader
from tenure.capture.sampling.sampler import Rows, Sampler

PATIENCE_SECONDS = 30.0
"""So long a census that was asked for waits before it is said that no step has come."""


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
        closer_looks: Callable[[], bool],
        on_look: Callable[[float], None],
        lost_descriptors: Callable[[], bool],
    ) -> None:
        self._opened = False
        self._happenings = Happenings(note, lost_descriptors=lost_descriptors)
        self._on_look = on_look
        self._note = note
        self._signal = CensusSignal()
        self._closer = CloserLooks(note, allowed=closer_looks)
        self.take_step = self._closer.take_step
        self.is_closer_look_due = self._closer.is_due
        self._waits_since: float | None = None
        host = HostReader(lambda text: note("info", text))
        self._device = device = DeviceReader(lambda text: note("info", text))
        self._sampler = Sampler(
            rows,
            lambda: host.read(time.perf_counter()) | device.read(),
            current_step=current_step,
            is_busy=is_busy,
            on_failure=lambda error: note("failure", f"no samples any more: {type(error).__name__}: {error}"),
            start=start,
            on_look=self._look,
        )

    @property
    def own_seconds(self) -> float:
        """What reading took; not within the program's steps, though beside them."""
        return self._sampler.own_seconds

    @property
    def num_forks(self) -> int:
        """Of the process, by the program."""
        return self._sampler.num_forks

    def open(self, device_uuid: str | None) -> None:
        """Begin, or tell of the device that the program has started since."""
        self._device.uuid = device_uuid
        if not self._opened:
            self._opened = True
            self._happenings.open()
            missing = self._signal.open()
            if missing is not None:
                self._note("info", missing)
            self._sampler.start()

    @property
    def asks(self) -> bool:
        """Whether there is a wish for a census, from outside or for a closer look."""
        return self._signal.asked or self._sampler.census_wanted or self._closer.wanted_from is not None

    def take_request(self) -> bool:
        """Whether somebody outside has asked for a census since the last time."""
        wanted, self._sampler.census_wanted = self._sampler.census_wanted, False
        self._waits_since = None
        return self._signal.take() or wanted

    def close(self) -> None:
        """End the thread."""
        self._sampler.pause()

    def tell_last(self) -> None:
        """The recording ends: note what happened since the last look."""
        self._happenings.close()

    def give_back_signal(self) -> None:
        """The recording is over: the signal means again what it meant before."""
        self._signal.close()

    def abandon(self) -> None:
        """In a forked child, where there is no thread."""
        self._sampler.abandon()
        self._happenings.abandon()
        self._signal.close()

    def _look(self, now: float) -> None:
        """On the sampler's thread: look for growth and for a handler of the program's that has come since, and say once
        of each wish that waits for a step for long."""
        self._closer.look(now)
        self._happenings.look(now)
        self._on_look(now)
        taken = self._signal.find_displaced()
        if taken is not None:
            self._note("info", taken)
        if not (self._sampler.census_wanted or self._signal.asked):
            self._waits_since = None
        elif self._waits_since is None:
            self._waits_since = now
        elif now - self._waits_since >= PATIENCE_SECONDS:
            self._waits_since = float("inf")
            text = "a census was asked for and no step has ended since: it comes with the next one"
            self._note("info", text)
