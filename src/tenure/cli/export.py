"""`tenure export`: a recording's counters for other programs: CSV, Parquet, Prometheus."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import click

from tenure.errors import RecordingError, UsageError
from tenure.store.format import SAMPLES, STEPS

STANDARD_OUTPUT = "-"
A_WHILE = 3600.0


@click.command("export", short_help="Counters as CSV, Parquet, or metrics for Prometheus.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=str))
@click.option("--csv", "csv_file", metavar="FILE", help="Write a line for each step; - is standard output.")
@click.option("--parquet", "parquet_file", metavar="FILE", help="Write the same as Parquet (needs pyarrow).")
@click.option("--samples", is_flag=True, help="Write what was counted between steps instead of at each step.")
@click.option("--blocks", "blocks_file", metavar="FILE", help="Write the device allocator's blocks, by owner, as CSV.")
@click.option(
    "--prometheus-textfile", "textfile", metavar="FILE", help="Write what is known last as metrics of Prometheus."
)
@click.option(
    "--serve",
    "address",
    metavar="[HOST:]PORT",
    help="Serve these metrics at /metrics until Ctrl-C; to this machine alone unless a HOST is named.",
)
@click.option(
    "--every",
    type=click.FloatRange(min=0.5),
    metavar="SECONDS",
    help="With --prometheus-textfile: write it so often, until Ctrl-C.",
)
def export_command(
    folder: str,
    csv_file: str | None,
    parquet_file: str | None,
    samples: bool,
    blocks_file: str | None,
    textfile: str | None,
    address: str | None,
    every: float | None,
) -> int:
    """Hand on the counters of the recording in DIR, of all its processes, while they run or afterwards."""
    forms = {"--csv": csv_file, "--parquet": parquet_file, "--blocks": blocks_file}
    forms |= {"--prometheus-textfile": textfile, "--serve": address}
    given = [name for name, value in forms.items() if value is not None]
    if len(given) != 1:
        raise UsageError(f"export needs one of {', '.join(forms)}; given: {', '.join(given) or 'none'}")
    if samples and not (csv_file or parquet_file):
        raise UsageError("--samples is for --csv and --parquet; metrics hold both kinds")
    if every is not None and textfile is None:
        raise UsageError("--every is for --prometheus-textfile")
    kind = SAMPLES if samples else STEPS
    try:
        if csv_file is not None:
            _write_csv(folder, kind, csv_file)
        elif parquet_file is not None:
            _write_parquet(folder, kind, parquet_file)
        elif blocks_file is not None:
            _write_blocks(folder, blocks_file)
        elif textfile is not None:
            _write_textfile(folder, textfile, every)
        elif address is not None:
            _serve(folder, address)
    except BrokenPipeError:
        raise
    except OSError as error:
        wanted = csv_file or parquet_file or blocks_file or textfile
        raise UsageError(f"cannot write {wanted}: {error.strerror or error}") from error
    return 0


def _write_csv(folder: str, kind: str, file: str) -> None:
    from tenure.exporting.csv_text import write_csv
    from tenure.exporting.process_rows import read_run

    _need_recording(folder)
    run = read_run(folder, kind)
    _write_text(lambda stream: write_csv(run, stream), kind, file)


def _write_blocks(folder: str, file: str) -> None:
    from tenure.exporting.blocks_csv import find_copies, write_blocks

    _need_recording(folder)
    copies = find_copies(folder)
    _write_text(lambda stream: write_blocks(copies, stream), "blocks", file)


def _write_text(write: Callable[[TextIO], int], kind: str, file: str) -> None:
    if file == STANDARD_OUTPUT:
        write(sys.stdout)
        return
    with Path(file).open("w", encoding="utf-8", newline="") as stream:
        count = write(stream)
    _say_written(count, kind, file)


def _write_parquet(folder: str, kind: str, file: str) -> None:
    from tenure.exporting.parquet_file import write_parquet
    from tenure.exporting.process_rows import read_run

    _need_recording(folder)
    _say_written(write_parquet(read_run(folder, kind), file), kind, file)


def _write_textfile(folder: str, file: str, every: float | None) -> None:
    from tenure.exporting.prometheus import RunCollector, write_textfile

    collector = RunCollector(folder)
    write_textfile(collector, file)
    with suppress(KeyboardInterrupt):
        while every is not None:
            time.sleep(every)
            write_textfile(collector, file)


def _serve(folder: str, address: str) -> None:
    from tenure.exporting.prometheus import RunCollector, parse_address, serving

    host, port = parse_address(address)
    with serving(RunCollector(folder), host, port) as url, suppress(KeyboardInterrupt):
        click.echo(f"tenure: serving {url}; Ctrl-C ends it", err=True)
        while True:
            time.sleep(A_WHILE)


def _need_recording(folder: str) -> None:
    from tenure.store.recording_file import list_recordings

    if not list_recordings(folder):
        raise RecordingError(f"{folder} holds no recording yet; a program records from its first step on")


def _say_written(count: int, kind: str, file: str) -> None:
    click.echo(f"tenure: {file}: {count:,} {kind}", err=True)
