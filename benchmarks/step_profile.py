"""What the profiled step costs: per operation, and of the whole step, which happens twice in a run.

    python benchmarks/step_profile.py [--steps 15] [--device cuda]

Plain and watched steps alternate in one process; ratios are of medians, the A/A band is that of the odd and the even
plain ones. `own` is the time inside our own code per operation; the wall clock also shows what torch itself takes for
calling Python at every operation. `begin` is the look at all live tensors before the first operation. The census at
the peak comes on top; see census_speed.py.
"""

from __future__ import annotations

import argparse
import statistics
import time

from recorder_overhead import mlp, thousand_modules, timed, transformer

SCENES = {"MLP": mlp, "transformer": transformer, "thousand modules": thousand_modules}


def watched(step) -> tuple[float, float, float, int]:
    """Seconds to begin, of the step, of our own code in it, and its operations."""
    from tenure.capture.profile.op_watch import OpWatch

    watch = OpWatch(seconds=60.0, is_busy=lambda: False)
    start = time.perf_counter()
    watch.begin()
    begun = time.perf_counter()
    step()
    seconds = time.perf_counter() - begun
    assert watch.stopped is None, watch.stopped
    assert watch.end()
    return begun - start, seconds, watch.own_seconds, watch.num_operations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=15, help="plain pairs and watched steps of each scene")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    print(f"{'':18}{'ops':>7}{'plain ms':>10}{'watched ms':>12}{'ratio':>7}{'A/A':>6}{'own us/op':>11}{'begin ms':>10}")
    for name, make in SCENES.items():
        step = make(arguments.device)
        timed(step, 5)
        odd, even, seen = [], [], []
        for _ in range(arguments.steps):
            odd += timed(step, 1)
            seen.append(watched(step))
            even += timed(step, 1)
        plain = statistics.median(odd + even)
        begin, seconds, own = (statistics.median(column) for column in list(zip(*seen))[:3])
        operations = seen[0][3]
        band = statistics.median(odd) / statistics.median(even)
        print(
            f"{name:18}{operations:7}{plain * 1e3:10.2f}{seconds * 1e3:12.2f}{seconds / plain:7.2f}{band:6.2f}"
            f"{own / operations * 1e6:11.1f}{begin * 1e3:10.1f}"
        )


if __name__ == "__main__":
    main()
