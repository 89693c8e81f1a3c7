"""Edit a copy, run again, prove it: which of the edits that findings offer help, and change nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tenure.errors import SourceError, UsageError
from tenure.fixing.candidates import (
    MOST_AKIN,
    MOST_GUESSED,
    TRIAL,
    Candidate,
    describe_place,
    edit_texts,
    find_candidates,
    find_trials,
    join_candidates,
)
from tenure.fixing.guesses import MOST_WAYS
from tenure.fixing.measured import Measured, count_steps, measure, read_parameters
from tenure.fixing.runs import Run, Runner
from tenure.fixing.told import make_head, make_patch, tell_bound, tell_files, tell_trials
from tenure.fixing.verdict import Baseline, Verdict, judge, make_baseline
from tenure.model.fix import Figures, Fix, TriedEdit

Say = Callable[[str], None]
MOST_ROUNDS = 3
"""One leak may hide another: so often the findings that are left are asked for edits again."""
SHARE_OF_STEPS = 0.75
"""Of the steps that a run made in its time: so many are asked of those that follow, which are to end in that time."""
FEWEST_STEPS = 4
MOST_EDITS = 8
"""So many of the edits that findings offer are tried in a round."""
MOST_RUNS = 2 + MOST_ROUNDS * (MOST_EDITS + 1 + MOST_GUESSED * (MOST_WAYS + MOST_AKIN) + 1)
"""Of one call: two as it is, and in each round each edit, all that help, each way by trial, and all that are proved."""


@dataclass(frozen=True)
class Proof:
    """The result, and the texts before and after of the files that the kept edits change."""

    fix: Fix
    texts: dict[Path, tuple[bytes, bytes]]


@dataclass(frozen=True)
class _Try:
    """A candidate and what its run showed; `texts` are those of all files that this run had edited."""

    candidate: Candidate
    verdict: Verdict
    measured: Measured | None = None
    texts: Mapping[Path, bytes] | None = None


@dataclass(frozen=True)
class _State:
    """Where the search stands: the run with all edits chosen so far, and the texts that it had."""

    measured: Measured
    texts: Mapping[Path, bytes]
    chosen: tuple[_Try, ...] = ()


def fix(runner: Runner, *, program: str, say: Say) -> Proof:
    """Run the program as it is, once with each edit that its findings offer, and once with all that helped.

    Raises UsageError where the program itself fails or nothing of it can be recorded. `say` is told of each run.
    """
    first = _run_unchanged(runner, say)
    candidates = find_candidates(first)[:MOST_EDITS]
    trials = find_trials(first, {each.key for each in candidates})
    if not candidates and not trials:
        return Proof(_tell_nothing_kept(runner, first, program), {})
    _announce(candidates, trials, say, unchanged=1)
    baseline = _run_again(runner, first, say)
    tries, best = _search(runner, baseline, say)
    return _conclude(runner, baseline, tries, best, program)


def _search(runner: Runner, baseline: Baseline, say: Say) -> tuple[list[_Try], _State | None]:
    """All that was tried, and the last state that is better than the program as it is, and the same but for that."""
    state, best = _State(baseline.first, {}), None
    tries: list[_Try] = []
    for number in range(MOST_ROUNDS):
        known = {each.candidate.key for each in tries}
        candidates = [each for each in find_candidates(state.measured) if each.key not in known][:MOST_EDITS]
        known |= {each.key for each in candidates}
        trials = find_trials(state.measured, known) if baseline.deterministic else ()
        if number and (candidates or trials):
            _announce(candidates, trials, say)
        made = [_try(runner, baseline, state, [each], say) for each in candidates]
        after = _choose(runner, baseline, state, made, say)
        tries += made
        if after is None:
            in_turn = [_try_in_turn(runner, baseline, state, ways, say) for ways in trials]
            tries += [each for some in in_turn for each in some]
            after = _choose(runner, baseline, state, [some[-1] for some in in_turn], say)
        if after is None:
            break
        state, findings = after, baseline.first.figures.findings
        if judge(baseline, state.measured, state.measured.run, findings).keeps:
            best = state
    return tries, best


def _try_in_turn(runner: Runner, baseline: Baseline, state: _State, ways: Sequence[Candidate], say: Say) -> list[_Try]:
    """One way after another, until one is proved: the last that was tried."""
    made: list[_Try] = []
    for each in ways:
        made.append(_try(runner, baseline, state, [each], say))
        if made[-1].verdict.keeps:
            break
    return made


def _choose(runner: Runner, baseline: Baseline, state: _State, made: Sequence[_Try], say: Say) -> _State | None:
    """The state with all that help; where none does, with all that change nothing: names of one thing must all go."""
    helping = [each for each in made if each.verdict.keeps]
    chosen = helping or [each for each in made if each.verdict.same and each.candidate.told_by != TRIAL]
    together: _Try | None = next(iter(chosen), None)
    if len(chosen) > 1:
        together = _try(runner, baseline, state, [each.candidate for each in chosen], say)
        if not (together.verdict.keeps if helping else together.verdict.same):
            together, chosen = next(iter(helping), None), helping[:1]
    if together is None or together.measured is None or together.texts is None:
        return None
    return _State(together.measured, together.texts, (*state.chosen, *chosen))


def _try(runner: Runner, baseline: Baseline, state: _State, candidates: Sequence[Candidate], say: Say) -> _Try:
    """One run with the edits of all candidates on top of those chosen."""
    joined = join_candidates(candidates)
    try:
        texts = {**state.texts, **edit_texts(candidates, state.texts)}
    except SourceError as error:
        return _Try(joined, Verdict(False, False, str(error), None, None))
    what = " and ".join(dict.fromkeys(finding.rule for finding in joined.findings))
    say(f"run {runner.num_runs + 1}: with the edit{'s' * (len(candidates) > 1)} for {what}")
    run = runner.run(texts, hash_at=[baseline.first.figures.steps])
    measured = None if run.timed_out else measure(run)
    verdict = judge(baseline, measured, run, joined.findings, since=state.measured)
    if verdict.keeps and any(each.told_by == TRIAL for each in candidates) and not _is_compared(verdict, run):
        verdict = replace(verdict, same=False, why="neither parameters nor outputs could be compared")
    return _Try(joined, verdict, measured, texts)


def _is_compared(verdict: Verdict, run: Run) -> bool:
    return bool(verdict.parameters_equal or (verdict.outputs_equal and (run.stdout.strip() or run.written)))


def _announce(
    candidates: Sequence[Candidate], trials: Sequence[Sequence[Candidate]], say: Say, *, unchanged: int = 0
) -> None:
    count, ways = len(candidates), sum(map(len, trials))
    more = unchanged + count + (count > 1) + ways + (len(trials) > 1)
    what = [f"{count} edit{'s' * (count > 1)}"] if count else []
    what += [f"{ways} way{'s' * (ways > 1)} by trial"] if ways else []
    most = "at most " if ways else ""
    say(f"{' and, where none helps, '.join(what)} to try: {most}{more} more run{'s' * (more > 1)}")


_ASIDE = "; what it writes goes to a folder aside here, where system calls past the C library do not look for it"
_MISSING_IN_RUST = "(os error 2)"
"""safetensors 0.8 saves a file and renames it by a system call of its own."""


def _advice(runner: Runner, said: str) -> str:
    """What may help a program that fails by itself."""
    if "EOFError" in said:
        return "; its input is empty here: give each run the same, as in -- sh -c 'python train.py <answers.txt'"
    if runner.order.in_place:
        return ""
    aside = _ASIDE if _MISSING_IN_RUST in said else ""
    return f"{aside}; --in-place runs it in the folder itself, --steps N before it fails"


def _run_unchanged(runner: Runner, say: Say) -> Measured:
    say("run 1: as it is")
    run = runner.run()
    if run.timed_out:
        run = _run_shorter(runner, run, say)
    if run.exit_code != 0:
        said = _said(run)
        raise UsageError(f"the program ends with exit code {run.exit_code} as it is{said}{_advice(runner, said)}")
    first = measure(run)
    if first is None:
        raise UsageError(f"nothing was recorded of the program: no step was seen{_said(run)}")
    return first


def _run_shorter(runner: Runner, run: Run, say: Say) -> Run:
    """Once more, with most of the steps that a run made before its time was over; all later ones end there as well."""
    made = count_steps(run)
    steps, late = int(made * SHARE_OF_STEPS), f"the program did not end within {runner.order.timeout:g} s"
    if runner.order.steps is not None or steps < FEWEST_STEPS:
        raise UsageError(f"{late}{f', with {made} steps made' if made else ''}; bound it with --steps N")
    runner.bound(steps)
    say(f"{late}, with {made} steps made; each run ends after {steps} from here on")
    say(f"run {runner.num_runs + 1}: as it is")
    run = runner.run()
    if run.timed_out:
        raise UsageError(f"{late}, nor {steps} steps of it; bound it with --steps N")
    return run


def _said(run: Run) -> str:
    return f": {run.last_line}" if run.last_line else ""


def _run_again(runner: Runner, first: Measured, say: Say) -> Baseline:
    say(f"run {runner.num_runs + 1}: as it is, to know whether it is deterministic")
    second = runner.run(watched=False, hash_at=[first.figures.steps])
    return make_baseline(first, second, read_parameters(second))


def _conclude(runner: Runner, baseline: Baseline, tries: Sequence[_Try], best: _State | None, program: str) -> Proof:
    tried = tuple(_tell(each, kept=best is not None and each in best.chosen) for each in tries)
    notes = (*baseline.notes, *tell_files(baseline.first.run, baseline.second), *tell_trials(runner, tried))
    if best is None:
        told = _tell_nothing_kept(runner, baseline.first, program)
        notes = (*tell_bound(runner), *notes)
        return Proof(replace(told, deterministic=baseline.deterministic, edits=tried, notes=notes), {})
    verdict = judge(baseline, best.measured, best.measured.run, baseline.first.figures.findings)
    texts = {path: (path.read_bytes(), after) for path, after in best.texts.items()}
    result = Fix(
        program=program,
        verified=baseline.deterministic,
        patch=make_patch(runner, texts, make_head(program, baseline, verdict, tried)),
        before=_figures(baseline.first, best.measured),
        after=_figures(best.measured, baseline.first),
        parameters_equal=verdict.parameters_equal,
        outputs_equal=verdict.outputs_equal,
        deterministic=baseline.deterministic,
        edits=tried,
        num_runs=runner.num_runs,
        notes=(*tell_bound(runner), *notes, *verdict.notes),
        compared=verdict.compared.compared,
        not_compared=verdict.compared.not_compared,
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
        differences=tried.verdict.differences,
    )


def _tell_nothing_kept(runner: Runner, first: Measured, program: str) -> Fix:
    return Fix(
        program=program,
        verified=False,
        patch="",
        before=_figures(first, first),
        after=None,
        parameters_equal=None,
        outputs_equal=None,
        deterministic=None,
        edits=(),
        num_runs=runner.num_runs,
        notes=(*tell_bound(runner), *tell_files(first.run)),
    )


def _figures(measured: Measured, other: Measured) -> Figures:
    """A run's figures with what was alive at the last step that both runs have a census of."""
    common = [at for at in measured.alive.keys() & other.alive.keys() if at[1] == "step-end"]
    alive = measured.alive[max(common)] if common else (None, None)
    return replace(measured.figures, alive_bytes=alive[0], num_alive=alive[1])
