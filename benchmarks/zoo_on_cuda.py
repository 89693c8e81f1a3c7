"""How often Tenure is right where the zoo's tensors lie on a CUDA device: worked-with programs, moved there.

    python benchmarks/zoo_on_cuda.py --share 0.3 --jobs 12 --json FILE [--keep FOLDER]
    python benchmarks/zoo_on_cuda.py --only SLUG

Each program is copied, and made to lie on the device by `tests/moved_to_cuda.py`, which keeps its lines. Counted are
rank and cause of the finding that names the truth's statement, findings above *possible* on healthy programs, and what
the recording notes as failed. Bytes are not compared: the truth's were measured on the host. Programs that fail there
on their own (`numpy()` of a tensor on the device) are told apart by a plain run and do not count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import zoo_score
from zoo_score import Truth

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from moved_to_cuda import copy_moved_to_cuda

SECONDS = 120


@dataclass(frozen=True)
class OnCuda:
    """What became of one program there; `fails_alone` where it does not run without Tenure either."""

    slug: str
    family: str
    healthy: bool
    rank: int | None = None
    cause: bool = False
    loud: int = 0
    said: str = ""
    notes: tuple[str, ...] = ()
    error: str = ""
    fails_alone: bool = False
    seconds: float = 0.0


def look(truth: Truth, keep: Path) -> OnCuda:
    """Move one program onto the device, run and judge it."""
    started = time.monotonic()
    folder = keep / truth.slug
    copy_moved_to_cuda(zoo_score.ZOO / truth.slug, folder)
    family = "healthy" if truth.healthy else truth.rules[0]
    findings, error = zoo_score.findings_of(folder / "train.py", keep / "recordings", seconds=SECONDS)
    common = {"slug": truth.slug, "family": family, "healthy": truth.healthy, "error": error}
    if error:
        return OnCuda(**common, fails_alone=not runs_alone(folder), seconds=time.monotonic() - started)
    ranks = [number for number, each in enumerate(findings, 1) if zoo_score.is_right(truth, each, folder)]
    return OnCuda(
        **common,
        rank=ranks[0] if ranks else None,
        cause=bool(ranks) and findings[ranks[0] - 1]["rule"] in truth.rules,
        loud=len(zoo_score.loud(findings)),
        said=zoo_score.describe(findings),
        notes=failures(keep / "recordings" / truth.slug / "train"),
        seconds=time.monotonic() - started,
    )


def runs_alone(folder: Path) -> bool:
    """Whether the program ends well by itself."""
    run = subprocess.run([sys.executable, "train.py"], cwd=folder, capture_output=True, check=False, timeout=SECONDS)
    return run.returncode == 0


def failures(recording: Path) -> tuple[str, ...]:
    """What the recorder could not do, in its own words."""
    from tenure.store.recording_file import open_recording

    return tuple(note.text for note in open_recording(recording).notes if note.level == "failure")


def print_table(found: list[OnCuda]) -> None:
    """What differs from the best, then the sums."""
    ran = [each for each in found if not each.fails_alone]
    for each in ran:
        if each.error or each.notes or (each.loud if each.healthy else each.rank != 1 or not each.cause):
            print(
                f"{each.slug:34} {each.family:8} rank {each.rank or '-'}  "
                f"{each.error or each.said} {' '.join(each.notes)}"
            )
    leaky, healthy = [each for each in ran if not each.healthy], [each for each in ran if each.healthy]
    print(
        f"\n{len(ran)} ran there, {len(found) - len(ran)} do not run on a device: of {len(leaky)} leaking ones "
        f"{sum(each.rank == 1 for each in leaky)} first, {sum(each.cause for each in leaky)} with their cause; "
        f"{sum(each.loud > 0 for each in healthy)} of {len(healthy)} healthy ones loud; "
        f"{sum(bool(each.notes) for each in ran)} with something that the recorder could not do, "
        f"{sum(bool(each.error) for each in ran)} failed"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="SLUG")
    parser.add_argument("--share", type=float, default=1.0, help="of the programs, drawn by a hash of their names")
    parser.add_argument("--part", type=int, default=0, help="which draw (default 0)")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave programs and recordings there")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    if not torch.cuda.is_available():
        print("needs a CUDA device")
        return 0
    truths = [each for each in zoo_score.all_truths() if not each.held_out]
    truths = [each for each in truths if (each.slug in asked.only if asked.only else is_drawn(each, asked))]
    with tempfile.TemporaryDirectory(prefix="zoo-") as passing, ThreadPoolExecutor(asked.jobs) as pool:
        keep = asked.keep or Path(passing)
        found = list(pool.map(lambda truth: look(truth, keep), truths))
    print_table(found)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")
    return 0


def is_drawn(truth: Truth, asked: argparse.Namespace) -> bool:
    """Whether a program is in the share that was asked for."""
    place = int(hashlib.sha256(f"cuda {truth.slug}".encode()).hexdigest(), 16) % 1000 / 1000
    return asked.part * asked.share <= place < (asked.part + 1) * asked.share


if __name__ == "__main__":
    raise SystemExit(main())
