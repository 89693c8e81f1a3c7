"""How often Tenure is right on the zoo: programs whose leak, or health, is known.

    python benchmarks/zoo_score.py                    table on stdout, zoo_score.json beside this file
    python benchmarks/zoo_score.py --only SLUG        one program; a part writes JSON only where --output asks for it
    python benchmarks/zoo_score.py --held-out         only the third set aside (sha256 of the slug mod 3 is 0)
    python benchmarks/zoo_score.py --keep FOLDER      leave the recordings there: FOLDER/SLUG/train and …/fixed

Each program runs under `tenure run`, the leaky ones also as fixed.py. Counted are

- recall@1, recall@3: among the first findings one that names the truth's statement (file, line at most 2 off) and name,
- cause: that finding's rule is the expected one,
- bytes: its growth per step, its retained bytes or what it takes off the peak (the one of the three that truth.toml
  gives) within 10 % of what benchmarks/zoo/measure.py measured,
- cut: dropping exactly the references that it names, in a copy of the process a few steps before the end, freed nine
  tenths of what it claims (`tenure run --experiment-step`), a ring below them once the collector ran; not judged where
  the memory is alive only inside a step,
- false alarms: findings above *possible* on healthy and on fixed programs,
- what weighs double: a wrong cause told as *certain*, and extra findings, which are those above *possible* of a leaky
  program at none of the truth's statements.

A program's line is printed once it is judged, the tables at the end. Only recall counts for programs whose figure is
zero (graph nodes alone); their bytes are not scored.
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
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import tomllib

ZOO = Path(__file__).resolve().parent / "zoo"
LINES_OFF = 2
BYTES_OFF = 0.10
CUT_FREES = 0.9
STEPS_BEFORE_END = 3


@dataclass(frozen=True)
class Place:
    """One statement that a finding may rightly name."""

    file: str
    line: int
    name: str


@dataclass(frozen=True)
class Truth:
    """truth.toml of one program."""

    slug: str
    domain: str
    difficulty: int
    healthy: bool
    steps: int
    rules: tuple[str, ...] = ()
    symptom: str = ""
    growth_bytes_per_step: float | None = None
    carried_bytes: float | None = None
    peak_drop_bytes: float | None = None
    places: tuple[Place, ...] = ()

    @property
    def held_out(self) -> bool:
        """Set aside: looked at only to score, never to improve a rule."""
        return int(hashlib.sha256(self.slug.encode()).hexdigest(), 16) % 3 == 0


@dataclass(frozen=True)
class Score:
    """What became of one program. None: does not apply, or could not be judged."""

    slug: str
    family: str
    difficulty: int
    held_out: bool
    rank: int | None = None
    cause: bool | None = None
    bytes: bool | None = None
    cut: bool | None = None
    false_alarms: int | None = None
    wrong_and_certain: bool | None = None
    extra: int | None = None
    said: str = ""
    error: str = ""
    seconds: float = 0.0


def read_truth(path: Path) -> Truth:
    """A program's truth, its expected rule first."""
    data = tomllib.loads(path.read_text())
    common = (data["slug"], data["domain"], data["difficulty"], data["healthy"], data["steps"])
    if data["healthy"]:
        return Truth(*common)
    places = tuple(Place(**place) for place in (data["holder"], *data.get("accept", ())))
    return Truth(
        *common,
        rules=(data["rule"], *data.get("also", ())),
        symptom=data["symptom"],
        growth_bytes_per_step=data.get("growth_bytes_per_step"),
        carried_bytes=data.get("carried_bytes"),
        peak_drop_bytes=data.get("peak_drop_bytes"),
        places=places,
    )


def all_truths() -> list[Truth]:
    """Every program's, by slug."""
    return [read_truth(path) for path in sorted(ZOO.glob("*/truth.toml"))]


def findings_of(program: Path, keep: Path, *options: str, seconds: float | None = None) -> tuple[list[dict], str]:
    """Findings of one run under `tenure run`, recorded below `keep`, and what went wrong: why there are none to judge,
    or which part of the diagnosis failed. `seconds` are the most that it may take."""
    recording = keep / program.parent.name / program.stem
    recording.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tenure", "run", *options, "-o", str(recording), program.name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TENURE": "1"}
    try:
        run = subprocess.run(
            command,
            cwd=program.parent,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return [], f"not done after {seconds:g} s"
    found = recording / "findings.json"
    if run.returncode != 0 or not found.is_file():
        last = (run.stderr.strip() or "no output").splitlines()[-1]
        return [], f"exit code {run.returncode}: {last}"
    diagnosis = json.loads(found.read_text())
    failed = next((text for text in diagnosis["not_seen"] if "a part of the diagnosis failed" in text), "")
    return diagnosis["findings"], failed


def same_file(program: Path, named: str | None, expected: str) -> bool:
    """Whether a finding's file is the program's own `expected`."""
    return named is not None and (program / named).resolve() == (program / expected).resolve()


def places_named(truth: Truth, finding: dict, program: Path | None = None) -> list[Place]:
    """The truth's statements whose file and line a finding names; `program` is its folder."""
    file, line = finding["holder"]["file"], finding["holder"]["line"]
    return [
        place
        for place in truth.places
        if same_file(program or ZOO / truth.slug, file, place.file)
        and line is not None
        and abs(line - place.line) <= LINES_OFF
    ]


def is_right(truth: Truth, finding: dict, program: Path | None = None) -> bool:
    """Whether a finding names one of the truth's statements by file, line and name; `program` is its folder."""
    holder = finding["holder"]
    words = holder["expression"].replace("[", ".").replace("]", ".").split(".")
    return any(place.name in (holder["name"], *words) for place in places_named(truth, finding, program))


def bytes_right(truth: Truth, finding: dict) -> bool | None:
    """Whether the finding's bytes are within 10 % of the measured ones; None where nothing was to be measured."""
    if truth.peak_drop_bytes is not None:
        expected, said = truth.peak_drop_bytes, finding.get("peak_drop_bytes")
    elif truth.carried_bytes is not None:
        expected, said = truth.carried_bytes, finding["retained_bytes"]
    else:
        expected, said = truth.growth_bytes_per_step, finding["growth_bytes_per_step"]
    if not expected:
        return None
    return said is not None and abs(said - expected) <= BYTES_OFF * expected


def cut_right(finding: dict) -> bool | None:
    """Whether dropping the finding's cut was seen to free what it claims, at once or with the next collection; None
    where that could not be tried."""
    tried = [item for item in finding["evidence"] if item["kind"] == "experiment" and item["freed_bytes"] is not None]
    shares = [(item["freed_bytes"] + item.get("collected_bytes", 0)) / item["predicted_bytes"] for item in tried]
    return max(shares) >= CUT_FREES if shares else None


def loud(findings: Iterable[dict]) -> list[dict]:
    """Findings above *possible*."""
    return [finding for finding in findings if finding["confidence"] != "possible"]


def describe(findings: list[dict]) -> str:
    """The first three findings in a few words."""
    return "; ".join(
        f"{item['rule']} {item['holder']['name']} "
        f"{Path(item['holder']['file'] or '?').name}:{item['holder']['line']} {item['confidence']}"
        for item in findings[:3]
    )


def score(truth: Truth, keep: Path) -> Score:
    """Run one program (and its fixed twin) and judge what is said."""
    family = "healthy" if truth.healthy else truth.rules[0]
    base = (truth.slug, family, truth.difficulty, truth.held_out)
    started = time.monotonic()
    at = str(max(3, truth.steps - STEPS_BEFORE_END))
    findings, error = findings_of(ZOO / truth.slug / "train.py", keep, "--experiment-step", at)
    if truth.healthy:
        alarms = None if error else len(loud(findings))
        return Score(
            *base, false_alarms=alarms, said=describe(findings), error=error, seconds=time.monotonic() - started
        )
    ranks = [number for number, finding in enumerate(findings, 1) if is_right(truth, finding)]
    right = findings[ranks[0] - 1] if ranks else None
    fixed, fixed_error = findings_of(ZOO / truth.slug / "fixed.py", keep)
    said = describe(findings) + (f" | fixed: {describe(loud(fixed))}" if loud(fixed) else "")
    return Score(
        *base,
        rank=ranks[0] if ranks else None,
        cause=right["rule"] in truth.rules if right else False,
        bytes=bytes_right(truth, right) if right else (None if bytes_unscored(truth) else False),
        cut=cut_right(right) if right else False,
        wrong_and_certain=bool(right and right["rule"] not in truth.rules and right["confidence"] == "certain"),
        extra=None if error else sum(not places_named(truth, finding) for finding in loud(findings)),
        false_alarms=None if fixed_error else len(loud(fixed)),
        said=said,
        error=error or fixed_error,
        seconds=time.monotonic() - started,
    )


def bytes_unscored(truth: Truth) -> bool:
    """Whether the truth has no bytes to compare with."""
    return not (truth.carried_bytes or truth.growth_bytes_per_step or truth.peak_drop_bytes)


def share(values: Iterable[bool | None]) -> str:
    """`7/9`, of those that could be judged."""
    judged = [value for value in values if value is not None]
    return f"{sum(judged)}/{len(judged)}"


def summarise(scores: list[Score]) -> dict[str, str]:
    """The figures of one group of programs."""
    leaky = [item for item in scores if item.family != "healthy"]
    return {
        "programs": str(len(scores)),
        "recall@1": share(item.rank == 1 for item in leaky),
        "recall@3": share(item.rank is not None and item.rank <= 3 for item in leaky),
        "cause": share(item.cause for item in leaky),
        "bytes": share(item.bytes for item in leaky),
        "cut": share(item.cut for item in leaky),
        "wrong, sure": str(sum(bool(item.wrong_and_certain) for item in leaky)),
        "extra": str(sum(item.extra or 0 for item in leaky)),
        "false alarms": str(sum(item.false_alarms or 0 for item in scores)),
        "failed": str(sum(bool(item.error) for item in scores)),
    }


def groups(scores: list[Score]) -> dict[str, list[Score]]:
    """All, worked-with and held-out, by family and by difficulty."""
    result = {
        "all": scores,
        "worked with": [item for item in scores if not item.held_out],
        "held out": [item for item in scores if item.held_out],
    }
    for family in sorted({item.family for item in scores}):
        result[family] = [item for item in scores if item.family == family]
    for difficulty in sorted({item.difficulty for item in scores}):
        result[f"difficulty {difficulty}"] = [item for item in scores if item.difficulty == difficulty]
    return result


MARKS = {True: "yes", False: "no", None: "-"}


def print_programs(scores: Iterable[Score]) -> list[Score]:
    """One line per program, as they come; returns all."""
    print(
        f"{'program':34} {'family':8} {'rank':>4} {'cause':5} {'bytes':5} {'cut':5} {'extra':>5} {'alarms':>6}  said",
        flush=True,
    )
    judged = []
    for item in scores:
        counts = (item.rank, item.extra, item.false_alarms)
        rank, extra, alarms = ("-" if each is None else str(each) for each in counts)
        marks = " ".join(f"{MARKS[each]:5}" for each in (item.cause, item.bytes, item.cut))
        said = item.error or item.said
        print(f"{item.slug:34} {item.family:8} {rank:>4} {marks} {extra:>5} {alarms:>6}  {said}", flush=True)
        judged.append(item)
    return judged


def print_tables(table: dict[str, dict[str, str]]) -> None:
    """One line per group."""
    headings = list(table["all"])
    print("", f"{'':14}" + "".join(f" {heading:>12}" for heading in headings), sep="\n")
    for name, row in table.items():
        print(f"{name:14}", *(f"{row[heading]:>12}" for heading in headings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="SLUG", help="only this program (may be repeated)")
    parser.add_argument("--jobs", type=int, default=2, help="programs at a time (default 2)")
    parser.add_argument("--held-out", action="store_true", help="only the programs set aside")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the recordings in this folder")
    parser.add_argument("--output", type=Path, help="where the JSON goes (of all programs: zoo_score.json beside this)")
    arguments = parser.parse_args()
    truths = [truth for truth in all_truths() if not arguments.only or truth.slug in arguments.only]
    if arguments.held_out:
        truths = [truth for truth in truths if truth.held_out]
    if not truths:
        raise SystemExit("no such program; see benchmarks/zoo/")
    with tempfile.TemporaryDirectory(prefix="zoo-") as passing, ThreadPoolExecutor(arguments.jobs) as pool:
        keep = arguments.keep or Path(passing)
        scores = print_programs(pool.map(lambda truth: score(truth, keep), truths))
    summary = {name: summarise(group) for name, group in groups(scores).items()}
    print_tables(summary)
    result = {"format": 1, "summary": summary, "programs": [asdict(item) for item in scores]}
    output = arguments.output or (None if arguments.only or arguments.held_out else Path(__file__).with_suffix(".json"))
    if output is not None:
        output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
