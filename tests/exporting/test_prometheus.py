from __future__ import annotations

import http.client
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporting.runs import GIB, KIB, WrittenRun
from tenure.cli.main import run_command_line
from tenure.errors import UsageError

client = pytest.importorskip("prometheus_client")
parser = pytest.importorskip("prometheus_client.parser")

from tenure.exporting.prometheus import RunCollector, parse_address, serving, write_textfile  # noqa: E402

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parse(text: str) -> Samples:
    """Values by name and labels that are not empty, by the client library's own parser."""
    return {
        (sample.name, frozenset((name, value) for name, value in sample.labels.items() if value)): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def written(tmp_path: Path, collector: RunCollector) -> Samples:
    write_textfile(collector, tmp_path / "tenure.prom")
    return parse((tmp_path / "tenure.prom").read_text())


def two_ranks(folder: Path) -> tuple[WrittenRun, WrittenRun]:
    first = WrittenRun(folder, rank=0).add_steps(5)
    first.add_sample(device_celsius=51, device_busy_percent=40, rss_bytes=77, new_bytes=3, num_new=2)
    first.add(kind="census", step=4, moment="step-end", file="c.npz", bytes_by_role={"parameter": 10, "other": 2})
    first.add(kind="note", level="warning", text="!", step=1)
    return first, WrittenRun(folder / "rank-00001", rank=1).add_steps(2)


def test_counters_at_the_ends_of_phases_are_one_metric_with_the_phase_as_label(tmp_path: Path) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(1)
    run.add_sample(forward_rss_bytes=7, evaluation_rss_bytes=5, backward_allocated_peak_bytes=9)

    told = written(tmp_path, RunCollector(tmp_path / "run"))

    assert {name: value for name, value in told.items() if "phase" in name[0]} == {
        key("tenure_phase_process_resident_bytes", process="main", phase="forward"): 7,
        key("tenure_phase_process_resident_bytes", process="main", phase="evaluation"): 5,
        key("tenure_phase_allocator_allocated_peak_bytes", process="main", phase="backward"): 9,
    }


def test_metrics_have_base_units_and_say_whose_they_are(tmp_path: Path) -> None:
    two_ranks(tmp_path / "run")

    told = written(tmp_path, RunCollector(tmp_path / "run"))

    main, other = {"process": "main", "rank": "0"}, {"process": "rank-00001", "rank": "1"}
    device = {"device": "cuda:0"}
    assert told == {
        key("tenure_steps_total", **main): 5,
        key("tenure_run_seconds_total", **main): 1.25,
        key("tenure_step_duration_seconds", **main): 0.25,
        key("tenure_ended", **main): 0,
        key("tenure_censuses_total", **main): 1,
        key("tenure_last_census_step", **main): 4,
        key("tenure_notes_total", level="info", **main): 0,
        key("tenure_notes_total", level="warning", **main): 1,
        key("tenure_notes_total", level="failure", **main): 0,
        key("tenure_run_info", tenure="9.9", torch="2.13.0", **main): 1,
        key("tenure_process_resident_bytes", **main): 77,
        key("tenure_device_size_bytes", **device, **main): 8 * GIB,
        key("tenure_allocator_out_of_memory_total", **device, **main): 0,
        key("tenure_allocator_allocated_bytes", **device, **main): GIB + 4,
        key("tenure_device_temperature_celsius", **device, **main): 51,
        key("tenure_device_busy_ratio", **device, **main): 0.4,
        key("tenure_new_bytes", **main): 3,
        key("tenure_new", **main): 2,
        key("tenure_storage_bytes", role="parameter", **main): 10,
        key("tenure_storage_bytes", role="other", **main): 2,
        key("tenure_steps_total", **other): 2,
        key("tenure_run_seconds_total", **other): 0.5,
        key("tenure_step_duration_seconds", **other): 0.25,
        key("tenure_ended", **other): 0,
        key("tenure_censuses_total", **other): 0,
        key("tenure_notes_total", level="info", **other): 0,
        key("tenure_notes_total", level="warning", **other): 0,
        key("tenure_notes_total", level="failure", **other): 0,
        key("tenure_run_info", tenure="9.9", torch="2.13.0", **other): 1,
        key("tenure_process_resident_bytes", **other): 2 * KIB,
        key("tenure_device_size_bytes", **device, **other): 8 * GIB,
        key("tenure_allocator_out_of_memory_total", **device, **other): 0,
        key("tenure_allocator_allocated_bytes", **device, **other): GIB + 2,
    }


def test_memory_beside_the_allocator_is_what_the_driver_counts_beyond_it(tmp_path: Path) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(1)
    run.add_sample(device_process_bytes=5 * GIB, reserved_bytes=4 * GIB)

    told = written(tmp_path, RunCollector(run.folder))

    assert told[key("tenure_device_beside_allocator_bytes", process="main", device="cuda:0")] == GIB


def test_counters_are_counters_and_gauges_gauges(tmp_path: Path) -> None:
    two_ranks(tmp_path / "run")
    write_textfile(RunCollector(tmp_path / "run"), tmp_path / "tenure.prom")

    families = parser.text_string_to_metric_families((tmp_path / "tenure.prom").read_text())
    kinds = {family.name: family.type for family in families}

    assert {name for name, kind in kinds.items() if kind == "counter"} == {
        "tenure_steps",
        "tenure_run_seconds",
        "tenure_censuses",
        "tenure_notes",
        "tenure_allocator_out_of_memory",
    }
    assert set(kinds.values()) == {"counter", "gauge"}


def test_a_run_that_goes_on_is_told_further_and_new_ranks_are_found(tmp_path: Path) -> None:
    run = WrittenRun(tmp_path / "run", rank=0).add_steps(3)
    collector = RunCollector(run.folder)
    before = written(tmp_path, collector)
    run.add_steps(7).add(kind="end", reason="exit")
    WrittenRun(run.folder / "rank-00001", rank=1).add_steps(1)
    after = written(tmp_path, collector)

    steps = [key("tenure_steps_total", process="main", rank="0")]
    steps.append(key("tenure_steps_total", process="rank-00001", rank="1"))
    ended = key("tenure_ended", process="main", rank="0")
    assert [before.get(each) for each in (*steps, ended)] == [3, None, 0]
    assert [after.get(each) for each in (*steps, ended)] == [10, 1, 1]


def test_every_known_counter_has_a_name_of_its_own() -> None:
    from tenure.exporting.metrics import _KNOWN

    names = [known.name for known in _KNOWN.values()]
    assert len(names) == len(set(names))
    assert all(
        name.endswith("_bytes") == counter.endswith("_bytes") for counter, name in zip(_KNOWN, names, strict=True)
    )


@pytest.mark.parametrize(
    ("text", "address"),
    [("9464", ("127.0.0.1", 9464)), ("0.0.0.0:80", ("0.0.0.0", 80)), ("[::1]:0", ("::1", 0)), ("node:1", ("node", 1))],
)
def test_a_port_alone_is_this_machines_own(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize("text", ["", ":9464", "localhost", "9464x", "70000", "-1"])
def test_what_is_no_address_is_one_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"a port from 0 to 65535 is needed, as in 9464 or 0\.0\.0\.0:9464"):
        parse_address(text)


def scrape(url: str, path: str = "/metrics") -> str:
    host = url.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(host, timeout=20)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read().decode()
    finally:
        connection.close()


def test_metrics_are_served_while_the_block_lasts(tmp_path: Path) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(3)
    with serving(RunCollector(run.folder), "127.0.0.1", 0) as url:
        assert url.startswith("http://127.0.0.1:")
        first = parse(scrape(url))
        run.add_steps(2)
        second = parse(scrape(url))

    steps = key("tenure_steps_total", process="main")
    assert (first[steps], second[steps]) == (3, 5)
    with pytest.raises(ConnectionRefusedError):
        scrape(url)


def test_an_address_that_is_taken_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(1)
    with serving(RunCollector(run.folder), "127.0.0.1", 0) as url:
        port = url.removeprefix("http://127.0.0.1:").removesuffix("/metrics")
        assert run_command_line(["export", str(run.folder), "--serve", port]) == 2

    assert capsys.readouterr().err == f"tenure: cannot serve at 127.0.0.1:{port}: Address already in use\n"


def test_without_the_client_library_it_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = WrittenRun(tmp_path / "run").add_steps(1)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    assert run_command_line(["export", str(run.folder), "--serve", "0"]) == 2

    told = "tenure: metrics for Prometheus need its client library; `pip install prometheus-client`\n"
    assert capsys.readouterr().err == told


@pytest.fixture
def serving_command(tmp_path: Path) -> Iterator[tuple[WrittenRun, str, subprocess.Popen[str]]]:
    run = WrittenRun(tmp_path / "run").add_steps(3)
    command = [sys.executable, "-m", "tenure", "export", str(run.folder), "--serve", "0"]
    # A job in the background is started with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, before)
    with process:
        assert process.stderr is not None
        try:
            line = process.stderr.readline()
            yield run, line.removeprefix("tenure: serving ").partition(";")[0], process
        finally:
            process.kill()


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(
    serving_command: tuple[WrittenRun, str, subprocess.Popen[str]],
) -> None:
    run, url, process = serving_command
    run.add_steps(4)

    told = parse(scrape(url))
    process.send_signal(signal.SIGINT)

    assert told[key("tenure_steps_total", process="main")] == 7
    assert process.wait(20) == 0
