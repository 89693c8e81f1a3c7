"""What a run's counters say so far: levels, trends, periods, and when memory runs out."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenure.model.finding import Limit
from tenure.model.growth_rule import is_near


@dataclass(frozen=True)
class Ahead:
    """Steps and seconds from the last step until a counter meets `limit`, each with an interval of 90 %.

    `latest` is None where no latest end can be told; seconds are None where no step was timed.
    """

    limit: Limit
    room_bytes: int
    steps: float
    soonest: float
    latest: float | None
    seconds_per_step: float | None

    @property
    def is_told(self) -> bool:
        """Whether it is near enough to be told to a person."""
        return is_near(None if self.seconds_per_step is None else self.steps * self.seconds_per_step)


@dataclass(frozen=True)
class CounterGrowth:
    """A counter of bytes that grows: its rate and standard error over the steps from `first_step` on. `ahead` is None
    where no end is in sight."""

    name: str
    per_step: float
    error: float
    first_step: int
    ahead: Ahead | None


@dataclass(frozen=True)
class CounterOutlook:
    """One counter of bytes. None: there is no such growth, period or end in sight.

    `baseline_bytes` is the level that it falls back to in its last phase, which began at step `phase_from`.
    """

    name: str
    last_bytes: int
    highest_bytes: int
    baseline_bytes: int
    phase_from: int
    grows_per_step: float | None = None
    grows_error: float | None = None
    grows_from: int | None = None
    period_steps: int | None = None
    amplitude_bytes: int | None = None
    ahead: Ahead | None = None


@dataclass(frozen=True)
class StepPeak:
    """One step's peak. `bytes` as the allocator counts it, None where this step set no new highest;
    `bytes_by_role` of tensors, None where no census was taken at it: not known. `phase` is the one in which it came,
    None where the step was not read within."""

    step: int
    bytes: int | None
    bytes_by_role: dict[str, int] | None
    phase: str | None = None


@dataclass(frozen=True)
class PeakShares:
    """Why peaks differ from step to step: shares of their variance that make up 1, over `num_peaks` of them.

    `carried` is memory that was there before the step began, `batch` goes with the input's elements at
    `bytes_per_element`, `rest` with neither.
    """

    batch: float
    carried: float
    rest: float
    bytes_per_element: float
    num_peaks: int


@dataclass(frozen=True)
class CarriedIntoForward:
    """At the entry of the forward after `step`: bytes of tensors that are neither parameter, buffer, gradient,
    optimizer state nor input, and their share of all."""

    step: int
    bytes: int
    share: float


@dataclass(frozen=True)
class PhasePeaks:
    """The most bytes alive in each phase of a profiled step (`forward`, `backward`, `optimizer`, `other`), of the
    storages on `device` that its operations made or used: what only rests is not among them."""

    step: int
    device: str
    bytes: dict[str, int]


@dataclass(frozen=True)
class StepPhase:
    """A counter at the end of one phase of a step (`between_steps`: at the forward's entry; `optimizer`: at the step's
    end), over the `num_steps` steps that were read there: the median of those among the last twenty, the last where
    none is, the level that it falls back to, the highest."""

    counter: str
    phase: str
    lately_bytes: int
    baseline_bytes: int
    highest_bytes: int
    num_steps: int
    last_step: int


@dataclass(frozen=True)
class RunOutlook:
    """One process's run. `end` is None while it runs, and after a kill or crash that no launcher saw; `running` is for
    who can see the process itself to set: None where it cannot be told, or has an end."""

    path: str
    rank: int | None
    steps: int
    seconds: float
    seconds_per_step: float | None
    end: str | None
    counters: tuple[CounterOutlook, ...]
    beside_allocator_bytes: int | None
    """Of this process on its device, and not the allocator's: context, kernels, libraries."""
    split_share: float | None
    idle_share: float | None
    largest_input: tuple[int, int] | None
    """Elements, and the step whose input had so many."""
    longest_input: int | None
    peak_bytes_per_element: float | None
    roles: dict[str, int] = field(default_factory=dict)
    roles_at: int | None = None
    roles_at_peak: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    peaks: tuple[StepPeak, ...] = ()
    """Those that are known, by step."""
    peak_shares: PeakShares | None = None
    carried_into_forward: CarriedIntoForward | None = None
    """By the last census that says it."""
    ran_out: StepPeak | None = None
    """What tensors were where device memory ran out for the first time, in the step after this one."""
    idle_grows_per_step: float | None = None
    """Of what is reserved and not in use; None where it does not grow."""
    phase_peaks: PhasePeaks | None = None
    """By the last profiled step."""
    running: bool | None = None
    step_phases: tuple[StepPhase, ...] = ()
    """Counter by counter, in the order of a step; empty where no step was read within."""
