"""Findings and measured runs as `tenure fix` compares them, without a program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tenure.fixing.measured import Measured
from tenure.fixing.runs import Run
from tenure.model.finding import Diagnosis, Finding, Holder
from tenure.model.fix import Figures

HISTORY = Finding(
    rule="TN101",
    name="loss-kept-with-graph",
    symptom="growth",
    confidence="certain",
    origin="yours",
    message="`history` keeps the graph of every step.",
    holder=Holder("global", "history", "history", "train.py", 13),
    path=(),
    cut=(),
    retained_bytes=10_000,
    num_objects=10,
    device="cpu",
    first_step=2,
    last_step=12,
    fingerprint="a",
    growth_bytes_per_step=1000.0,
)
SAME = {6: ("0.0=1:aa", 2.0), 12: ("0.0=1:bb", 3.0)}
LEAKY = {(3, "step-end"): (5_000, 9), (12, "step-end"): (14_000, 18)}
FREED = {(3, "step-end"): (4_500, 8), (12, "step-end"): (4_500, 8)}


def run_of(**values: Any) -> Run:
    run = Run(Path("run"), 0, False, "loss 0.5\n", "", {"model.pt": "1"}, Path("tree"), Path("work"))
    return replace(run, **values)


def measured(
    findings: tuple[Finding, ...] = (HISTORY,),
    *,
    peak: int | None = 20_000,
    growth: float = 1000.0,
    steps: int = 12,
    alive: dict[tuple[int, str], tuple[int, int]] = LEAKY,
    peaks: dict[tuple[int, str], int] | None = None,
    parameters: dict[int, tuple[str, float]] = SAME,
    **of_run: Any,
) -> Measured:
    """A run's figures; `peaks` by moment, or one of `peak` bytes."""
    if peaks is None:
        peaks = {} if peak is None else {(6, "profile"): peak}
    figures = Figures(findings, steps, peak_bytes=max(peaks.values(), default=None), growth_bytes_per_step=growth)
    return Measured(run_of(**of_run), Diagnosis("run", steps, findings), figures, alive, peaks, parameters, {})
