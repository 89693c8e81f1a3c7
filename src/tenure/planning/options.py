"""What each option makes of a plan, by running the program under it, and what the best of them make together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

from tenure.errors import UsageError
from tenure.model.plan import Part, Plan, TriedOption, Use
from tenure.model.stream import StepStream
from tenure.model.trial import (
    CHECKPOINTING,
    DATA_PARALLEL,
    EIGHT_BIT,
    MICRO_BATCHES,
    NUM_DEVICES,
    NUM_RANKS,
    SMALLER_BATCHES,
    SOME_BLOCKS,
    Survey,
)
from tenure.planning.changes import CHANGES_NUMBERS, OPTIONS, change_of
from tenure.planning.checkpointed_blocks import fewest_that_fit
from tenure.planning.parts import parts_of
from tenure.planning.signs import already, sign_of
from tenure.planning.uses import uses_of

MOST_TOGETHER = 3
_EXCLUDE = (
    frozenset(("no-foreach", "fused", EIGHT_BIT)),
    frozenset(("autocast-bf16", "autocast-fp16")),
)
"""Of each of these a program can take one."""
_NOT_OFFERED = TriedOption(
    ("offloaded-state",),
    why_not="torchao's `CPUOffloadOptimizer` runs on CUDA alone: not run",
)
"""What keeps an optimizer's state on the host."""

Watch = Callable[[Sequence[str], Sequence[str]], StepStream]
"""Runs the program under options and with further arguments; a UsageError says why that left no stream."""


@dataclass(frozen=True)
class Tried:
    """A run under options: its row, and its plan where it has one."""

    row: TriedOption
    plan: Plan | None = None


def _why_undivided(idle: Sequence[str], stream: StepStream) -> str:
    """That inputs of one row are not divided between devices, where an option would have; "" else."""
    profile = stream.profile
    uses = uses_of(stream, parts_of(profile))
    shapes = {profile.text(int(profile.storages.shape[row])) for row, use in enumerate(uses) if use is Use.INPUT}
    is_one = shapes and all(shape.startswith(("[1]", "[1,")) for shape in shapes)
    return ": a batch of one row is not divided between devices" if is_one and DATA_PARALLEL in idle else ""


@dataclass(frozen=True)
class Trials:
    """How a program is run and planned under options, and what it was as it is."""

    watch: Watch
    predict: Callable[..., Plan]
    """Of a stream, and with `world_size` where it is of one rank of so many."""
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
            plan = self.predict(stream, **_ranks_of(options))
        except UsageError as error:
            return Tried(TriedOption(options, change, why_not=str(error)))
        signs = {option: sign_of(option, self.stream, stream) for option in options}
        idle = [option for option, sign in signs.items() if sign is None]
        if idle:
            why = f"{' and '.join(idle)} changed nothing that was seen{_why_undivided(idle, self.stream)}"
            return Tried(TriedOption(options, change, why_not=why))
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
            notes=(*_retries_of(plan), *(note for note in plan.notes if note not in self.plan.notes)),
        )
        return Tried(row, plan)

    def why_not(self, option: str) -> str | None:
        """Why an option need not be run; None where it is to be."""
        if option in SMALLER_BATCHES and isinstance(self.micro_batch, str):
            return self.micro_batch
        return self.survey.refused.get(option) or already(option, self.stream)

    def _arguments(self, options: Sequence[str]) -> tuple[str, ...]:
        is_smaller = any(option in SMALLER_BATCHES for option in options)
        return self.micro_batch if is_smaller and isinstance(self.micro_batch, tuple) else ()


def try_options(trials: Trials, chosen: Sequence[str], tell: Callable[[str], None]) -> tuple[TriedOption, ...]:
    """A row for each option chosen, cheapest to adopt first, then for the best together, then for what cannot be tried.

    What Tenure cannot switch on itself is told where all its options are chosen.

    Cost: a run of the program for each that can be tried, and two for what they make together.
    """
    tried, refused = [], []
    for option in chosen:
        why = trials.why_not(option)
        if why is not None:
            refused.append(TriedOption((option,), why_not=why))
        else:
            tell(option)
            tried.append(trials.run((option,)))
    tried += _with_fewer_blocks(trials, tried, tell)
    good = [each for each in tried if each.plan is not None]
    together = []
    alone = {each.row.options[0]: each.plan for each in good if each.plan}
    for options in best_together(trials.plan, {name: each for name, each in alone.items() if _combines(name)}):
        tell(" + ".join(options))
        together.append(trials.run(options).row)
    failed = [each.row for each in tried if each.plan is None]
    return (
        *sorted((each.row for each in good), key=_cost),
        *together,
        *failed,
        *refused,
        *((_NOT_OFFERED,) if tuple(chosen) == OPTIONS else ()),
    )


def _combines(option: str) -> bool:
    return option not in NUM_DEVICES and not option.startswith(SOME_BLOCKS)


def _with_fewer_blocks(trials: Trials, tried: Sequence[Tried], tell: Callable[[str], None]) -> list[Tried]:
    """Where the program does not fit and does with all its blocks checkpointed: the run with the fewest that fit."""
    fits = {each.row.options[0]: each.row.fits for each in tried}
    if trials.plan.fit is None or trials.plan.fit.fits or not fits.get(CHECKPOINTING):
        return []

    def run(num_blocks: int) -> Tried:
        option = f"{SOME_BLOCKS}{num_blocks}"
        tell(option)
        return trials.run((option,))

    num_blocks = sum(each.count for each in trials.survey.blocks)
    found = fewest_that_fit(num_blocks, run, lambda each: each.row.fits)
    return [] if found is None else [found]


def _retries_of(plan: Plan) -> tuple[str, ...]:
    if plan.fit is None or not plan.fit.fits or not plan.fit.num_retries:
        return ()
    return (f"cached segments would go back {plan.fit.num_retries:,} times, and steps be slower",)


def _ranks_of(options: Sequence[str]) -> dict[str, int]:
    sizes = [NUM_RANKS[option] for option in options if option in NUM_RANKS]
    return {"world_size": sizes[0]} if sizes else {}


def _cost(row: TriedOption) -> tuple[int, bool, float, int]:
    """What it takes to adopt an option: more devices, then other numbers, then more work, then more lines."""
    return (
        NUM_DEVICES.get(row.options[0], 1),
        row.options[0] in CHANGES_NUMBERS,
        round(row.compute or 1.0, 2),
        len(row.change),
    )


def best_together(plan: Plan, tried: dict[str, Plan]) -> list[tuple[str, ...]]:
    """The pair and the three worth running, by what each option makes of each part of a step.

    Which part is the highest changes as others become lower, so that the best alone are not the best together.
    """
    found = []
    for size in range(2, MOST_TOGETHER + 1):
        sets = [each for each in combinations(tried, size) if all(len(one.intersection(each)) < 2 for one in _EXCLUDE)]
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
