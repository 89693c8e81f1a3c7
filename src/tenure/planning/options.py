"""What each option makes of a plan, by running the program under it, and what the best of them make together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import combinations

from tenure.errors import UsageError
from tenure.model.plan import Part, Plan, TriedOption
from tenure.model.stream import StepStream
from tenure.model.trial import MICRO_BATCHES, Survey
from tenure.planning.changes import CHANGES_NUMBERS, OPTIONS, change_of
from tenure.planning.signs import already, sign_of

MOST_TOGETHER = 3
_EXCLUDE = frozenset(("no-foreach", "fused"))
"""Of these a program can take one."""
_NOT_OFFERED = (
    ("fsdp2", "not switched on from outside: write `fully_shard` into the program and plan it with --world-size"),
    ("fp16", "float16 needs a GradScaler, which skips steps: not offered; autocast-bf16 keeps as many bytes"),
)

Watch = Callable[[Sequence[str], Sequence[str]], StepStream]
"""Runs the program under options and with further arguments; a UsageError says why that left no stream."""


@dataclass(frozen=True)
class Tried:
    """A run under options: its row, and its plan where it has one."""

    row: TriedOption
    plan: Plan | None = None


@dataclass(frozen=True)
class Trials:
    """How a program is run and planned under options, and what it was as it is."""

    watch: Watch
    predict: Callable[[StepStream], Plan]
    stream: StepStream
    plan: Plan
    survey: Survey
    micro_batch: tuple[str, ...] | str
    """The arguments for smaller batches, or what is missing for them."""

    def run(self, options: tuple[str, ...]) -> Tried:
        """One run under options; a row without figures where it failed, or where one of them did nothing."""
        change = tuple(line for option in options for line in change_of(option, self.survey))
        try:
            stream = self.watch(options, self._arguments(options))
            plan = self.predict(stream)
        except UsageError as error:
            return Tried(TriedOption(options, change, why_not=str(error)))
        signs = {option: sign_of(option, self.stream, stream) for option in options}
        idle = [option for option, sign in signs.items() if sign is None]
        if idle:
            return Tried(TriedOption(options, change, why_not=f"{' and '.join(idle)} changed nothing that was seen"))
        before, after = (int(each.flops.sum()) for each in (self.stream, stream))
        row = TriedOption(
            options,
            change,
            peak_active_bytes=plan.peak_active_bytes,
            peak_reserved_bytes=plan.peak_reserved_bytes,
            part=plan.moment.part,
            compute=after / before if before else None,
            num_operations=plan.num_operations,
            fits=None if plan.fit is None else plan.fit.fits,
            signs=tuple(sign for sign in signs.values() if sign is not None),
            notes=tuple(note for note in plan.notes if note not in self.plan.notes),
        )
        return Tried(row, plan)

    def why_not(self, option: str) -> str | None:
        """Why an option need not be run; None where it is to be."""
        if option == "accumulation" and isinstance(self.micro_batch, str):
            return self.micro_batch
        return self.survey.refused.get(option) or already(option, self.stream)

    def _arguments(self, options: Sequence[str]) -> tuple[str, ...]:
        return self.micro_batch if "accumulation" in options and isinstance(self.micro_batch, tuple) else ()


def try_options(trials: Trials, tell: Callable[[str], None]) -> tuple[TriedOption, ...]:
    """A row for each option, cheapest to adopt first, then for the best together, then for what cannot be tried.

    Cost: a run of the program for each that can be tried, and two for what they make together.
    """
    tried, refused = [], []
    for option in OPTIONS:
        why = trials.why_not(option)
        if why is not None:
            refused.append(TriedOption((option,), why_not=why))
        else:
            tell(option)
            tried.append(trials.run((option,)))
    good = [each for each in tried if each.plan is not None]
    together = []
    for options in best_together(trials.plan, {each.row.options[0]: each.plan for each in good if each.plan}):
        tell(" + ".join(options))
        together.append(trials.run(options).row)
    failed = [each.row for each in tried if each.plan is None]
    return (*sorted((each.row for each in good), key=_cost), *together, *failed, *refused, *_not_offered())


def _cost(row: TriedOption) -> tuple[bool, float, int]:
    """What it takes to adopt an option: other numbers, then more work, then more lines."""
    return row.options[0] in CHANGES_NUMBERS, round(row.compute or 1.0, 2), len(row.change)


def best_together(plan: Plan, tried: dict[str, Plan]) -> list[tuple[str, ...]]:
    """The pair and the three worth running, by what each option makes of each part of a step.

    Which part is the highest changes as others become lower, so that the best alone are not the best together.
    """
    found = []
    for size in range(2, MOST_TOGETHER + 1):
        sets = [each for each in combinations(tried, size) if len(_EXCLUDE & set(each)) < len(_EXCLUDE)]
        if sets:
            found.append(min(sets, key=lambda names: _low_parts(plan, [tried[name] for name in names])))
    return found


def _low_parts(plan: Plan, chosen: Sequence[Plan]) -> list[int]:
    """The parts' peaks, the highest first, were each as low as one of the chosen makes it."""
    lowest = [min([plan.peaks.get(part, 0), *(each.peaks.get(part, 0) for each in chosen)]) for part in Part]
    return sorted(lowest, reverse=True)


def micro_batch_of(arguments: Sequence[str], option: str | None) -> tuple[str, ...] | str:
    """The arguments that make batches smaller by `MICRO_BATCHES`, or what is missing for that."""
    if option is None:
        return "smaller batches need the program's option for its batch size: add --batch-arg OPTION"
    values = [after for each, after in zip(arguments, [*arguments[1:], ""], strict=True) if each == option]
    values += [each.partition("=")[2] for each in arguments if each.startswith(f"{option}=")]
    if not values or not values[-1].isdigit():
        return f"the batch size is not known: give {option} N among the program's arguments"
    size = int(values[-1])
    if size % MICRO_BATCHES or not size:
        return f"batches of {size} cannot be divided by {MICRO_BATCHES}"
    return option, str(size // MICRO_BATCHES)


def _not_offered() -> list[TriedOption]:
    there = find_spec("bitsandbytes") is not None
    state = "bitsandbytes was not tried: not offered" if there else "bitsandbytes is not installed"
    return [TriedOption((name,), why_not=why) for name, why in (("8-bit-state", state), *_NOT_OFFERED)]
