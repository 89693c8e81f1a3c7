"""What `tenure plan --fake` finds in use at each operation of two steps, against the same steps as they are.

    python benchmarks/fake_accuracy.py [--only NAME ...]

Each of the models of tests/planning/models.py is recorded twice, in processes of their own: with its memory, and with
fake tensors. Told are the operations, how many of them differ by name, at how many another number of bytes is in use,
and the peaks. Bound: no operation differs in either, but for what the page of figures names.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def measure(name: str, *, fake: bool) -> dict[str, Any]:
    """Names of operations and bytes in use at each, not rounded, in this process."""
    from planning.models import MODELS
    from planning.saved import recorded
    from tenure.planning.predict import predict

    if fake:
        from tenure.capture.faking.fake_memory import begin_fake_memory

        begin_fake_memory()
    with tempfile.TemporaryDirectory() as folder:
        stream = recorded(MODELS[name], Path(folder))
    alive = stream.profile.bytes_alive(stream.profile.main_device())
    plan = predict(stream)
    return {
        "names": [stream.profile.text(position) for position in stream.profile.operations.name.tolist()],
        "alive": alive.tolist(),
        "peak": plan.peak_active_bytes,
        "saved": plan.saved_bytes,
    }


def measure_apart(name: str, *, fake: bool) -> dict[str, Any] | str:
    """The same in a process of its own; the error's last line where it failed."""
    command = [sys.executable, "-W", "ignore", __file__, "--measure", name, "fake" if fake else "as it is"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        return (run.stderr.strip().splitlines() or ["?"])[-1]
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def compare(name: str) -> str:
    """One line of the table."""
    found, faked = measure_apart(name, fake=False), measure_apart(name, fake=True)
    if isinstance(found, str) or isinstance(faked, str):
        return f"{name:<26} {found if isinstance(found, str) else faked}"
    same = found["names"] == faked["names"]
    differ = sum(one != other for one, other in zip(found["alive"], faked["alive"], strict=False)) if same else "-"
    columns = (len(found["names"]), "same" if same else "other", differ, found["peak"], faked["peak"])
    return f"{name:<26}" + "".join(f"{each:>12}" for each in (*columns, found["saved"], faked["saved"]))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measure(asked.measure[0], fake=asked.measure[1] == "fake")))
        return 0
    from planning.models import MODELS

    titles = ("operations", "names", "differ", "peak", "peak, fake", "saved", "saved, fake")
    print(f"{'model':<26}" + "".join(f"{title:>12}" for title in titles))
    for name in asked.only or MODELS:
        print(compare(name), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
