"""Edit a copy, run again, prove it: which of the edits that findings offer help, and change nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tenure import __version__
from tenure.errors import SourceError, UsageError
from tenure.fixing.batches import BatchSearch, find_gain
from tenure.fixing.candidates import Candidate, describe_place, edit_texts, find_candidates
from tenure.fixing.measured import Measured, measure, read_parameters
from tenure.fixing.patch import write_patch
from tenure.fixing.runs import Run, Runner
from tenure.fixing.verdict import Baseline, Verdict, judge, make_baseline
from tenure.model.fix import Figures, Fix, TriedEdit
from tenure.model.units import format_bytes

Say = Callable[[str], None]


@dataclass(frozen=True)
class Proof:
    """The result, and the texts before and after of the files that the kept edits change."""

    fix: Fix
    texts: dict[Path, tuple[bytes, bytes]]


@dataclass(frozen=True)
class _Try:
    candidate: Candidate
    verdict: Verdict
    measured: Measured | None


def fix(runner: Runner, *, program: str, say: Say, batches: BatchSearch | None = None) -> Proof:
    """Run the program twice as it is, once with each edit that its findings offer, and once with all that helped.

    Where `batches` is given and edits are kept, the largest batch within its budget is searched before and after.

    Raises UsageError where the program itself fails or nothing of it can be recorded. `say` is told of each run.
    """
    first = _run_unchanged(runner, say)
    candidates = find_candidates(first)
    if not candidates:
        return _without_edits(runner, first, program)
    more = 1 + len(candidates) + (len(candidates) > 1)
    say(f"{len(candidates)} edit{'s' * (len(candidates) > 1)} to try: {more} more runs")
    baseline = _run_again(runner, first, say)
    tries = [_try(runner, baseline, [candidate], say) for candidate in candidates]
    proof = _prove_together(runner, baseline, tries, program, say)
    return _with_gain(proof, runner, batches, say) if batches is not None and proof.texts else proof


def _with_gain(proof: Proof, runner: Runner, search: BatchSearch, say: Say) -> Proof:
    say(f"searching the largest {search.option} within {format_bytes(search.limit_bytes)}, before and after")
    edited = {path: after for path, (_, after) in proof.texts.items()}
    old, new, num_runs, notes = find_gain(runner.order, search, edited, say)
    before, after = proof.fix.before, proof.fix.after
    told = replace(
        proof.fix,
        before=replace(before, largest_batch=old.largest_batch, samples_per_second=old.samples_per_second),
        after=after and replace(after, largest_batch=new.largest_batch, samples_per_second=new.samples_per_second),
        num_runs=proof.fix.num_runs + num_runs,
        notes=(*proof.fix.notes, *notes),
    )
    return replace(proof, fix=told)


def _run_unchanged(runner: Runner, say: Say) -> Measured:
    say("run 1: as it is")
    run = runner.run()
    _check_usable(runner, run)
    first = measure(run)
    if first is None:
        raise UsageError(f"nothing was recorded of the program: no step was seen{_said(run)}")
    return first


def _run_again(runner: Runner, first: Measured, say: Say) -> Baseline:
    say("run 2: as it is, to know whether it is deterministic")
    second = runner.run(watched=False, hash_at=[first.figures.steps])
    return make_baseline(first, second, read_parameters(second))


def _check_usable(runner: Runner, run: Run) -> None:
    if run.timed_out:
        raise UsageError(f"the program did not end within {runner.order.timeout:g} s; bound it with --steps N")
    if run.exit_code != 0:
        lost = "" if runner.order.in_place else "; --in-place runs it in the folder itself, --steps N before it fails"
        raise UsageError(f"the program ends with exit code {run.exit_code} as it is{_said(run)}{lost}")


def _said(run: Run) -> str:
    return f": {run.last_line}" if run.last_line else ""


def _try(runner: Runner, baseline: Baseline, candidates: Sequence[Candidate], say: Say) -> _Try:
    """One run with the edits of all candidates."""
    findings = tuple({(each.rule, each.fingerprint): each for some in candidates for each in some.findings}.values())
    joined = Candidate(findings, candidates[0].told_by, tuple(edit for each in candidates for edit in each.edits))
    try:
        texts = edit_texts(candidates)
    except SourceError as error:
        return _Try(joined, Verdict(False, False, str(error), None, None), None)
    what = " and ".join(dict.fromkeys(finding.rule for finding in findings))
    say(f"run {runner.num_runs + 1}: with the edit{'s' * (len(candidates) > 1)} for {what}")
    run = runner.run({path: after for path, (_, after) in texts.items()}, hash_at=[baseline.first.figures.steps])
    measured = None if run.timed_out else measure(run)
    return _Try(joined, judge(baseline, measured, run, findings), measured)


def _prove_together(runner: Runner, baseline: Baseline, tries: Sequence[_Try], program: str, say: Say) -> Proof:
    """Those that help alone, proved together; where none does, all that change nothing, as names of one thing may."""
    chosen = [each for each in tries if each.verdict.keeps] or [each for each in tries if each.verdict.same]
    together: _Try | None = next(iter(chosen), None)
    if len(chosen) > 1:
        together = _try(runner, baseline, [each.candidate for each in chosen], say)
    if together is None or not together.verdict.keeps:
        alone = [each for each in tries if each.verdict.keeps]
        together, chosen = (alone[0], alone[:1]) if alone else (None, [])
    tried = [_tell(each, kept=each in chosen) for each in tries]
    if together is None or together.measured is None:
        return _without_edits(runner, baseline.first, program, tried, baseline)
    texts = edit_texts([each.candidate for each in chosen])
    result = Fix(
        program=program,
        verified=baseline.deterministic,
        patch=_patch_of(runner, texts, program),
        before=_figures(baseline.first, together.measured),
        after=_figures(together.measured, baseline.first),
        parameters_equal=together.verdict.parameters_equal,
        outputs_equal=together.verdict.outputs_equal,
        deterministic=baseline.deterministic,
        edits=tuple(tried),
        num_runs=runner.num_runs,
        notes=(*baseline.notes, *together.verdict.notes, *_tell_of_originals(baseline.first.run, baseline.second)),
    )
    return Proof(result, texts)


def _tell(tried: _Try, *, kept: bool) -> TriedEdit:
    why = tried.verdict.why
    if tried.verdict.keeps and not kept:
        why = "it does not go together with the others"
    elif kept and not tried.verdict.helped:
        why = "it helps together with the others"
    return TriedEdit(
        **describe_place(tried.candidate),  # type: ignore[arg-type]
        told_by=tried.candidate.told_by,
        edits=tried.candidate.edits,
        kept=kept,
        why=why,
    )


def _without_edits(
    runner: Runner,
    first: Measured,
    program: str,
    tried: Iterable[TriedEdit] = (),
    baseline: Baseline | None = None,
) -> Proof:
    notes = (
        *(baseline.notes if baseline else ()),
        *_tell_of_originals(first.run, *([baseline.second] if baseline else ())),
    )
    return Proof(
        Fix(
            program=program,
            verified=False,
            patch="",
            before=_figures(first, first),
            after=None,
            parameters_equal=None,
            outputs_equal=None,
            deterministic=baseline.deterministic if baseline else None,
            edits=tuple(tried),
            num_runs=runner.num_runs,
            notes=notes,
        ),
        {},
    )


def _tell_of_originals(*runs: Run) -> list[str]:
    changed = dict.fromkeys(path for run in runs for path in run.changed_originals)
    return [f"the program wrote to {path} itself, which is only linked in the scratch folder" for path in changed]


def _figures(measured: Measured, other: Measured) -> Figures:
    """A run's figures with what was alive at the last step that both runs have a census of."""
    common = [at for at in measured.alive.keys() & other.alive.keys() if at[1] == "step-end"]
    alive = measured.alive[max(common)] if common else (None, None)
    return replace(measured.figures, alive_bytes=alive[0], num_alive=alive[1])


def _patch_of(runner: Runner, texts: dict[Path, tuple[bytes, bytes]], program: str) -> str:
    named = {_name(path, runner.order.folder): pair for path, pair in texts.items()}
    head = [f"made by tenure {__version__}: tenure fix {program}"]
    return write_patch(named, head=head).decode("utf-8", "surrogateescape")


def _name(path: Path, folder: Path) -> str:
    root = os.path.realpath(folder)
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
