"""What handing on a long recording costs: metrics at first and again, rows as CSV and Parquet, and memory for it.

    python benchmarks/exporting.py [--steps 1000000] [--json FILE]

The recording is that of benchmarks/watching.py: sixteen counters of a device. Memory is the most that this process
ever had, Python and NumPy included; the order of the lines is the order of the work. Seconds are those of the clock.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from watching import write


def timed(work: Callable[[], Any]) -> dict[str, float]:
    started = time.perf_counter()
    work()
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "most_mebibytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def measure(folder: Path) -> dict[str, dict[str, float]]:
    from tenure.exporting.csv_text import write_csv
    from tenure.exporting.parquet_file import write_parquet
    from tenure.exporting.process_rows import read_run
    from tenure.exporting.prometheus import RunCollector

    collectors: list[RunCollector] = []
    table, columns = folder / "rows.csv", folder / "rows.parquet"
    found = {"metrics, first": timed(lambda: collectors.append(RunCollector(folder)))}
    found["metrics, again"] = timed(lambda: list(collectors[0].collect()))
    with table.open("w") as stream:
        found["CSV"] = timed(lambda: write_csv(read_run(folder, "steps"), stream))
    found["Parquet"] = timed(lambda: write_parquet(read_run(folder, "steps"), columns))
    for name, file in (("CSV", table), ("Parquet", columns)):
        found[name]["file_mebibytes"] = file.stat().st_size / (1 << 20)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        folder.mkdir()
        write(folder, options.steps)
        found = measure(folder)
    for name, figures in found.items():
        print(f"{name:16}" + "".join(f"{key.replace('_', ' ')} {value:10.3f}   " for key, value in figures.items()))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
