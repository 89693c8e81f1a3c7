"""What a result says besides its figures: its notes, and the patch with what it rests on in its head."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tenure import __version__
from tenure.fixing.candidates import TRIAL
from tenure.fixing.patch import write_patch
from tenure.fixing.runs import Run, Runner
from tenure.fixing.verdict import Baseline, Verdict
from tenure.model.fix import TriedEdit


def tell_bound(runner: Runner) -> list[str]:
    """That the runs were ended before the program would have, where nobody asked for that."""
    late = f"the program did not end within {runner.order.timeout or 0:g} s"
    return [f"{late}: what is told here is of its first {runner.order.steps} steps"] if runner.is_bounded else []


def tell_files(*runs: Run) -> list[str]:
    """What became of files that are not to be changed."""
    changed = dict.fromkeys(path for run in runs for path in run.changed_originals)
    refused = dict.fromkeys(text for run in runs for text in run.refused)
    told = [f"{path} was changed while the program ran" for path in changed]
    return told + [f"kept from being written: {text}" for text in refused]


def tell_trials(runner: Runner, tried: Sequence[TriedEdit]) -> list[str]:
    """What a reader has to look at where edits are kept by trial."""
    if not any(each.kept and each.told_by == TRIAL for each in tried):
        return []
    until = f"these {runner.order.steps} steps" if runner.order.steps else "this run"
    return [f"what is kept by trial rests on {until} alone: look whether other uses of the program need what it drops"]


def make_head(program: str, baseline: Baseline, verdict: Verdict, tried: Sequence[TriedEdit]) -> list[str]:
    """What the patch rests on, for who reads it without the table."""
    head = [f"made by tenure {__version__}: tenure fix {program}"]
    if not baseline.deterministic:
        head.append("not proved: the program is not deterministic")
    head += [
        f"kept by trial: {each.rule} at {Path(each.file).name}:{each.line}"
        for each in tried
        if each.kept and each.told_by == TRIAL
    ]
    head += [f"compared: {text}" for text in verdict.compared.compared]
    head += [f"not compared: {text}" for text in verdict.compared.not_compared]
    return [" ".join(line.split()) for line in head]


def make_patch(runner: Runner, texts: Mapping[Path, tuple[bytes, bytes]], head: Sequence[str]) -> str:
    """The patch of texts before and after, its names relative to the working folder."""
    named = {_name(path, runner.order.folder): pair for path, pair in texts.items()}
    return write_patch(named, head=head).decode("utf-8", "surrogateescape")


def _name(path: Path, folder: Path) -> str:
    root = os.path.realpath(folder)
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
