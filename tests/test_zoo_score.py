"""The short form of `make zoo`: twelve programs that were worked with, run and judged by the same script."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
LEAKING = (
    "crossval-trainer-callbacks",
    "detection-anchor-grids",
    "heat-equation-residuals",
    "llm-three-aliases",
    "pretrain-losses-until-log",
    "prioritized-tree-views",
    "retry-exception-frames",
    "splat-coarse-viewer",
)
HEALTHY = ("healthy-bounded-deque", "healthy-ema-weights", "healthy-hint-teacher", "healthy-static-cache-slots")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.version_info < (3, 11), reason="the script reads TOML with the standard library"),
]


@pytest.fixture(autouse=True)
def _find_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the zoo's programs train with torch")
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.parametrize("slug", LEAKING)
def test_a_leak_alone_is_named_with_its_cause_bytes_and_cut_and_its_mend_is_silent(slug: str, tmp_path: Path) -> None:
    import zoo_score

    truth = zoo_score.read_truth(BENCHMARKS / "zoo" / slug / "truth.toml")
    score = zoo_score.score(truth, tmp_path)
    judged = (score.error, score.rank, score.cause, score.bytes, score.cut, score.extra, score.false_alarms)
    assert judged == ("", 1, True, True, True, 0, 0), score.said


@pytest.mark.parametrize("slug", HEALTHY)
def test_a_healthy_program_is_silent(slug: str, tmp_path: Path) -> None:
    import zoo_score

    truth = zoo_score.read_truth(BENCHMARKS / "zoo" / slug / "truth.toml")
    score = zoo_score.score(truth, tmp_path)
    assert (score.error, score.false_alarms) == ("", 0), score.said
