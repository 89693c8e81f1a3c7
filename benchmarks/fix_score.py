"""How often `tenure fix` proves a fix on the zoo, and that it leaves no program worse.

    python benchmarks/fix_score.py --sample 12        twelve programs, spread evenly over the zoo
    python benchmarks/fix_score.py --jobs 2           all that are worked with
    python benchmarks/fix_score.py --held-out         only the third set aside (sha256 of the slug mod 3 is 0)
    python benchmarks/fix_score.py --only SLUG        one program
    python benchmarks/fix_score.py --out FILE.json    what became of each program (default: fix_score.json beside this)

Each program runs under `tenure fix --json`: as it is, and where edits are offered again, once per edit, and once with
all that help. Counted are, of the
leaky programs,

- offered: a finding that names the truth's statement or has its rule comes with an edit, a mechanical remedy, or with
  ways that only a run can prove,
- fixed: of these, those whose finding is gone under the kept edits, with parameters identical to the bit (or none
  there to compare) and outputs unchanged,

and of all programs those left worse: a patch for a healthy program, or one whose peak, growth, parameters, outputs or
exit code are not what they were or better. A healthy program's patch is worse by definition.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from zoo_score import ZOO, Truth, all_truths, is_right

HERE = Path(__file__).resolve().parent
LIMIT_SECONDS = 900
PEAK_NOISE = 0.01


@dataclass(frozen=True)
class Score:
    """What became of one program."""

    slug: str
    healthy: bool
    rule: str
    offered: bool = False
    fixed: bool = False
    worse: str = ""
    patched: bool = False
    verified: bool = False
    deterministic: bool | None = None
    by_trial: bool = False
    runs: int = 0
    seconds: float = 0.0
    why: str = ""
    error: str = ""


def fix(truth: Truth) -> tuple[dict | None, str]:
    """The JSON of `tenure fix`, or why there is none."""
    command = [sys.executable, "-m", "tenure", "fix", "--json", "train.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TENURE": "1"}
    try:
        done = subprocess.run(
            command, cwd=ZOO / truth.slug, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return None, f"not done in {LIMIT_SECONDS} s"
    if done.returncode not in (0, 1):
        return None, (done.stderr.strip().splitlines() or ["no output"])[-1]
    return json.loads(done.stdout), ""


def is_about_truth(truth: Truth, finding: dict) -> bool:
    """Whether a finding is of the truth's leak."""
    return is_right(truth, finding) or finding["rule"] in truth.rules


def score(truth: Truth) -> Score:
    """Run one program under `tenure fix` and judge the result."""
    started = time.monotonic()
    result, error = fix(truth)
    seconds = round(time.monotonic() - started, 1)
    common = (truth.slug, truth.healthy, truth.rules[0] if truth.rules else "")
    if result is None:
        return Score(*common, seconds=seconds, error=error)
    about = [
        finding for finding in result["before"]["findings"] if not truth.healthy and is_about_truth(truth, finding)
    ]
    tried = {(edit["rule"], Path(edit["file"]).name, edit["line"]) for edit in result["edits"]}
    offered = [finding for finding in about if place_of(finding) in tried or has_edits(finding)]
    left = {(finding["rule"], finding["fingerprint"]) for finding in (result["after"] or result["before"])["findings"]}
    gone = [finding for finding in offered if (finding["rule"], finding["fingerprint"]) not in left]
    proved = result["verified"] and result["parameters_equal"] is not False and result["outputs_equal"] is not False
    return Score(
        *common,
        offered=bool(offered),
        fixed=bool(gone) and proved,
        worse=what_is_worse(truth, result),
        patched=bool(result["patch"]),
        verified=result["verified"],
        deterministic=result["deterministic"],
        by_trial=any(edit["kept"] and edit["told_by"] == "trial" for edit in result["edits"]),
        runs=result["runs"],
        seconds=seconds,
        why="; ".join(
            f"{edit['rule']} {'kept' if edit['kept'] else 'not kept'}: {edit['why']}" for edit in result["edits"]
        ),
    )


def place_of(finding: dict) -> tuple[str, str, int]:
    """Rule, file and line of a finding."""
    return finding["rule"], Path(finding["holder"]["file"] or "").name, finding["holder"]["line"] or 0


def has_edits(finding: dict) -> bool:
    """Whether one of its remedies is mechanical."""
    return any(remedy["edits"] for remedy in finding["remedies"])


def what_is_worse(truth: Truth, result: dict) -> str:
    """Why a program would be worse off under its patch; "" where it is not."""
    if not result["patch"]:
        return ""
    before, after = result["before"], result["after"]
    if truth.healthy:
        return "a patch for a healthy program"
    if result["parameters_equal"] is False or result["outputs_equal"] is False:
        return "it changes what is computed"
    if before["peak_bytes"] and after["peak_bytes"] > (1 + PEAK_NOISE) * before["peak_bytes"]:
        return f"the peak rises from {before['peak_bytes']} to {after['peak_bytes']}"
    if (after["growth_bytes_per_step"] or 0) > (before["growth_bytes_per_step"] or 0) * (1 + PEAK_NOISE):
        return f"growth rises to {after['growth_bytes_per_step']}"
    return ""


def choose(arguments: argparse.Namespace) -> list[Truth]:
    """The programs to run, in the order of their slugs."""
    truths = [truth for truth in all_truths() if truth.held_out == arguments.held_out]
    if arguments.only:
        return [truth for truth in all_truths() if truth.slug in arguments.only]
    if arguments.leaky:
        truths = [truth for truth in truths if not truth.healthy]
    if arguments.rules:
        truths = [truth for truth in truths if truth.rules and truth.rules[0] in arguments.rules.split(",")]
    step = max(1, len(truths) // arguments.sample) if arguments.sample else 1
    return truths[::step]


def summary(scores: list[Score]) -> dict[str, str]:
    """The figures of all programs."""
    leaky = [each for each in scores if not each.healthy]
    offered = [each for each in leaky if each.offered]
    return {
        "programs": f"{len(leaky)} leaky, {len(scores) - len(leaky)} healthy",
        "with a mechanical remedy": f"{len(offered)}/{len(leaky)}",
        "fixed and verified": f"{sum(each.fixed for each in offered)}/{len(offered)}",
        "of these with an edit by trial": str(sum(each.fixed and each.by_trial for each in offered)),
        "most runs of one program": str(max((each.runs for each in scores), default=0)),
        "healthy programs with a patch": f"{sum(each.patched for each in scores if each.healthy)}",
        "left worse": str(sum(bool(each.worse) for each in scores)),
        "not deterministic": str(sum(each.deterministic is False for each in scores)),
        "could not be run": str(sum(bool(each.error) for each in scores)),
    }


def read_scores(path: Path) -> list[Score]:
    """What an earlier run wrote; nothing where there is none."""
    return [Score(**each) for each in json.loads(path.read_text())["programs"]] if path.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="SLUG")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--leaky", action="store_true", help="leave out healthy programs")
    parser.add_argument("--rules", metavar="TN101,...", help="only programs whose cause is one of these")
    parser.add_argument("--sample", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--more", action="store_true", help="keep what the file has, and run the others")
    parser.add_argument("--out", type=Path, default=HERE / "fix_score.json")
    arguments = parser.parse_args()
    scores = read_scores(arguments.out) if arguments.more else []
    done = {each.slug for each in scores}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for each in pool.map(score, [each for each in choose(arguments) if each.slug not in done]):
            scores.append(each)
            state = each.error or each.worse or ("fixed" if each.fixed else "offered" if each.offered else "no edit")
            print(
                f"{each.slug:36} {each.rule or 'healthy':8} {each.seconds:6.1f} s  {state}  {each.why[:150]}",
                flush=True,
            )
            write(arguments.out, scores)
    print(json.dumps(summary(scores), indent=1))


def write(path: Path, scores: list[Score]) -> None:
    """All that is known so far, after each program: a run of hours may be interrupted."""
    text = json.dumps(
        {"format": 1, "summary": summary(scores), "programs": [asdict(each) for each in scores]}, indent=1
    )
    path.write_text(text + "\n")


if __name__ == "__main__":
    main()
