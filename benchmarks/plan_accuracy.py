"""What `tenure plan` says that graphs keep at the end of forward, against a census and saved-tensor hooks.

    python benchmarks/plan_accuracy.py [--only NAME ...] [--json FILE]

Each of the models of tests/planning/models.py is planned, looked at by a census, and run under hooks of
`torch.autograd.graph.saved_tensors_hooks`, each in a process of its own; compiled functions are compiled in the last
two. Hooks do not see what a `Function` keeps on its `ctx`, nor what hooks of the program itself pack; a census does not
see the inputs of checkpoints that are not reentrant. Bound: equal to the byte.
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

WAYS = ("plan", "census", "hooks")


def measure(name: str, way: str) -> int:
    """Bytes of one model, in this process."""
    from planning.models import MODELS
    from planning.saved import found_by_census, planned, seen_by_hooks

    if way == "plan":
        with tempfile.TemporaryDirectory() as folder:
            saved = planned(MODELS[name], Path(folder)).saved_bytes
        return -1 if saved is None else saved
    return (found_by_census if way == "census" else seen_by_hooks)(MODELS[name])


def measure_apart(name: str, way: str) -> int | str:
    """The same in a process of its own; the error's last line where it failed."""
    command = [sys.executable, "-W", "ignore", __file__, "--measure", name, way]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(run.stdout) if run.returncode == 0 else (run.stderr.strip().splitlines() or ["?"])[-1][:120]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=())
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(measure(*asked.measure))
        return 0
    from planning.models import MODELS

    rows: dict[str, dict[str, Any]] = {}
    for name in asked.only or MODELS:
        rows[name] = {way: measure_apart(name, way) for way in WAYS}
        print(f"{name:<26}", *(f"{rows[name][way]:>12}" for way in WAYS), flush=True)
    equal = [sum(row["plan"] == row[way] for row in rows.values()) for way in WAYS[1:]]
    print(f"equal to the census: {equal[0]} of {len(rows)}; to the hooks: {equal[1]} of {len(rows)}")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
