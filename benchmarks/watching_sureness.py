"""How often growth is told where there is none, a small leak is found, and a forecast's interval holds the truth.

    python benchmarks/watching_sureness.py [--runs 200] [--first-seed 10000] [--every 1] [--json FILE]

Runs are simulated (tests/analysis/watching/simulated.py says how), from other seeds than those of the tests. A healthy
run is looked at after 500, 1,000, 1,500 and 2,000 steps, and one look that tells growth is a false alarm; a leak of 1
KiB per step, 64 KiB in resident memory, begins with the run or 500 steps before its end. `noticed` is the recorder's
own coarser test, which brings a closer look. Bounds: 1 false alarm in 100 runs, 90 % intervals that hold the truth in
85 of 100.

With `--every 2` only every other step of the same runs has its counters, as where the machine is slow for steps as
quick as these, and the recorder leaves out readings; with 10 as in steps that are too quick on any.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from analysis.watching.simulated import GROWING, HEALTHY, Row, draw, draw_with_limit, resident, small_leak_of
from tenure.analysis.watching.running_out import steps_until
from tenure.analysis.watching.slow_growth import find_slow_growth
from tenure.analysis.watching.warm_up import warm_up_end
from tenure.capture.sampling.trend import TrendWatch
from tenure.model.growth_rule import LEAST_RISE

LOOKS = (500, 1000, 1500, 2000)
STEPS = np.arange(1.0, LOOKS[-1] + 1)
SOON = 500
"""Steps within which a leak has to be found."""
LOOK_EACH = 50
"""Steps between two looks of the recorder's own test."""


def read_within(until: int, every: int) -> slice:
    """Of the first `until` steps those after which counters were read: the last of each `every`."""
    return slice(every - 1, until, every)


def is_told(values: np.ndarray, until: int, every: int, name: str) -> bool:
    read = read_within(until, every)
    return find_slow_growth(STEPS[read], values[read], least_rise=LEAST_RISE[name]) is not None


def first_notice(values: np.ndarray, name: str, every: int) -> int | None:
    """The step at which the recorder itself notices growth."""
    watch = TrendWatch()
    for step, value in enumerate(values.tolist(), start=1):
        if step % every == 0:
            watch.add(step, {name: int(value)})
        if step % LOOK_EACH == 0 and watch.look() is not None:
            return step
    return None


def score_growth(rows: Sequence[Row], seeds: range, every: int) -> dict[str, float]:
    """Percent of the runs."""
    leak, name = small_leak_of(rows), "rss_bytes" if resident in rows else "allocated_bytes"
    found = dict.fromkeys(("false alarms", "found in 500", "found late", "noticed, healthy", "noticed in 500"), 0)
    for seed in seeds:
        values = draw(rows, seed, len(STEPS))
        late = values + leak * np.maximum(0.0, STEPS - (len(STEPS) - SOON))
        found["false alarms"] += any(is_told(values, look, every, name) for look in LOOKS)
        found["found in 500"] += is_told(values + leak * STEPS, SOON, every, name)
        found["found late"] += is_told(late, len(STEPS), every, name)
        found["noticed, healthy"] += first_notice(values, name, every) is not None
        found["noticed in 500"] += first_notice((values + leak * STEPS)[:SOON], name, every) is not None
    return {key: 100 * count / len(seeds) for key, count in found.items()}


def score_forecast(rows: Sequence[Row], seeds: range, every: int) -> dict[str, float]:
    """Percent of the runs that hold the truth, and how wide the intervals are: their ends over the likeliest step."""
    inside, ends = 0, []
    for seed in seeds:
        values, limit, truth = draw_with_limit(rows, seed)
        read = read_within(len(values), every)
        steps, values = np.arange(1.0, len(values) + 1)[read], values[read]
        start = warm_up_end(steps, values)
        told = steps_until(steps[start:], values[start:], limit)
        if told is not None:
            latest = np.inf if told.latest is None else told.latest
            inside += told.soonest <= truth <= latest
            ends.append((told.soonest / max(1.0, told.steps), latest / max(1.0, told.steps)))
    low, high = np.median(np.array(ends), axis=0).tolist()
    return {"holds the truth": 100 * inside / len(seeds), "soonest, median": low, "latest, median": high}


def score(seeds: range, every: int) -> Iterator[tuple[str, str, dict[str, float]]]:
    for name, rows in HEALTHY.items():
        yield "growth", name, score_growth(rows, seeds, every)
    for name, rows in GROWING.items():
        yield "forecast", name, score_forecast(rows, seeds, every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=10_000)
    parser.add_argument("--every", type=int, default=1, help="a reading after each so many steps")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, dict[str, dict[str, float]]] = {"growth": {}, "forecast": {}}
    seeds = range(options.first_seed, options.first_seed + options.runs)
    for part, name, figures in score(seeds, options.every):
        if not found[part]:
            print(f"{part:30}" + "".join(f"{key:>18}" for key in figures))
        found[part][name] = figures
        print(f"{name:30}" + "".join(f"{value:18.2f}" for value in figures.values()), flush=True)
    if options.json:
        options.json.write_text(
            json.dumps({"format": 1, "runs": options.runs, "every": options.every, **found}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
