"""Whether an edit stays: it must have freed something, and changed nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from tenure.fixing.compared import NOTHING, Compared, tell_outputs, tell_steps
from tenure.fixing.measured import DEVICE, PROFILE, Measured
from tenure.fixing.outputs import Comparison, compare_outputs
from tenure.fixing.runs import Run
from tenure.model.finding import Finding, evidence_of
from tenure.model.recording import is_at_state_call
from tenure.model.units import format_bytes

PEAK_NOISE = 0.01
"""A peak that differs by no more is the same."""
LEAST_GROWTH = 64
"""Bytes per step: numbers that are kept anyway grow by less."""
FREED_SHARE = 0.5
"""Of what a finding holds or adds: so much must go for an edit to have helped."""
LEAST_NORM_SHARE = 1e-6
"""Of the norm: so much is allowed where two unchanged runs have the same."""
NORM_SPREADS = 3.0
"""How many times the distance of two unchanged runs a run may lie off where the program is not deterministic."""


@dataclass(frozen=True)
class Baseline:
    """Two runs of the unchanged program: what is to stay the same, and whether it did by itself."""

    first: Measured
    second: Run
    parameters: Mapping[int, tuple[str, float]]
    deterministic: bool
    outputs: Compared = NOTHING
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What a run with edits showed. `same` is False where anything that can be compared changed.

    `outputs_equal` is None, too, where a program that is not deterministic puts out what cannot be compared.
    """

    helped: bool
    same: bool
    why: str
    parameters_equal: bool | None
    outputs_equal: bool | None
    notes: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    compared: Compared = NOTHING

    @property
    def keeps(self) -> bool:
        """Whether the edits may stay."""
        return self.helped and self.same


def make_baseline(first: Measured, second: Run, again: Mapping[int, tuple[str, float]]) -> Baseline:
    """The two runs laid side by side; `again` are the second one's parameters."""
    common = sorted(first.parameters.keys() & again.keys())
    apart = [step for step in common if not agree(first.parameters[step][0], again[step][0])]
    outputs = tell_outputs(first.run.outputs, second.outputs)
    notes = []
    if apart:
        notes.append(
            f"the program is not deterministic: its parameters differ between two unchanged runs at step {apart[0]}"
        )
    return Baseline(first, second, again, not apart, outputs, tuple(notes))


def judge(
    baseline: Baseline,
    after: Measured | None,
    run: Run,
    findings: tuple[Finding, ...],
    *,
    since: Measured | None = None,
) -> Verdict:
    """What a run with edits for `findings` shows: that it is the same is told against the unchanged program, that it
    helped against the run `since` which the findings are of (default: the unchanged one)."""
    since = since or baseline.first
    failure = _failure_of(baseline, after, run)
    if failure or after is None:
        return Verdict(False, False, failure, None, None)
    equal, parameters_why, told = _compare_parameters(baseline, after.parameters)
    outputs = compare_outputs(baseline.first.run.outputs, baseline.second.outputs, run.outputs)
    worse = _what_got_worse(baseline.first, after)
    instead, helped = _what_came_instead(since, after), _what_helped(since, after, findings)
    changed = parameters_why or _say_outputs(outputs) or worse
    why = changed or instead or helped or _what_it_came_to(since, after, findings)
    return Verdict(
        helped=bool(helped) and not instead,
        same=not (parameters_why or outputs.equal is False or worse),
        why=why,
        parameters_equal=equal,
        outputs_equal=None if outputs.equal and _is_in_part(baseline) else outputs.equal,
        notes=tuple(f"printed of memory, {text}" for text in outputs.of_memory),
        differences=outputs.differences,
        compared=told + baseline.outputs,
    )


def _failure_of(baseline: Baseline, after: Measured | None, run: Run) -> str:
    if run.timed_out:
        return "the program did not end in time with it"
    if run.exit_code != baseline.first.run.exit_code:
        return f"the program ends with exit code {run.exit_code} with it: {run.last_line}"
    if run.not_loaded:
        return f"the program did not load {os.path.basename(run.not_loaded[0])} from its source"  # noqa: PTH119
    if after is None:
        return "nothing was recorded with it"
    if after.figures.steps != baseline.first.figures.steps:
        return f"the program made {after.figures.steps} steps with it, {baseline.first.figures.steps} without"
    return ""


def _is_in_part(baseline: Baseline) -> bool:
    return not baseline.deterministic and bool(baseline.outputs.not_compared)


def _compare_parameters(
    baseline: Baseline, after: Mapping[int, tuple[str, float]]
) -> tuple[bool | None, str, Compared]:
    """Whether they are equal to the bit at every step that can be compared, what is wrong where they are not, and what
    was compared."""
    before = dict(baseline.first.parameters) | dict(baseline.parameters)
    common = {step: before[step] for step in sorted(before.keys() & after.keys())}
    if not before:
        return None, "", Compared((), ("parameters: no optimizer was seen",))
    if len(common) < len(before):
        return None, "the parameters could not be read with it", NOTHING
    if not baseline.deterministic:
        return None, *_compare_norms(baseline, after)
    differing = [step for step in common if not agree(before[step][0], after[step][0])]
    why = f"the parameters differ at step {differing[0]}" if differing else ""
    return not differing, why, Compared((f"parameters: to the bit, after {tell_steps(common)}",))


def _compare_norms(baseline: Baseline, after: Mapping[int, tuple[str, float]]) -> tuple[str, Compared]:
    one, two = baseline.first.parameters, baseline.parameters
    both = [step for step in sorted(one.keys() & two.keys()) if step in after]
    spread = max(abs(one[step][1] - two[step][1]) for step in both)
    off = max(abs(one[step][1] - after[step][1]) for step in both)
    allowed = NORM_SPREADS * spread + LEAST_NORM_SHARE * one[both[-1]][1]
    said = f"{off:.3g} off, two unchanged runs {spread:.3g}"
    told = Compared(
        (f"parameters: their norm alone, {said}; {allowed:.3g} is allowed, after {tell_steps(dict.fromkeys(both))}",),
        ("parameters: their bits, in which two unchanged runs differ",),
    )
    return f"the parameters' norm is {said}" if off > allowed else "", told


def agree(one: str, other: str) -> bool:
    """Whether the parameters of all optimizers that both runs still have are the same to the bit.

    What a leak kept alive, or the collector has not come to yet, one run may have and the other not.
    """
    first, second = (dict(word.split("=", 1) for word in text.split()) for text in (one, other))
    common = first.keys() & second.keys()
    return bool(common) and all(first[name] == second[name] for name in common)


def _say_outputs(outputs: Comparison) -> str:
    return f"the program puts out something else: {outputs.differences[0]}" if outputs.differences else ""


def _what_got_worse(before: Measured, after: Measured) -> str:
    old, new = before.figures, after.figures
    old_peak, new_peak = _peaks(before, after)
    if new_peak > (1 + PEAK_NOISE) * old_peak:
        return f"the peak rises to {format_bytes(new_peak)}"
    if (new.growth_bytes_per_step or 0) > (1 + PEAK_NOISE) * (old.growth_bytes_per_step or 0) + LEAST_GROWTH:
        return f"growth rises to {format_bytes(new.growth_bytes_per_step or 0)} per step"
    return ""


def _what_came_instead(before: Measured, after: Measured) -> str:
    """What is found now at another place and holds as much: memory that only goes by another name."""
    old, new = before.figures, after.figures
    known = {_key(finding) for finding in old.findings}
    places = {(finding.holder.file, finding.holder.expression) for finding in old.findings}
    fresh = [each for each in new.findings if _key(each) not in known and each.confidence != "possible"]
    fresh = [each for each in fresh if (each.holder.file, each.holder.expression) not in places]
    held = sum(each.retained_bytes or 0 for each in fresh)
    if fresh and held >= sum(each.retained_bytes or 0 for each in old.findings):
        return f"instead, {fresh[0].rule} is found: {fresh[0].message}"
    return ""


def _what_helped(before: Measured, after: Measured, findings: tuple[Finding, ...]) -> str:
    """What the edits did for the findings that they are for, in words; "" where they did nothing."""
    left = {_key(finding) for finding in after.figures.findings}
    gone = [finding for finding in findings if _key(finding) not in left]
    said = [text for text in (_fall(before, after, finding) for finding in findings) if text]
    weightless = [finding for finding in gone if _holds_no_memory(finding)]
    if said:
        return said[0]
    if weightless and _num_alive(before, after) >= 0:
        nodes = max(evidence_of(weightless[0], "series").get("graph_nodes", ()), default=0)
        held = f"up to {nodes:,} autograd nodes" if nodes else "no tensor memory"
        return f"{weightless[0].rule} is gone; it held {held}"
    return ""


def _what_it_came_to(before: Measured, after: Measured, findings: tuple[Finding, ...]) -> str:
    """What an edit did that did not help."""
    fallen, held = _alive_fall(before, after), max((each.retained_bytes or 0 for each in findings), default=0)
    if held and fallen >= FREED_SHARE * held and all(each.confidence == "possible" for each in findings):
        return f"{format_bytes(fallen)} go earlier, but neither growth nor the peak falls"
    return "nothing was freed by it"


def _holds_no_memory(finding: Finding) -> bool:
    """It is about graph nodes alone, beside which at most numbers are kept, one for each step, as they are after it."""
    if not finding.retained_bytes and not finding.growth_bytes_per_step:
        return True
    nodes = evidence_of(finding, "series").get("graph_nodes", ())
    grows = finding.growth_bytes_per_step or LEAST_GROWTH + 1
    return finding.confidence != "possible" and any(nodes) and grows <= LEAST_GROWTH


def _fall(before: Measured, after: Measured, finding: Finding) -> str:
    """What fell by it. Of what is only possibly one, memory that goes earlier is no gain unless growth or the peak
    falls: the program may be well as it is."""
    grew = finding.growth_bytes_per_step if finding.symptom in ("growth", "cycle", "sawtooth") else None
    old, new = before.figures.growth_bytes_per_step, after.figures.growth_bytes_per_step
    if grew and old is not None and new is not None and old - new >= FREED_SHARE * grew:
        return f"growth falls from {format_bytes(old)} to {format_bytes(new)} per step"
    held = finding.retained_bytes or 0
    fallen = _alive_fall(before, after)
    if held and fallen >= FREED_SHARE * held and finding.confidence != "possible":
        return f"{format_bytes(fallen)} less stay alive"
    drop, expected = _peak_fall(before, after), finding.peak_drop_bytes or (held if finding.symptom == "peak" else 0)
    if expected and drop >= FREED_SHARE * expected:
        return f"the peak falls by {format_bytes(drop)}"
    return ""


def _alive_fall(before: Measured, after: Measured) -> int:
    """The most by which what is alive at one moment of one step fell."""
    common = before.alive.keys() & after.alive.keys()
    return max((before.alive[at][0] - after.alive[at][0] for at in common), default=0)


def _num_alive(before: Measured, after: Measured) -> int:
    common = before.alive.keys() & after.alive.keys()
    last = max(common, default=None)
    return before.alive[last][1] - after.alive[last][1] if last is not None else -1


def _peak_fall(before: Measured, after: Measured) -> int:
    old, new = _peaks(before, after)
    return old - new


def _peaks(before: Measured, after: Measured) -> tuple[int, int]:
    """Both runs' peaks where both were looked at: a program that grows is higher at a look that only one of them has.

    All of each where they have no look into a step in common; 0 where one has none at all. A call that loads or saves
    state is looked at where something lies beside the model then, and only there: it counts for the one that has it.
    """
    common = before.peaks.keys() & after.peaks.keys()
    if not before.peaks or not after.peaks:
        return 0, 0
    if not any(what in (PROFILE, DEVICE) for _, what in common):
        return max(before.peaks.values()), max(after.peaks.values())
    old, new = ([size for at, size in run.peaks.items() if at in common or is_at_state_call(at[1])]
                for run in (before, after))  # fmt: skip
    return max(old), max(new)


def _key(finding: Finding) -> tuple[str, str]:
    return finding.rule, finding.fingerprint
