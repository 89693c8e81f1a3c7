"""The zoo's truths are consistent with its programs, and its programs run."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ZOO = Path(__file__).resolve().parent.parent / "benchmarks" / "zoo"
RULES = {
    *("TN101", "TN102", "TN103", "TN104", "TN105", "TN106", "TN107"),
    *("TN201", "TN202", "TN203", "TN204", "TN205"),
    *("TN301", "TN302", "TN303", "TN304", "TN305"),
    *("TN401", "TN402", "TN403", "TN404", "TN405"),
    "TN601",
}
ALLOWED = RULES | {"TN900"}  # "unexplained": no program needs it as its best answer
BYTES_KEYS = {
    "growth": {"growth_bytes_per_step"},
    "sawtooth": {"growth_bytes_per_step"},
    "cycle": {"growth_bytes_per_step"},
    "peak": {"carried_bytes"},
    "survivor": {"carried_bytes"},
    "idle": {"peak_drop_bytes"},
    "host": set(),  # no storages to weigh
}
TRUTHS: dict[str, dict[str, Any]] = {
    path.parent.name: tomllib.loads(path.read_text()) for path in sorted(ZOO.glob("*/truth.toml"))
}
LEAKY = [slug for slug, truth in TRUTHS.items() if not truth["healthy"]]
EACH_KIND = 1
WHOLE_ZOO = bool(os.environ.get("WHOLE_ZOO"))


def sample() -> list[str]:
    """A fixed few: of each difficulty, leaky and healthy, those whose slugs come first by hash."""
    kinds: dict[tuple[int, bool], list[str]] = {}
    for slug in sorted(TRUTHS, key=lambda slug: hashlib.sha256(slug.encode()).hexdigest()):
        kinds.setdefault((TRUTHS[slug]["difficulty"], TRUTHS[slug]["healthy"]), []).append(slug)
    return sorted(slug for slugs in kinds.values() for slug in slugs[:EACH_KIND])


def test_there_are_enough_programs_of_both_kinds() -> None:
    assert len(LEAKY) >= 24
    assert len(TRUTHS) - len(LEAKY) >= 14
    assert {TRUTHS[slug]["rule"] for slug in LEAKY} == RULES


def test_every_folder_has_a_truth_and_no_word_about_it_in_its_programs() -> None:
    folders = {path.name for path in ZOO.iterdir() if path.is_dir() and path.name != "__pycache__"}
    sources = [path.read_text().lower() for path in ZOO.glob("*/**/*.py")]

    assert folders == set(TRUTHS)
    assert [source for source in sources if re.search(r"leak(?!y_?relu)|tenure|truth|# bug", source)] == []


@pytest.mark.parametrize("slug", TRUTHS)
def test_a_truth_has_what_the_score_reads(slug: str) -> None:
    truth = TRUTHS[slug]
    common = {"slug", "domain", "difficulty", "healthy", "steps"}
    if truth["healthy"]:
        assert set(truth) == common | {"why"}
    else:
        leaky = {"rule", "also", "symptom", "holder"} | BYTES_KEYS[truth["symptom"]]
        assert set(truth) - {"accept", "catalogue"} == common | leaky
        assert {truth["rule"], *truth["also"]} <= ALLOWED
    assert truth["slug"] == slug
    assert truth["difficulty"] in range(1, 6)


@pytest.mark.parametrize("slug", LEAKY)
def test_each_named_line_contains_the_name(slug: str) -> None:
    for place in (TRUTHS[slug]["holder"], *TRUTHS[slug].get("accept", ())):
        line = (ZOO / slug / place["file"]).read_text().splitlines()[place["line"] - 1]
        assert place["name"] in line, place


@pytest.mark.parametrize("slug", TRUTHS)
def test_a_leaky_program_has_a_fixed_one_beside_it_and_a_healthy_one_has_not(slug: str) -> None:
    assert (ZOO / slug / "train.py").is_file()
    assert (ZOO / slug / "fixed.py").is_file() != TRUTHS[slug]["healthy"]


def test_the_sample_has_each_difficulty() -> None:
    assert {TRUTHS[slug]["difficulty"] for slug in sample()} == {1, 2, 3, 4, 5}


@pytest.mark.slow
@pytest.mark.parametrize("slug", TRUTHS if WHOLE_ZOO else sample())
def test_a_program_runs_to_its_end(slug: str) -> None:
    """All of them with WHOLE_ZOO=1 (`make zoo-programs`)."""
    pytest.importorskip("torch", reason="the zoo's programs train with torch")
    for program in ("train.py", *(() if TRUTHS[slug]["healthy"] else ("fixed.py",))):
        run = subprocess.run(
            [sys.executable, program],
            cwd=ZOO / slug,
            env={**os.environ, "TENURE": "0", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
