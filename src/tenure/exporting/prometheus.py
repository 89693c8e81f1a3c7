"""Metrics for Prometheus, by its own client library: served over HTTP, or written to a file."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tenure.errors import UsageError
from tenure.exporting.metrics import Metric, Metrics, add_process
from tenure.exporting.process_rows import name_of
from tenure.store.latest_rows import LatestRows
from tenure.store.recording_file import list_recordings

LOOPBACK = "127.0.0.1"


class RunCollector:
    """Collects a run's metrics for a registry; what was read once is not read again, and new ranks are found."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = folder
        self._processes: dict[str, LatestRows] = {}
        self._reading = threading.Lock()
        _import_client()
        self.look()

    def look(self) -> Metrics:
        """What the recordings say now. RecordingError where the folder is gone or of a newer format."""
        metrics = Metrics()
        with self._reading:
            for path in list_recordings(self._folder):
                rows = self._processes.setdefault(path, LatestRows(path))
                rows.look()
                add_process(metrics, rows, name=name_of(self._folder, path))
        return metrics

    def describe(self) -> list[Any]:
        """Nothing: what there is depends on the recording."""
        return []

    def collect(self) -> Iterator[Any]:
        """Families as the client library knows them."""
        for metric in self.look():
            yield _family(metric)


def write_textfile(collector: RunCollector, path: str | Path) -> None:
    """Write the metrics once, by a file that is renamed, as node_exporter's collector wants it. May raise OSError."""
    client = _import_client()
    client.write_to_textfile(str(path), _registry(client, collector))


@contextmanager
def serving(collector: RunCollector, host: str, port: int) -> Iterator[str]:
    """Serve the metrics from threads of this process for as long as the block lasts; gives back the address.

    Port 0 is any free one. UsageError where it cannot be bound.
    """
    client = _import_client()
    try:
        server, thread = client.start_http_server(port, addr=host, registry=_registry(client, collector))
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot serve at {host}:{port}: {getattr(error, 'strerror', None) or error}") from error
    try:
        shown = f"[{host}]" if ":" in host else host
        yield f"http://{shown}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `[HOST:]PORT`; loopback where no host is named. UsageError for anything else."""
    host, colon, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535 or (colon and not host):
        raise UsageError(f"--serve {text}: a port from 0 to 65535 is needed, as in 9464 or 0.0.0.0:9464")
    return host.strip("[]") or LOOPBACK, int(port)


def _registry(client: Any, collector: RunCollector) -> Any:
    registry = client.CollectorRegistry()
    registry.register(collector)
    return registry


def _family(metric: Metric) -> Any:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

    make = CounterMetricFamily if metric.only_rises else GaugeMetricFamily
    family = make(metric.name, metric.help, labels=metric.labels)
    for labels, value in metric.values.items():
        family.add_metric(labels, value)
    return family


def _import_client() -> Any:
    try:
        import prometheus_client
    except ImportError:
        raise UsageError("metrics for Prometheus need its client library; `pip install prometheus-client`") from None
    return prometheus_client
